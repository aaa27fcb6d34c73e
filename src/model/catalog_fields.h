// Typed fields of a YAML node, read or left as they are. Only for .cc files of this module.
//
//   ReadCount(node["window"], entry.capability.window);    // absent: unchanged
//
// All throw YAML::Exception with the place of the mistake. Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_CATALOG_FIELDS_H_
#define DOSSIER_MODEL_CATALOG_FIELDS_H_

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::model {

using Names = std::initializer_list<std::string_view>;

[[noreturn]] void FailAt(const YAML::Node& node, const std::string& reason);

// `node` is a map whose keys are all in `known`.
void CheckKeys(const YAML::Node& node, Names known);
void ReadText(const YAML::Node& node, std::string& out);
void ReadOneOf(const YAML::Node& node, Names allowed, std::string& out);
// A word of a table as the value beside it. YAML's bare yes and no are words here.
template <typename Value>
void ReadWord(const YAML::Node& node,
              std::initializer_list<std::pair<std::string_view, Value>> words, Value& out) {
  if (!node) return;
  std::string text, known;
  ReadText(node, text);
  for (const auto& [word, value] : words) {
    if (word == text) {
      out = value;
      return;
    }
    known += known.empty() ? "" : ", ";
    known += word;
  }
  FailAt(node, "one of " + known + " is wanted");
}
void ReadFlag(const YAML::Node& node, bool& out);
void ReadCount(const YAML::Node& node, std::int64_t& out);                 // above 0
void ReadCount(const YAML::Node& node, std::optional<std::int64_t>& out);  // null: unknown
void ReadNumber(const YAML::Node& node, double least, double most, double& out);
void ReadNumber(const YAML::Node& node, double least, double most, std::optional<double>& out);
// One text, or a list of them.
void ReadTexts(const YAML::Node& node, std::vector<std::string>& out);
void ReadNumbers(const YAML::Node& node, double least, double most, std::vector<double>& out);
// Dollars for a million tokens as nano-dollars for one; null: unknown.
void ReadPrice(const YAML::Node& node, std::optional<std::int64_t>& out);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_FIELDS_H_
