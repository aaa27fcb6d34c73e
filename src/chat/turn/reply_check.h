// Is a reply the JSON value that a schema asks for?
//
//   const CheckedReply checked = CheckReply(reply.text, schema);
//   if (checked.value) Print(checked.text);
//   else AskAgain(RepairText(checked.violations, folders));
//
// One code fence around the whole reply goes, with a warning; nothing else is corrected.
// Thread-safety: pure functions; RepairText reads a template.

#ifndef DOSSIER_CHAT_TURN_REPLY_CHECK_H_
#define DOSSIER_CHAT_TURN_REPLY_CHECK_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "base/json/json.h"
#include "base/result.h"
#include "model/schema/json_schema.h"

namespace dossier::chat {

struct CheckedReply {
  std::optional<Json> value;            // unset: it is not valid
  std::string text;                     // without the fence
  std::vector<std::string> violations;  // "/items/2/price: is -1, less than 0"
  std::vector<std::string> warnings;
};
CheckedReply CheckReply(std::string_view text, const model::JsonSchema& schema);

// What a repair round tells the model: prompts/schema_repair.md. Errors: kConfig (the template).
Result<std::string> RepairText(const std::vector<std::string>& violations,
                               const assembly::AssetFolders& folders);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_REPLY_CHECK_H_
