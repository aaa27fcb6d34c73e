#include "base/yaml/yaml_tree.h"

#include <algorithm>

namespace dossier {
namespace {

constexpr std::size_t kDigit = 0x80;  // the base of numbers, and the bit that says "more follow"
constexpr std::size_t kStyle = 0x10;

void AppendText(std::string_view text, std::string* out) {
  AppendNumber(text.size(), out);
  *out += text;
}

void AppendPlace(int line, int column, std::string* out) {
  AppendNumber(static_cast<std::size_t>(line), out);
  AppendNumber(static_cast<std::size_t>(column), out);
}

class TreeReader {
 public:
  TreeReader(std::string_view bytes, int first_line) : bytes_(bytes), first_line_(first_line) {}

  void Read(YamlNode* node) {
    const std::size_t head = TakeNumber(&bytes_);
    node->kind = static_cast<YamlNode::Kind>(head % kStyle);
    node->style = static_cast<YamlNode::Style>(head / kStyle);
    ReadPlace(&node->line, &node->column);
    if (node->kind == YamlNode::Kind::kScalar) node->scalar = TakeText(&bytes_);
    if (node->kind == YamlNode::Kind::kList) {
      node->items.resize(TakeNumber(&bytes_));
      for (YamlNode& item : node->items) Read(&item);
    }
    if (node->kind == YamlNode::Kind::kMap) {
      node->entries.resize(TakeNumber(&bytes_));
      for (YamlEntry& entry : node->entries) {
        entry.key = TakeText(&bytes_);
        ReadPlace(&entry.line, &entry.column);
        Read(&entry.value);
      }
    }
  }

 private:
  void ReadPlace(int* line, int* column) {
    *line = static_cast<int>(TakeNumber(&bytes_)) + first_line_;
    *column = static_cast<int>(TakeNumber(&bytes_));
  }

  std::string_view bytes_;
  int first_line_;
};

}  // namespace

void AppendNumber(std::size_t value, std::string* out) {
  for (; value >= kDigit; value /= kDigit) *out += static_cast<char>(value % kDigit | kDigit);
  *out += static_cast<char>(value);
}

void AppendTree(const YamlNode& node, std::string* out) {
  AppendNumber(static_cast<std::size_t>(node.kind) + static_cast<std::size_t>(node.style) * kStyle,
               out);
  AppendPlace(node.line, node.column, out);
  if (node.kind == YamlNode::Kind::kScalar) AppendText(node.scalar, out);
  if (node.kind == YamlNode::Kind::kList) {
    AppendNumber(node.items.size(), out);
    for (const YamlNode& item : node.items) AppendTree(item, out);
  }
  if (node.kind == YamlNode::Kind::kMap) {
    AppendNumber(node.entries.size(), out);
    for (const YamlEntry& entry : node.entries) {
      AppendText(entry.key, out);
      AppendPlace(entry.line, entry.column, out);
      AppendTree(entry.value, out);
    }
  }
}

std::size_t TakeNumber(std::string_view* bytes) {
  std::size_t value = 0;
  for (int shift = 0; !bytes->empty(); shift += 7) {
    const auto digit = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    value += (digit % kDigit) << shift;
    if (digit < kDigit) break;
  }
  return value;
}

std::string_view TakeText(std::string_view* bytes) {
  const std::size_t size = std::min(TakeNumber(bytes), bytes->size());
  const std::string_view text = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return text;
}

YamlNode TreeOf(std::string_view bytes, int first_line) {
  YamlNode root;
  TreeReader(bytes, first_line).Read(&root);
  return root;
}

}  // namespace dossier
