// The canonical form of a prompt: what assembly produces and every model client sends.
//
//   Messages messages;
//   messages.system.push_back({.text = "Be brief."});
//   messages.turns.push_back({Role::kUser, {{.text = "How many?"}}});
//
// Thread-safety: plain data.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_MESSAGES_H_
#define DOSSIER_ASSEMBLY_LAYOUT_MESSAGES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

enum class Role { kSystem, kUser, kAssistant, kTool };
std::string_view RoleName(Role role);  // "user"

struct Block {
  enum class Type { kText, kImage, kThinking, kToolCall, kToolResult };
  Type type = Type::kText;
  std::string text;        // the text, thinking, a tool result, or the base64 data of an image
  std::string media_type;  // of an image with data: "image/png"
  std::string url;         // of an image without data
  std::string section;     // the section it came from; for the report
  std::string call_id, tool_name;  // of a tool call or result
  Json arguments;                  // of a tool call
  // Data that a provider wants back unchanged with this block, by provider name, such as a
  // signature. Null if there is none. It is sent to no other provider.
  Json provider_data;
  std::optional<std::string> cache;  // lifetime of a cache breakpoint after this block: "5m"
  // Token count of `text`, while a prompt is assembled; unset if it is not known.
  std::shared_ptr<const tokens::Measured> measured;
};

// Returns true if Turn::Text joins the text of this block.
bool IsJoined(const Block& block);

struct Turn {
  Role role = Role::kUser;
  std::vector<Block> blocks;

  // Joins the texts of all blocks except images and thinking with one blank line.
  std::string Text() const;
  // The same, without a copy if one block has all the text. `room` must outlive the view.
  std::string_view TextView(std::string* room) const;
};

struct ToolSpec {
  std::string name, description;
  Json parameters;  // JSON Schema
};

struct Messages {
  std::vector<ToolSpec> tools;
  std::vector<Block> system;
  std::vector<Turn> turns;

  std::string SystemText() const;  // joined by one blank line
};

// Returns {"schema":"dossier.messages/1","tools":[…],"system":[…],"turns":[…]}; the same messages
// give the same bytes.
Json ToCanonicalJson(const Messages& messages);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_MESSAGES_H_
