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
  std::string section;     // which section it came from; for the report
  std::string call_id, tool_name;  // of a tool call or result
  Json arguments;                  // of a tool call
  // What a provider wants back with this block just as it came, by provider: a signature. Null
  // where there is none; no other provider is sent it.
  Json provider_data;
  std::optional<std::string> cache;  // lifetime of a cache breakpoint behind this block: "5m"
  // Of `text`, while a prompt is assembled; unset: nothing is known.
  std::shared_ptr<const tokens::Measured> measured;
};

// Whether the block's text is one of those that Turn::Text joins.
bool IsJoined(const Block& block);

struct Turn {
  Role role = Role::kUser;
  std::vector<Block> blocks;

  // The texts of all blocks but images and thinking, joined by one blank line.
  std::string Text() const;
  // The same; where one block has all of it, no copy. `room` must live as long as the view.
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

// {"schema":"dossier.messages/1","tools":[…],"system":[…],"turns":[…]}: the same bytes for the same
// messages.
Json ToCanonicalJson(const Messages& messages);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_MESSAGES_H_
