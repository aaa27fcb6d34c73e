#include "config/expand.h"

#include <unistd.h>

#include <algorithm>

#include "base/text/ascii.h"

namespace dossier::config {
namespace {

bool IsNameStart(char c) { return IsLetter(c) || c == '_'; }

// `${NAME}` or `${NAME:-default}` at the start of a text.
struct Reference {
  std::string_view name, fallback;
  bool has_fallback = false;
  std::size_t length = 0;  // 0: no reference
};

Reference ReadReference(std::string_view text) {
  Reference found;
  if (!text.starts_with("${") || text.size() < 4 || !IsNameStart(text[2])) return found;
  std::size_t at = 3;
  while (at < text.size() && IsWordByte(text[at])) ++at;
  found.name = text.substr(2, at - 2);
  if (text.substr(at).starts_with(":-")) {
    const auto close = text.find('}', at);
    if (close == std::string_view::npos) return found;
    found.fallback = text.substr(at + 2, close - at - 2);
    found.has_fallback = true;
    at = close;
  }
  if (at < text.size() && text[at] == '}') found.length = at + 1;
  return found;
}

// Calls `literal` for runs of text and `reference` for each reference, in order.
template <typename Literal, typename OnReference>
void Scan(std::string_view text, const Literal& literal, const OnReference& reference) {
  while (!text.empty()) {
    const auto dollar = text.find('$');
    literal(text.substr(0, dollar));
    if (dollar == std::string_view::npos) return;
    text.remove_prefix(dollar);
    if (text.starts_with("$${")) {
      literal("${");
      text.remove_prefix(3);
      continue;
    }
    const Reference found = ReadReference(text);
    if (found.length == 0) {
      literal("$");
      text.remove_prefix(1);
      continue;
    }
    reference(found, text.substr(0, found.length));
    text.remove_prefix(found.length);
  }
}

void ExpandNode(const Variables& variables, YamlNode* node) {
  node->scalar = ExpandText(node->scalar, variables);
  for (YamlNode& item : node->items) ExpandNode(variables, &item);
  for (YamlEntry& entry : node->entries) ExpandNode(variables, &entry.value);
}

}  // namespace

Variables ProcessVariables() {
  Variables variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::optional<std::string> Lookup(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  if (found == variables.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::string ExpandText(std::string_view text, const Variables& variables) {
  std::string out;
  Scan(
      text, [&](std::string_view literal) { out += literal; },
      [&](const Reference& found, std::string_view written) {
        if (const auto value = Lookup(variables, found.name)) {
          out += *value;
        } else if (found.has_fallback) {
          out += found.fallback;
        } else if (!variables.contains(found.name)) {
          out += written;
        }
      });
  return out;
}

bool HasVariable(std::string_view text) {
  bool found = false;
  Scan(text, [](std::string_view) {}, [&](const Reference&, std::string_view) { found = true; });
  return found;
}

void Expand(const Variables& variables, Value* value) {
  if (value->origin.kind == Origin::Kind::kFile) ExpandNode(variables, &value->node);
  for (MapEntry& entry : value->entries) Expand(variables, &entry.value);
}

}  // namespace dossier::config
