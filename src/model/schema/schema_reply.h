// Checks whether a reply is a JSON value that matches a schema.
//
//   const CheckedReply checked = CheckReply(reply.text, schema);
//   if (checked.value) Print(checked.text);
//   else AskAgain(checked.violations);
//
// A code fence around the whole reply is removed, with a warning; nothing else is corrected.
// Thread-safety: pure.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_REPLY_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_REPLY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/exact_json.h"
#include "model/schema/json_schema.h"

namespace dossier::model {

struct CheckedReply {
  std::optional<ExactJson> value;       // unset: invalid
  std::string text;                     // without the fence
  std::vector<std::string> violations;  // "/items/2/price: is -1, less than 0"
  std::vector<std::string> warnings;
};
CheckedReply CheckReply(std::string_view text, const JsonSchema& schema);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_REPLY_H_
