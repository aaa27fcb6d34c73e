#include "base/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>

#include "base/text/text.h"

namespace dossier {
namespace {

constexpr std::size_t kMaxDepth = 64;
// A check before the handler below runs: yaml-cpp keeps every bracket until it knows whether a key
// begins there. Brackets in texts and comments count too, so there may be many.
constexpr std::size_t kMaxOpenBrackets = 10'000;
constexpr std::size_t kMaxIndicators = 256;  // on one line

// Thrown by the handler below to leave the parser, and caught in ParseYaml.
struct Refused {
  YAML::Mark mark;
  std::string message;
};

struct Extent {
  std::size_t nodes = 0, bytes = 0;
};

void Measure(const YamlNode& node, Extent* extent) {
  ++extent->nodes;
  extent->bytes += node.scalar.size();
  for (const YamlNode& item : node.items) Measure(item, extent);
  for (const YamlEntry& entry : node.entries) {
    ++extent->nodes;
    extent->bytes += entry.key.size();
    Measure(entry.value, extent);
  }
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const YamlOptions& options) : options_(options) {}

  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(MakeNode(YamlNode::Kind::kNull, mark), anchor, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = MakeNode(YamlNode::Kind::kScalar, mark);
    node.scalar = value;
    node.style = tag == "!" ? YamlNode::Style::kQuoted : YamlNode::Style::kPlain;
    const bool null = node.style == YamlNode::Style::kPlain && (value == "~" || value == "null");
    if (null) node = MakeNode(YamlNode::Kind::kNull, mark);
    Add(std::move(node), anchor, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Refused{mark, "an alias inside its own anchor"};
    Measure(found->second, &copied_);
    if (copied_.nodes > kMaxYamlNodes || nodes_ + copied_.nodes > options_.max_nodes) {
      throw Refused{mark, "aliases expand to more than 10,000 nodes"};
    }
    if (copied_.bytes > options_.max_bytes) throw Refused{mark, "aliases expand to too much text"};
    YamlNode copy = found->second;
    Add(std::move(copy), 0, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(MakeNode(YamlNode::Kind::kList, mark), anchor, mark);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(MakeNode(YamlNode::Kind::kMap, mark), anchor, mark);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor;
    YAML::Mark mark;
    std::map<std::string, int> keys;  // with their lines
    bool has_key = false;
    std::string key;
    int key_line = 1, key_column = 1;
  };

  YamlNode MakeNode(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1 + options_.first_line;
    node.column = mark.column + 1;
    return node;
  }

  void Open(YamlNode node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (stack_.size() >= kMaxDepth) throw Refused{mark, "nested deeper than 64"};
    stack_.push_back({.node = std::move(node), .anchor = anchor, .mark = mark});
  }

  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Add(std::move(frame.node), frame.anchor, frame.mark);
  }

  void Add(YamlNode node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (++nodes_ > options_.max_nodes) {
      throw Refused{mark, fmt::format("more than {} nodes", GroupDigits(options_.max_nodes))};
    }
    if (anchor) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      TakeKey(&parent, node, mark);
    } else {
      parent.node.entries.push_back(
          {std::move(parent.key), parent.key_line, parent.key_column, std::move(node)});
      parent.has_key = false;
    }
  }

  static void TakeKey(Frame* parent, const YamlNode& node, const YAML::Mark& mark) {
    if (node.kind != YamlNode::Kind::kScalar) throw Refused{mark, "a key must be a plain word"};
    const auto [first, added] = parent->keys.emplace(node.scalar, node.line);
    if (!added) {
      throw Refused{mark,
                    fmt::format("duplicate key {} (first on line {})", node.scalar, first->second)};
    }
    parent->has_key = true;
    parent->key = node.scalar;
    parent->key_line = node.line;
    parent->key_column = node.column;
  }

  const YamlOptions& options_;
  std::size_t nodes_ = 0;
  Extent copied_;  // the nodes and bytes copied by aliases
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  YamlNode root_;
};

// Reads a view without copying it into a string stream.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// yaml-cpp limits its depth to some thousand recursions; real files need far fewer. Returns the
// place where flow brackets, or block indicators on one line ("- - - -"), nest too deeply.
const char* FindTooDeep(std::string_view text) {
  std::size_t brackets = 0, indicators = 0;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (c == '\n') {
      at_start = true;
      indicators = 0;
      continue;
    }
    const bool indicator = (c == '-' || c == '?' || c == ':') && i + 1 < text.size() &&
                           (text[i + 1] == ' ' || text[i + 1] == '\t');
    if (at_start && indicator) ++indicators;
    if (c != ' ' && c != '\t' && !indicator) at_start = false;
    if (brackets > kMaxOpenBrackets || indicators > kMaxIndicators) return text.data() + i;
  }
  return nullptr;
}

}  // namespace

Json ToJsonValue(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return nullptr;
    case YamlNode::Kind::kList: {
      JsonArray list;
      for (const YamlNode& item : node.items) list.push_back(ToJsonValue(item));
      return list;
    }
    case YamlNode::Kind::kMap: {
      JsonObject map;
      for (const YamlEntry& entry : node.entries) map[entry.key] = ToJsonValue(entry.value);
      return map;
    }
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.style == YamlNode::Style::kQuoted) return Json(node.scalar);
  if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
  const bool number_like = node.scalar.find_first_not_of("0123456789.-+eE") == std::string::npos;
  if (number_like) {
    if (auto number = ParseJson(node.scalar); number && number->is_number()) return *number;
  }
  return Json(node.scalar);
}

Error PlaceError(std::string_view file, int line, int column, std::string_view message) {
  return {ErrorCode::kConfig, fmt::format("{}:{}:{}: {}", file, line, column, message)};
}

Result<YamlNode> ParseYaml(std::string_view text, std::string_view file,
                           const YamlOptions& options) {
  const int first_line = options.first_line;
  const auto fail = [&](const YAML::Mark& mark, std::string_view message) {
    const int line = mark.is_null() ? 1 : mark.line + 1 + first_line;
    const int column = mark.is_null() ? 1 : mark.column + 1;
    return tl::unexpected(PlaceError(file, line, column, message));
  };
  if (text.size() > options.max_bytes) {
    return fail(YAML::Mark::null_mark(),
                fmt::format("the file is larger than {}", FormatSize(options.max_bytes)));
  }
  if (const char* place = FindTooDeep(text)) {
    const auto before = text.substr(0, static_cast<std::size_t>(place - text.data()));
    const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    return tl::unexpected(PlaceError(file, line + 1 + first_line, 1, "nested too deeply"));
  }
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder tree(options);
    parser.HandleNextDocument(tree);
    TreeBuilder rest(options);
    if (parser.HandleNextDocument(rest)) {
      return fail(YAML::Mark::null_mark(), "holds more than one document");
    }
    return tree.TakeRoot();
  } catch (const Refused& refused) {
    return fail(refused.mark, refused.message);
  } catch (const YAML::Exception& error) {
    return fail(error.mark, error.msg);
  } catch (const std::exception& error) {
    return fail(YAML::Mark::null_mark(), error.what());
  }
}

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
