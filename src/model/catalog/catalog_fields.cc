#include "model/catalog/catalog_fields.h"

#include <cmath>

#include "assembly/layout/yaml_table.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::model {
namespace {

// Files of the user may list every model of a provider.
constexpr std::size_t kMaxBytes = 16 << 20;
constexpr std::size_t kMaxNodes = 1'000'000;

double Number(const Node& node, double least, double most) {
  const Json value = ToJsonValue(*node);
  if (!value.is_number()) FailAt(node, "a number is wanted");
  const double number = value.to_number<double>();
  if (!(number >= least && number <= most)) {
    FailAt(node, fmt::format("a number from {:g} to {:g} is wanted", least, most));
  }
  return number;
}

// One value or a list of them.
template <typename Read>
void ReadList(const Node& node, Read read) {
  if (!node.is_list()) return read(node);
  for (const YamlNode& item : node->items) read(item);
}

}  // namespace

Node Node::operator[](std::string_view key) const {
  Node found;
  for (const YamlEntry& entry : node_->entries) {
    if (entry.key == key) found.node_ = &entry.value;
  }
  return found;
}

Status ReadYamlFile(std::string_view text, std::string_view file,
                    const std::function<void(const Node& root)>& read) {
  DOSSIER_ASSIGN_OR_RETURN(
      const YamlNode root,
      assembly::ReadYaml(text, file, {.max_bytes = kMaxBytes, .max_nodes = kMaxNodes}));
  return ReadYamlTree(root, file, read);
}

Status ReadYamlTree(const YamlNode& root, std::string_view file,
                    const std::function<void(const Node& root)>& read) {
  try {
    read(root);
    return {};
  } catch (const Misplaced& mistake) {
    if (mistake.line == 0) return MakeError(ErrorCode::kConfig, "{}: {}", file, mistake.reason);
    return tl::unexpected(PlaceError(file, mistake.line, mistake.column, mistake.reason));
  }
}

void FailAt(const Node& node, const std::string& reason) {
  throw Misplaced{node->line, node->column, reason};
}

void CheckKeys(const Node& node, Names known) {
  if (!node.is_map()) FailAt(node, "a map is wanted here");
  for (const YamlEntry& entry : node->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::vector<std::string> near =
        NearestNames(entry.key, std::vector<std::string>(known.begin(), known.end()), 1);
    throw Misplaced{entry.line, entry.column,
                    fmt::format("unknown key \"{}\"{}", entry.key,
                                near.empty() ? "" : "; did you mean \"" + near[0] + "\"?")};
  }
}

void ReadText(const Node& node, std::string& out) {
  if (!node) return;
  if (!node.is_scalar()) FailAt(node, "a text is wanted");
  out = node->scalar;
}

void ReadOneOf(const Node& node, Names allowed, std::string& out) {
  ReadOneOf(node, std::span(allowed.begin(), allowed.size()), out);
}

void ReadOneOf(const Node& node, std::span<const std::string_view> allowed, std::string& out) {
  if (!node) return;
  ReadText(node, out);
  if (std::find(allowed.begin(), allowed.end(), out) != allowed.end()) return;
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  FailAt(node, "one of " + Join(names, ", ") + " is wanted");
}

void ReadFlag(const Node& node, bool& out) {
  if (!node) return;
  const Json value = ToJsonValue(*node);
  if (!value.is_bool()) FailAt(node, "true or false is wanted");
  out = value.as_bool();
}

void ReadCount(const Node& node, std::int64_t& out) {
  if (!node) return;
  const Json value = ToJsonValue(*node);
  if (!value.is_int64() || value.as_int64() <= 0) FailAt(node, "a whole number above 0 is wanted");
  out = value.as_int64();
}

void ReadCount(const Node& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  std::int64_t value = 0;
  if (!node.is_null()) ReadCount(node, value);
  out = node.is_null() ? std::nullopt : std::optional(value);
}

void ReadNumber(const Node& node, double least, double most, double& out) {
  if (node) out = Number(node, least, most);
}

void ReadNumber(const Node& node, double least, double most, std::optional<double>& out) {
  if (!node) return;
  out = node.is_null() ? std::nullopt : std::optional(Number(node, least, most));
}

void ReadTexts(const Node& node, std::vector<std::string>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const Node& item) { ReadText(item, out.emplace_back()); });
}

void ReadNumbers(const Node& node, double least, double most, std::vector<double>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const Node& item) { out.push_back(Number(item, least, most)); });
}

// Whole nano-dollars only, so that sums are exact.
void ReadPrice(const Node& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  if (node.is_null()) {
    out.reset();
    return;
  }
  const double nano = Number(node, 0, 1e9) * 1000.0;
  if (std::abs(nano - std::round(nano)) > 1e-6) {
    FailAt(node, "a price is dollars for a million tokens, in steps of 0.001");
  }
  out = std::llround(nano);
}

}  // namespace dossier::model
