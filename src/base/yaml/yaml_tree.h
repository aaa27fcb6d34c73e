// Serializes a YAML tree to bytes and back. The build uses it to store the built-in YAML files
// parsed.
//
//   std::string bytes;
//   AppendTree(*ParseYaml(text, "layouts/chat.yaml"), &bytes);
//   YamlNode same = TreeOf(bytes, /*first_line=*/0);
//
// Both run in one build of the program, so the form has no version. A node is a byte (kind, and
// style times 16), its line and column, and its content: the scalar, or a count and that many
// nodes; in a map each has its key with line and column before it. Numbers are in base 128, lowest
// digits first, the high bit says that more follow; texts are a size and bytes. Thread-safety: pure
// functions.

#ifndef DOSSIER_BASE_YAML_YAML_TREE_H_
#define DOSSIER_BASE_YAML_YAML_TREE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/yaml/yaml_reader.h"

namespace dossier {

void AppendNumber(std::size_t value, std::string* out);
void AppendTree(const YamlNode& node, std::string* out);

// Takes a number, or that many bytes, from the front.
std::size_t TakeNumber(std::string_view* bytes);
std::string_view TakeText(std::string_view* bytes);

// The tree that AppendTree wrote; `first_line` is added to its line numbers. `bytes` must come from
// AppendTree: they are not checked.
YamlNode TreeOf(std::string_view bytes, int first_line);

}  // namespace dossier

#endif  // DOSSIER_BASE_YAML_YAML_TREE_H_
