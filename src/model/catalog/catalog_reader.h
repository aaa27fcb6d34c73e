// Reads files in the format of data/models.yaml.
//
//   DOSSIER_RETURN_IF_ERROR(ReadCatalogFile(text, "models.yaml", &data));
//
// A file adds entries and providers, or changes fields of existing ones. A fact without date and
// source is refused. Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_CATALOG_CATALOG_READER_H_
#define DOSSIER_MODEL_CATALOG_CATALOG_READER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/yaml/yaml.h"
#include "model/catalog/catalog.h"

namespace dossier::model {

// Errors: kConfig with FILE:LINE:COL.
Status ReadCatalogFile(std::string_view text, std::string_view file, CatalogData* data);

// Returns the entry for a model that is in no file.
Entry ConservativeEntry(std::string_view provider, std::string_view name);

// The entry that a model of `provider` (empty: any) gets from its family; unset if it has none.
std::optional<Entry> EntryByFamily(const CatalogData& data, std::string_view provider,
                                   std::string_view name);

// Reads typed fields of a YAML node, leaving absent ones unchanged; used for the catalogue and
// scripts. Only for .cc files of this module.
//
//   return ReadYamlFile(text, "models.yaml", [&](const YamlPlace& root) {
//     ReadCount(root["window"], entry.capability.window);    // absent: unchanged
//   });
//
// All functions throw Misplaced with the place of the mistake; ReadYamlFile turns it into an Error.
// Thread-safety: pure functions.

using Names = std::initializer_list<std::string_view>;

struct Misplaced {
  int line, column;
  std::string reason;
};

// A node of a tree that must outlive it, or the place of a missing key.
class YamlPlace {
 public:
  YamlPlace(const YamlNode& node) : node_(&node) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return node_ != nullptr; }
  YamlPlace operator[](std::string_view key) const;
  const YamlNode& operator*() const { return *node_; }
  const YamlNode* operator->() const { return node_; }

  bool is_null() const { return node_->kind == YamlNode::Kind::kNull; }
  bool is_scalar() const { return node_->kind == YamlNode::Kind::kScalar; }
  bool is_list() const { return node_->kind == YamlNode::Kind::kList; }
  bool is_map() const { return node_->kind == YamlNode::Kind::kMap; }

 private:
  YamlPlace() = default;

  const YamlNode* node_ = nullptr;
};

// Calls `read` with the root of the document. Errors: kConfig, "FILE:LINE:COL: reason".
Status ReadYamlFile(std::string_view text, std::string_view file,
                    const std::function<void(const YamlPlace& root)>& read);
// The same for an existing tree; a node on line 0 has no place: "FILE: reason".
Status ReadYamlTree(const YamlNode& root, std::string_view file,
                    const std::function<void(const YamlPlace& root)>& read);

[[noreturn]] void FailAt(const YamlPlace& node, const std::string& reason);

// Checks that `node` is a map whose keys are all in `known`.
void CheckKeys(const YamlPlace& node, Names known);
void ReadText(const YamlPlace& node, std::string& out);
void ReadOneOf(const YamlPlace& node, std::span<const std::string_view> allowed, std::string& out);
void ReadOneOf(const YamlPlace& node, Names allowed, std::string& out);
// Reads a word as the value next to it in a table. YAML's bare yes and no are words here.
template <typename Value>
void ReadWord(const YamlPlace& node,
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
void ReadFlag(const YamlPlace& node, bool& out);
void ReadCount(const YamlPlace& node, std::int64_t& out);                 // above 0
void ReadCount(const YamlPlace& node, std::optional<std::int64_t>& out);  // null: unknown
void ReadNumber(const YamlPlace& node, double least, double most, double& out);
void ReadNumber(const YamlPlace& node, double least, double most, std::optional<double>& out);
// Reads one text or a list of texts.
void ReadTexts(const YamlPlace& node, std::vector<std::string>& out);
void ReadNumbers(const YamlPlace& node, double least, double most, std::vector<double>& out);
// Reads dollars per million tokens as nano-dollars per token; null: unknown.
void ReadPrice(const YamlPlace& node, std::optional<std::int64_t>& out);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_CATALOG_READER_H_
