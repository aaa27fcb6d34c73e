#include "model/catalog_fields.h"

#include <cmath>

#include "base/text.h"
#include "model/yaml_json.h"

namespace dossier::model {
namespace {

double Number(const YAML::Node& node, double least, double most) {
  const Json value = YamlToJson(node);
  if (!value.is_number()) FailAt(node, "a number is wanted");
  const double number = value.to_number<double>();
  if (!(number >= least && number <= most)) {
    FailAt(node, fmt::format("a number from {:g} to {:g} is wanted", least, most));
  }
  return number;
}

// One value or a list of them.
template <typename Read>
void ReadList(const YAML::Node& node, Read read) {
  if (!node.IsSequence()) return read(node);
  for (const YAML::Node& item : node) read(item);
}

}  // namespace

void FailAt(const YAML::Node& node, const std::string& reason) {
  throw YAML::ParserException(node.Mark(), reason);
}

void CheckKeys(const YAML::Node& node, Names known) {
  if (!node.IsMap()) FailAt(node, "a map is wanted here");
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& item : node) {
    const std::string& key = item.first.Scalar();
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const std::vector<std::string> near = NearestNames(key, names, 1);
    FailAt(item.first, fmt::format("unknown key \"{}\"{}", key,
                                   near.empty() ? "" : "; did you mean \"" + near[0] + "\"?"));
  }
}

void ReadText(const YAML::Node& node, std::string& out) {
  if (!node) return;
  if (!node.IsScalar()) FailAt(node, "a text is wanted");
  out = node.Scalar();
}

void ReadOneOf(const YAML::Node& node, Names allowed, std::string& out) {
  if (!node) return;
  ReadText(node, out);
  if (std::find(allowed.begin(), allowed.end(), out) != allowed.end()) return;
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  FailAt(node, "one of " + Join(names, ", ") + " is wanted");
}

void ReadFlag(const YAML::Node& node, bool& out) {
  if (!node) return;
  const Json value = YamlToJson(node);
  if (!value.is_bool()) FailAt(node, "true or false is wanted");
  out = value.as_bool();
}

void ReadCount(const YAML::Node& node, std::int64_t& out) {
  if (!node) return;
  const Json value = YamlToJson(node);
  if (!value.is_int64() || value.as_int64() <= 0) FailAt(node, "a whole number above 0 is wanted");
  out = value.as_int64();
}

void ReadCount(const YAML::Node& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  std::int64_t value = 0;
  if (!node.IsNull()) ReadCount(node, value);
  out = node.IsNull() ? std::nullopt : std::optional(value);
}

void ReadNumber(const YAML::Node& node, double least, double most, double& out) {
  if (node) out = Number(node, least, most);
}

void ReadNumber(const YAML::Node& node, double least, double most, std::optional<double>& out) {
  if (!node) return;
  out = node.IsNull() ? std::nullopt : std::optional(Number(node, least, most));
}

void ReadTexts(const YAML::Node& node, std::vector<std::string>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const YAML::Node& item) { ReadText(item, out.emplace_back()); });
}

void ReadNumbers(const YAML::Node& node, double least, double most, std::vector<double>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const YAML::Node& item) { out.push_back(Number(item, least, most)); });
}

// Whole nano-dollars only, so that sums are exact.
void ReadPrice(const YAML::Node& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  if (node.IsNull()) {
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
