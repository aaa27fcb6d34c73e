// Changes one key of a configuration file and leaves every other byte as it is: comments, order,
// quotes.
//
//   DOSSIER_ASSIGN_OR_RETURN(std::string text, SetKey(old, "compaction.horizon", "12",
//   "dossier.yml"));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CONFIG_EDIT_H_
#define DOSSIER_CONFIG_EDIT_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::config {

// `text` with `key` (dotted) set to `value`, which is YAML on one line. The result is read again
// and compared: it differs from `text` in that key only. Errors: kConfig if `text` or `value` is no
// YAML, or if the place is written in a form that a line edit can't change safely; `file` is for
// messages.
Result<std::string> SetKey(std::string_view text, std::string_view key, std::string_view value,
                           std::string_view file);

// `text` as a YAML scalar that reads back as exactly it: in quotes where that is needed.
std::string QuoteScalar(std::string_view text);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_EDIT_H_
