// Reads YAML into a small tree whose nodes know their line and column: for configuration, layouts
// and the front matter of templates.
//
//   DOSSIER_ASSIGN_OR_RETURN(YamlNode root, ParseYaml(text, "layouts/coding.yaml"));
//   for (const YamlEntry& entry : root.entries) Use(entry.key, entry.value);
//
// Unlike plain yaml-cpp: duplicate keys are errors, aliases are copied up to a limit (a "billion
// laughs" file ends at 10,000 nodes), every node knows its line and column, no exceptions.
// Thread-safety: plain data and a pure function.

#ifndef DOSSIER_BASE_YAML_YAML_H_
#define DOSSIER_BASE_YAML_YAML_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier {

inline constexpr std::size_t kMaxYamlBytes = 256 << 10;
inline constexpr std::size_t kMaxYamlNodes = 10'000;  // aliases expanded

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  enum class Style { kPlain, kQuoted };
  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  std::string scalar;
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in file order, keys unique
  int line = 1, column = 1;        // from 1
};

struct YamlEntry {
  std::string key;
  int line = 1, column = 1;  // of the key
  YamlNode value;
};

struct YamlOptions {
  int first_line = 0;  // added to all lines, for text inside another file
  std::size_t max_bytes = kMaxYamlBytes;
  std::size_t max_nodes = kMaxYamlNodes;  // an alias is a copy of at most kMaxYamlNodes
};

// Reads one document; an empty one is a null node. Errors: kConfig, "FILE:LINE:COL: reason".
Result<YamlNode> ParseYaml(std::string_view text, std::string_view file,
                           const YamlOptions& options = {});

// The node as JSON. Unquoted scalars that read as numbers or booleans become numbers or booleans.
Json ToJsonValue(const YamlNode& node);

// kConfig, "FILE:LINE:COL: MESSAGE".
Error PlaceError(std::string_view file, int line, int column, std::string_view message);

// Serializes a YAML tree to bytes and back. The build uses it to store the built-in YAML files
// parsed.
//
//   std::string bytes;
//   AppendTree(*ParseYaml(text, "layouts/chat.yaml"), &bytes);
//   YamlNode same = TreeOf(bytes, /*first_line=*/0);
//
// Both run in the same build, so the format has no version. A node is a byte (kind, and style times
// 16), its line and column, and its content: the scalar, or a count and that many nodes; in a map
// each node has its key with line and column before it. Numbers are in base 128, lowest digits
// first; the high bit means that more follow. Texts are a size and bytes. Thread-safety: pure
// functions.

void AppendNumber(std::size_t value, std::string* out);
void AppendTree(const YamlNode& node, std::string* out);

// Take a number, or a size and that many bytes, from the front.
std::size_t TakeNumber(std::string_view* bytes);
std::string_view TakeText(std::string_view* bytes);

// The tree that AppendTree wrote; `first_line` is added to its line numbers. `bytes` must come from
// AppendTree: they are not checked.
YamlNode TreeOf(std::string_view bytes, int first_line);

}  // namespace dossier

#endif  // DOSSIER_BASE_YAML_YAML_H_
