#include "model/scripted/served_dialect.h"

#include <algorithm>
#include <array>

#include "base/text/utf8.h"

namespace dossier::model {
namespace {

constexpr std::size_t kPieceBytes = 16;

}  // namespace

std::span<const ServedDialect> ServedDialects() {
  static const std::array<ServedDialect, 3> kAll = {kServedOpenAi, kServedAnthropic, kServedGemini};
  return kAll;
}

std::vector<std::string_view> PiecesOf(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    std::size_t size = text.size();
    if (size > kPieceBytes) size = std::max<std::size_t>(1, utf8::FloorBoundary(text, kPieceBytes));
    pieces.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

std::string EventText(const Json& data, std::string_view name) {
  return (name.empty() ? std::string() : fmt::format("event: {}\n", name)) +
         "data: " + ToJson(data) + "\n\n";
}

void AddServedTurn(std::string_view role, std::string text, Request& request) {
  using assembly::Role;
  assembly::Block block{.text = std::move(text)};
  if (role == "system" || role == "developer") {
    request.messages.system.push_back(std::move(block));
    return;
  }
  request.turn += role == "assistant";
  const Role kind = role == "assistant" ? Role::kAssistant
                    : role == "tool"    ? Role::kTool
                                        : Role::kUser;
  request.messages.turns.push_back({kind, {std::move(block)}});
}

std::string TextOfContent(const Json& content) {
  if (const auto* text = content.if_string()) return std::string(*text);
  std::string joined;
  if (const auto* blocks = content.if_array()) {
    for (const Json& block : *blocks) joined += FindString(block, "text").value_or("");
  }
  return joined;
}

std::string_view NameOfStatus(std::span<const StatusName> table, int status,
                              std::string_view otherwise) {
  const auto row = std::find_if(table.begin(), table.end(),
                                [status](const StatusName& one) { return one.status == status; });
  return row == table.end() ? otherwise : row->name;
}

const JsonArray& ArrayOf(const Json& object, std::string_view name) {
  static const JsonArray kNone;
  const Json* list = Find(object, name);
  return list && list->is_array() ? list->as_array() : kNone;
}

}  // namespace dossier::model
