// Records of XML: elements of one name, and what finds them in XML and HTML.
//
// The shape is the name of the elements, with a + if they stand in each other; the outermost is the
// record then.

#include <algorithm>
#include <map>
#include <set>

#include "base/text/text.h"
#include "inspect/description/value_type.h"
#include "inspect/formats/element_walker.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostNodes = 4096;  // paths of a head

// What tells one group of records from the next.
bool IsIdentity(std::string_view name) {
  constexpr std::string_view kNames[] = {"name", "id", "title", "label", "key", "code", "date"};
  return IsOneOf(name, kNames);
}

// There is one of these around everything: what it is called says nothing of a record.
bool IsWrapper(std::string_view name) {
  constexpr std::string_view kNames[] = {"channel", "Document", "feed"};
  return IsOneOf(name, kNames);
}

// Elements that are records wherever they stand.
bool IsKnownRecord(std::string_view name) {
  constexpr std::string_view kNames[] = {"trkpt", "rtept", "wpt", "Placemark", "testcase"};
  return IsOneOf(name, kNames);
}

class XmlWalker final : public ElementWalker {
 public:
  XmlWalker(std::string_view shape, std::string_view text, Items* out)
      : ElementWalker(text, out),
        row_(shape.substr(0, shape.find('+'))),
        nests_(shape.ends_with('+')) {}

  void Take(const Tag& tag) override {
    if (tag.name == row_) return TakeRow(tag);
    if (depth_ > 0) return;
    if (tag.kind == TagKind::kOpen) {
      Open(tag);
    } else if (tag.kind == TagKind::kClose) {
      Close(tag);
    }
    last_ = tag.kind;
  }

  void Finish(std::uint64_t end) override {
    if (depth_ > 0) Emit(begin_, end);
    depth_ = 0;
  }

 private:
  struct Frame {
    std::string name;
    std::uint64_t inside;  // where its content begins
    std::ptrdiff_t head;   // that held in front of it
    int names = 0;         // that were found in it
  };

  void TakeRow(const Tag& tag) {
    last_ = TagKind::kClose;
    if (tag.kind == TagKind::kClose) {
      if (depth_ > 0 && --depth_ == 0) Emit(begin_, tag.end);
      return;
    }
    if (depth_ > 0 && nests_) {
      depth_ += tag.kind == TagKind::kOpen ? 1 : 0;
      return;
    }
    Finish(tag.begin);  // the one in front lacks its end
    if (tag.kind == TagKind::kEmpty) return Emit(tag.begin, tag.end);
    begin_ = tag.begin;
    depth_ = 1;
  }

  void Open(const Tag& tag) {
    if (frames_.size() == kDeepestElement) {
      ++deeper_;
      return;
    }
    frames_.push_back({std::string(tag.name), tag.end, head_});
    if (!out_ || frames_.size() < 2 || IsWrapper(tag.name)) return;
    TextRecord cells;
    for (auto& [name, value] : AttributesOf(text_.substr(tag.begin, tag.end - tag.begin))) {
      if (IsIdentity(name) && value.size() <= kLongestTitleBytes) {
        cells.emplace_back(fmt::format("{}.{}", tag.name, name), std::move(value));
      }
    }
    if (!cells.empty()) Head(tag.end, std::move(cells), head_);
  }

  void Close(const Tag& tag) {
    if (deeper_ > 0) {
      --deeper_;
      return;
    }
    const auto open = std::ranges::find(frames_.rbegin(), frames_.rend(), tag.name, &Frame::name);
    if (open == frames_.rend()) return;
    const bool leaf = open == frames_.rbegin() && last_ == TagKind::kOpen;
    const std::uint64_t inside = open->inside;
    const std::ptrdiff_t before = open->head;
    frames_.erase(std::next(open).base(), frames_.end());
    if (!out_) return;
    if (head_ != before) {
      Head(tag.end, {}, before);
      head_ = before;  // so that marks of ends make no chain
    }
    constexpr int kMostNames = 4;
    if (!leaf || frames_.size() < 2 || !IsIdentity(tag.name)) return;
    if (++frames_.back().names > kMostNames) return;
    if (IsWrapper(frames_.back().name)) return;
    TextRecord cells{
        {fmt::format("{}.{}", frames_.back().name, tag.name), NameBetween(inside, tag.begin)}};
    Head(tag.end, std::move(cells), head_);
  }

  const std::string row_;
  const bool nests_;
  int depth_ = 0;  // of row elements that are open
  std::uint64_t begin_ = 0;
  std::vector<Frame> frames_;
  std::uint64_t deeper_ = 0;
  TagKind last_ = TagKind::kClose;
};

Markup MarkupOf(Format format) { return format == Format::kHtml ? Markup::kHtml : Markup::kXml; }

std::unique_ptr<ElementWalker> MakeWalker(Format format, std::string_view shape,
                                          std::string_view text, Items* out) {
  if (format == Format::kHtml) return MakeHtmlWalker(shape, text, out);
  return std::make_unique<XmlWalker>(shape, text, out);
}

class ElementCounter final : public RecordCounter {
 public:
  ElementCounter(Format format, std::string_view shape)
      : tags_(MarkupOf(format)), walker_(MakeWalker(format, shape, {}, nullptr)) {}
  void Feed(std::string_view bytes) override {
    tags_.Feed(bytes, [this](const Tag& tag) { walker_->Take(tag); });
  }
  bool at_record_start() const override { return false; }
  std::uint64_t Finish() override {
    walker_->Finish(0);
    return walker_->count();
  }

 private:
  TagScanner tags_;
  std::unique_ptr<ElementWalker> walker_;
};

// A path of elements in a head.
struct Node {
  std::string name;
  std::size_t parent = 0;
  std::size_t count = 0;
  std::size_t structured = 0;  // have attributes or elements in them
  std::size_t below = 0;       // elements in all of them
  std::map<std::string, std::size_t, std::less<>> children;
};

class ElementTree {
 public:
  explicit ElementTree(std::string_view head) : nodes_(1) {
    TagScanner tags(Markup::kXml);
    tags.Feed(head, [&](const Tag& tag) {
      if (tag.kind == TagKind::kClose) return Close(tag);
      const bool attributes =
          head.substr(tag.begin, tag.end - tag.begin).find('=') != std::string_view::npos;
      Open(tag, attributes);
    });
    for (std::size_t i = nodes_.size(); i-- > 1;) {
      nodes_[nodes_[i].parent].below += nodes_[i].count + nodes_[i].below;
    }
  }

  // The element whose repetition makes up the text; null: there is none.
  const Node* Rows() const {
    if (const Node* known = Known()) return known;
    std::size_t at = 0;
    for (std::size_t depth = 0; depth < kDeepestElement; ++depth) {
      const Node* best = nullptr;
      std::size_t largest = 0;
      for (const auto& [name, child] : nodes_[at].children) {
        const Node& node = nodes_[child];
        const bool row = node.structured > 0 ? node.count >= 2 : node.count >= 5;
        if (depth > 0 && row && (!best || Better(node, *best))) best = &node;
        if (largest == 0 || node.below > nodes_[largest].below) largest = child;
      }
      if (best) return Inner(*best);
      if (largest == 0) return nullptr;
      at = largest;
    }
    return nullptr;
  }

  bool Nests(std::string_view name) const { return nests_.contains(name); }
  std::string_view root() const {
    return nodes_[0].children.empty() ? "" : std::string_view(nodes_[0].children.begin()->first);
  }

 private:
  struct Frame {
    std::size_t node;
    bool structured;
    bool holds_own = false;  // an element of its own name is in it
  };

  static bool Better(const Node& a, const Node& b) {
    if ((a.structured > 0) != (b.structured > 0)) return a.structured > 0;
    return a.count != b.count ? a.count > b.count : a.below > b.below;
  }

  const Node* Known() const {
    const Node* best = nullptr;
    for (const Node& node : nodes_) {
      if (IsKnownRecord(node.name) && (!best || node.count > best->count)) best = &node;
    }
    return best;
  }

  // A few groups of many records each: the records.
  const Node* Inner(const Node& group) const {
    constexpr std::size_t kOfEach = 5;
    const Node* best = &group;
    for (const Node& node : nodes_) {
      if (node.structured == 0 || node.count < group.count * kOfEach) continue;
      std::size_t up = node.parent;
      while (up != 0 && &nodes_[up] != &group) up = nodes_[up].parent;
      if (up != 0 && (best == &group || node.count > best->count)) best = &node;
    }
    return best;
  }

  void Open(const Tag& tag, bool attributes) {
    if (frames_.size() == kDeepestElement) {
      deeper_ += tag.kind == TagKind::kOpen ? 1 : 0;
      return;
    }
    const std::size_t parent = frames_.empty() ? 0 : frames_.back().node;
    auto known = nodes_[parent].children.find(tag.name);
    if (known == nodes_[parent].children.end()) {
      if (nodes_.size() == kMostNodes) return;
      known = nodes_[parent].children.emplace(tag.name, nodes_.size()).first;
      nodes_.push_back({.name = std::string(tag.name), .parent = parent});
    }
    const std::size_t node = nodes_[parent].children.find(tag.name)->second;
    ++nodes_[node].count;
    nodes_[node].structured += attributes ? 1 : 0;
    if (!frames_.empty() && !frames_.back().structured) {
      frames_.back().structured = true;
      ++nodes_[parent].structured;
    }
    if (tag.kind == TagKind::kEmpty) return;
    if (const auto outer = Innermost(tag.name); outer != frames_.rend()) outer->holds_own = true;
    frames_.push_back({node, attributes});
  }

  std::vector<Frame>::reverse_iterator Innermost(std::string_view name) {
    return std::ranges::find_if(frames_.rbegin(), frames_.rend(), [&](const Frame& frame) {
      return nodes_[frame.node].name == name;
    });
  }

  void Close(const Tag& tag) {
    if (deeper_ > 0) {
      --deeper_;
      return;
    }
    const auto open = Innermost(tag.name);
    if (open == frames_.rend()) return;
    // Where an end is missing, the next element only seems to stand in it.
    if (open == frames_.rbegin() && open->holds_own) nests_.insert(std::string(tag.name));
    frames_.erase(std::next(open).base(), frames_.end());
  }

  std::vector<Node> nodes_;  // the first stands for the text
  std::vector<Frame> frames_;
  std::set<std::string, std::less<>> nests_;  // names of elements that stand in each other
  std::uint64_t deeper_ = 0;
};

ShapeScan DetectXml(std::string_view head) {
  constexpr std::string_view kOthers[] = {"html", "svg", "plist"};
  const ElementTree tree(head);
  const Node* rows = IsOneOf(tree.root(), kOthers) ? nullptr : tree.Rows();
  if (!rows) return {};
  const std::string shape = rows->name + (tree.Nests(rows->name) ? "+" : "");
  std::uint64_t covered = 0;
  for (const ByteRange& range : FindElements(Format::kXml, shape, head).ranges) {
    covered += range.size();
  }
  const bool fits = IsKnownRecord(rows->name) || covered * 3 >= head.size();
  return {.fits = fits, .shape = shape, .field_names = {}};
}

// `<Data name="price"><value>5</value></Data>`, `<tag k="price" v="5"/>`: the name is in it.
bool HoldsNamedValue(std::string_view name) {
  constexpr std::string_view kNames[] = {"Data",  "SimpleData", "property", "tag",
                                         "param", "field",      "entry",    "parameter"};
  return IsOneOf(name, kNames);
}

// What only groups other elements.
bool IsTransparent(std::string_view name) {
  constexpr std::string_view kNames[] = {"extensions", "TrackPointExtension", "ExtendedData",
                                         "SchemaData", "Point"};
  return IsOneOf(name, kNames);
}

class ElementReader {
 public:
  explicit ElementReader(const Item& item) : text_(item.record()), record_(item.head) {}

  TextRecord Read() {
    TagScanner tags(Markup::kXml);
    tags.Feed(text_, [this](const Tag& tag) {
      AddText(tag.begin);
      if (tag.kind != TagKind::kClose) Open(tag);
      if (tag.kind != TagKind::kOpen) Close();
      from_ = tag.end;
    });
    const std::size_t cut = text_.rfind('<');  // a tag that the end of the text cuts
    AddText(cut == std::string_view::npos || cut < from_ ? text_.size() : cut);
    while (!levels_.empty()) Close();  // the record was cut
    return std::move(record_);
  }

 private:
  struct Level {
    std::string path, text;
    bool children = false, named = false, attributes = false;
  };
  static constexpr std::size_t kDeepestLevel = 16;

  void AddText(std::uint64_t end) {
    if (levels_.empty() || skipped_ > 0 || end <= from_) return;
    levels_.back().text += PlainMarkup(text_.substr(from_, end - from_));
  }

  void Open(const Tag& tag) {
    if (skipped_ > 0 || levels_.size() == kDeepestLevel) {
      ++skipped_;
      return;
    }
    TextRecord attributes = AttributesOf(text_.substr(tag.begin, tag.end - tag.begin));
    Level level;
    if (!levels_.empty()) {
      Level& parent = levels_.back();
      parent.children = !parent.named;
      level.path = parent.path;
      level.named = parent.named;
      if (parent.named || IsTransparent(tag.name)) {
        // the path stays
      } else if (HoldsNamedValue(tag.name) && !attributes.empty() && attributes.size() <= 2) {
        level.named = true;
        level.path = attributes[0].second.substr(0, kLongestTitleBytes);
        attributes.erase(attributes.begin());
        if (!attributes.empty()) level.text = attributes[0].second;
        attributes.clear();
      } else {
        if (!level.path.empty()) level.path += '.';
        level.path += tag.name;
      }
    }
    for (const auto& [name, value] : attributes) {
      AddValue(level.path.empty() ? name : fmt::format("{}.{}", level.path, name), value, &record_);
    }
    level.attributes = !attributes.empty();
    levels_.push_back(std::move(level));
  }

  void Close() {
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    if (levels_.empty()) return;
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    const std::string_view text = TrimSpace(level.text);
    const bool inner_named = level.named && !levels_.empty() && levels_.back().named;
    if (inner_named) {
      levels_.back().text += text;
      return;
    }
    if (text.empty() && (level.children || level.attributes || levels_.empty())) return;
    if (level.path.ends_with("coordinates") && AddCoordinates(text)) return;
    const bool date = text.size() > 20 && text.size() < 40 && text[3] == ',';
    AddValue(level.path.empty() ? "text" : level.path,
             date ? IsoOfMailDate(text) : std::string(text), &record_);
  }

  // 13.4,52.5,0 of one point.
  bool AddCoordinates(std::string_view text) {
    const std::vector<std::string_view> parts = Split(text, ',');
    if (parts.size() < 2 || parts.size() > 3) return false;
    if (!std::ranges::all_of(parts,
                             [](std::string_view p) { return NumberOfText(p).has_value(); })) {
      return false;
    }
    constexpr std::string_view kNames[] = {"lon", "lat", "alt"};
    for (std::size_t i = 0; i < parts.size(); ++i) AddValue(kNames[i], parts[i], &record_);
    return true;
  }

  const std::string_view text_;
  TextRecord record_;
  std::vector<Level> levels_;
  std::uint64_t from_ = 0, skipped_ = 0;
};

}  // namespace

ShapeScan DetectElements(Format format, std::string_view head) {
  return format == Format::kHtml ? DetectHtml(head) : DetectXml(head);
}

Items FindElements(Format format, std::string_view shape, std::string_view text) {
  Items items;
  TagScanner tags(MarkupOf(format));
  const auto walker = MakeWalker(format, shape, text, &items);
  tags.Feed(text, [&](const Tag& tag) { walker->Take(tag); });
  walker->Finish(text.size());
  return items;
}

TextRecord ReadElement(Format format, const Item& item) {
  return format == Format::kHtml ? ReadHtmlRow(item) : ElementReader(item).Read();
}

std::unique_ptr<RecordCounter> MakeElementCounter(Format format, std::string_view shape) {
  return std::make_unique<ElementCounter>(format, shape);
}

}  // namespace dossier::inspect
