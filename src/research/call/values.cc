#include "research/call/values.h"

#include <algorithm>
#include <array>
#include <optional>

#include "assembly/sources/data_text.h"
#include "base/text/text.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

using assembly::Block;

std::string_view TypeOf(const Json& part) {
  return part.is_object() ? FindString(part, "type").value_or("") : "";
}

bool IsPart(const Json& value) {
  constexpr std::array<std::string_view, 5> kTypes = {"text", "image", "image_url", "tool_use",
                                                      "tool_result"};
  return std::ranges::find(kTypes, TypeOf(value)) != kTypes.end();
}

// Takes {"media_type", "data"} beside the type or in "source"; {"url"}, or "image_url" with it.
Block ImageOf(const Json& part) {
  const Json* source = Find(part, "source");
  if (!source) source = Find(part, "image_url");
  if (!source || !source->is_object()) source = &part;
  Block block{.type = Block::Type::kImage,
              .text = TextAt(*source, "data"),
              .media_type = TextAt(*source, "media_type"),
              .url = TextAt(*source, "url")};
  if (block.url.empty()) block.url = TextAt(part, "image_url");
  return block;
}

Block BlockOf(const Json& part) {
  const std::string_view type = TypeOf(part);
  if (type == "image" || type == "image_url") return ImageOf(part);
  if (type == "tool_use") {
    Block block{.type = Block::Type::kToolCall,
                .call_id = TextAt(part, "id"),
                .tool_name = TextAt(part, "name")};
    if (const Json* input = Find(part, "input")) block.arguments = *input;
    return block;
  }
  if (type == "tool_result") {
    return {.type = Block::Type::kToolResult,
            .text = store::CleanText(TextAt(part, "content")),
            .call_id = TextAt(part, "tool_use_id")};
  }
  return {.text = store::CleanText(TextAt(part, "text"))};
}

void CleanTexts(Json& value) {
  if (const auto* text = value.if_string()) {
    value = store::CleanText({text->data(), text->size()});
  } else if (auto* object = value.if_object()) {
    for (auto&& member : *object) CleanTexts(member.value());
  } else if (auto* array = value.if_array()) {
    for (Json& element : *array) CleanTexts(element);
  }
}

}  // namespace

bool IsEmptyValue(const Json& value) {
  if (const auto* text = value.if_string()) {
    return TrimSpace({text->data(), text->size()}).empty();
  }
  if (const auto* array = value.if_array()) return array->empty();
  if (const auto* object = value.if_object()) return object->empty();
  return value.is_null();
}

assembly::Section SectionOf(const OwnSection& section) {
  assembly::Section out{.name = section.name, .turns = section.turns, .parts = section.parts};
  for (Block& block : out.parts) {
    if (block.type == Block::Type::kText) block.text = store::CleanText(block.text);
  }
  if (const auto* text = section.value.if_string()) {
    out.content = store::CleanText(TrimSpace({text->data(), text->size()}));
    if (!out.content.empty()) out.content += '\n';
    return out;
  }
  const auto* list = section.value.if_array();
  if (list && !list->empty() && std::ranges::all_of(*list, IsPart)) {
    for (const Json& part : *list) out.parts.push_back(BlockOf(part));
    return out;
  }
  if (!IsEmptyValue(section.value)) {
    out.data = section.value;
    CleanTexts(out.data);
  }
  return out;
}

std::string ValueText(const OwnSection& section) {
  const assembly::Section rendered = SectionOf(section);
  if (!rendered.data.is_null()) return assembly::RenderData(rendered.data, nullptr);
  return rendered.content;
}

}  // namespace dossier::research
