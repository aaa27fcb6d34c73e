// The flags that say what a file is, where `inspect` and `ask` would find out: one declaration.
//
//   DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments.content, &options));
//
// Errors: kUsage, each naming the flag and its values. Thread-safety: none needed.

#ifndef DOSSIER_CLI_WIRING_CONTENT_FLAGS_H_
#define DOSSIER_CLI_WIRING_CONTENT_FLAGS_H_

#include <string>

#include "base/result.h"
#include "inspect/description/options.h"

namespace dossier::cli {

// Values as a person typed them; empty: found out.
struct ContentFlags {
  std::string format;            // --format
  std::string encoding;          // --encoding
  std::string delimiter;         // --delimiter: one byte, or \t
  std::string header = "auto";   // --header: yes, no, auto
  std::string comment = "auto";  // --comment: a mark, none, auto
};

Status ApplyContentFlags(const ContentFlags& flags, inspect::Options* options);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_CONTENT_FLAGS_H_
