#include "inspect/formats/deb822.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/json/text_records.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kSampledLines = 100;
// A head of this size is a window into a longer text: its last stanza may go on behind it.
constexpr std::size_t kWindowBytes = 32 * 1024;

constexpr std::size_t kLongestName = 40;  // of a loose one, bytes
constexpr std::size_t kMostWords = 4;     // in it

// Letters of any script, digits, and what stands inside of names; `text` begins with no white
// space.
bool IsLooseName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name.back() == ' ') return false;
  if (!IsLetter(name[0]) && static_cast<unsigned char>(name[0]) < 0x80) return false;
  const auto fits = [](char c) {
    return IsAlnum(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" -_./()&").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(name, fits) &&
         static_cast<std::size_t>(std::ranges::count(name, ' ')) < kMostWords;
}

// Bytes in front of the colon of a field line, or 0. Names are printable ASCII without space and
// colon, and start with neither '#' nor '-'.
std::size_t NameLength(std::string_view line, StanzaStyle style) {
  if (style != StanzaStyle::kDeb822) {
    const std::size_t colon = line.substr(0, kLongestName + 1).find(':');
    const bool named = colon != std::string_view::npos && IsLooseName(line.substr(0, colon)) &&
                       IsBlankLine(line.substr(colon + 1, 1));
    return named ? colon : 0;
  }
  std::size_t length = 0;
  while (length < line.size() && line[length] > ' ' && line[length] < 0x7f && line[length] != ':') {
    ++length;
  }
  const bool named = length > 0 && length < line.size() && line[length] == ':';
  return named && line[0] != '#' && line[0] != '-' ? length : 0;
}

// More than NameLength asks for, as every program that writes such files keeps to it: a name of
// letters, digits and hyphens, and a space behind the colon.
bool ReadsLikeName(std::string_view line, StanzaStyle style) {
  const std::size_t length = NameLength(line, style);
  if (style != StanzaStyle::kDeb822) return length > 0;
  const std::string_view name = line.substr(0, length);
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return IsAlnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
  return plain && (line.size() == length + 1 || IsBlankLine(line.substr(length + 1, 1)));
}

// How many times the character is repeated that `line` begins with, if it is one that rules are
// made of.
std::size_t RuleLength(std::string_view line) {
  if (line.empty() || std::string_view("=-*#~_+").find(line[0]) == std::string_view::npos) return 0;
  return std::min(line.find_first_not_of(line[0]), line.size());
}

bool IsRule(std::string_view line) {
  line = TrimSpace(line);
  return line.size() >= 3 && RuleLength(line) == line.size();
}

// The title in `=== title ===`; empty: the line is none.
std::string_view TitleOf(std::string_view line) {
  line = TrimSpace(line);
  const std::size_t length = RuleLength(line);
  if (length < 2 || length == line.size() || line.size() < 2 * length) return {};
  const std::string_view end = line.substr(line.size() - length);
  if (end.find_first_not_of(line[0]) != std::string_view::npos) return {};
  const std::string_view title = line.substr(length, line.size() - 2 * length);
  return title.starts_with(' ') && title.ends_with(' ') ? TrimSpace(title) : std::string_view();
}

// Judges the lines of a head one by one, as part of the stanza they stand in.
class StanzaJudge {
 public:
  explicit StanzaJudge(StanzaStyle style) : style_(style) {}

  void Add(std::string_view line) {
    const StanzaLine kind = ClassifyStanzaLine(line, style_);
    if (kind == StanzaLine::kBlank) {
      names_.clear();
      ++parted_;
      return;
    }
    if (style_ >= StanzaStyle::kRuled && IsBlankLine(line)) return;
    ++lines_;
    switch (kind) {
      case StanzaLine::kField:
        if (ReadsLikeName(line, style_)) {
          AddField(std::string(line.substr(0, NameLength(line, style_))));
        }
        break;
      case StanzaLine::kTitle:
        names_.clear();
        ++parted_;
        ++stanzas_;
        ++fitting_;
        break;
      case StanzaLine::kContinuation:
        // What is indented between rules is rather YAML.
        fitting_ += names_.empty() || style_ == StanzaStyle::kRuled ? 0 : 1;
        break;
      case StanzaLine::kComment:
        ++fitting_;
        break;
      default:
        break;
    }
  }

  // Records of one kind: most stanzas have several fields, and a name comes again in half of them.
  // Paragraphs of settings and lines of a conversation share no such names.
  ShapeScan Result() && {
    std::size_t most = 0;
    for (const auto& [name, stanzas] : seen_) most = std::max(most, stanzas);
    const bool alike = several_ * 2 >= stanzas_ && most >= 2 && most * 2 >= stanzas_;
    const bool fits = stanzas_ >= 2 && parted_ > 0 && alike && fitting_ * 10 >= lines_ * 9;
    if (!fits) return {};
    return {.fits = true,
            .shape = std::string(StanzaStyleName(style_)),
            .field_names = std::move(order_)};
  }

 private:
  // A name that recurs within a stanza does not fit: `Ann: hi` over `Bob: ho` over `Ann: …` is a
  // conversation.
  void AddField(std::string name) {
    if (names_.empty() && style_ != StanzaStyle::kTitled) ++stanzas_;
    if (!names_.insert(name).second) return;
    ++fitting_;
    if (names_.size() == 2) ++several_;
    if (++seen_[name] == 1) order_.push_back(std::move(name));
  }

  const StanzaStyle style_;
  std::size_t lines_ = 0, fitting_ = 0, stanzas_ = 0, parted_ = 0;
  std::size_t several_ = 0;                  // stanzas of two and more fields
  std::set<std::string> names_;              // of the stanza at hand
  std::map<std::string, std::size_t> seen_;  // in how many stanzas
  std::vector<std::string> order_;
};

// The kind of line that begins a stanza.
StanzaLine Beginning(StanzaStyle style) {
  return style == StanzaStyle::kTitled ? StanzaLine::kTitle : StanzaLine::kField;
}

class Deb822Counter final : public RecordCounter {
 public:
  Deb822Counter(CountFrom from, StanzaStyle style)
      : style_(style), inside_(from == CountFrom::kAnywhere) {}
  void Feed(std::string_view bytes) override {
    lines_.Feed(bytes, [this](std::string_view line) { Add(line); });
  }
  // A title begins a record, whatever stands before it.
  bool at_record_start() const override {
    return lines_.at_line_start() && (!inside_ || style_ == StanzaStyle::kTitled);
  }
  std::uint64_t Finish() override {
    lines_.Finish([this](std::string_view line) { Add(line); });
    return stanzas_;
  }

 private:
  void Add(std::string_view line) {
    const StanzaLine kind = ClassifyStanzaLine(line, style_);
    if (kind == StanzaLine::kBlank || kind == StanzaLine::kTitle) inside_ = false;
    if (kind != Beginning(style_) || inside_) return;
    inside_ = true;
    ++stanzas_;
  }

  LineAssembler lines_;
  const StanzaStyle style_;
  bool inside_;
  std::uint64_t stanzas_ = 0;
};

void AddContinuation(std::string_view line, std::string* value) {
  line.remove_prefix(1);
  if (!value->empty()) value->push_back('\n');
  value->append(line.substr(0, line.find_last_not_of(" \t") + 1));
}

bool EndsWithLineEnd(std::string_view text) {
  return !text.empty() && (text.back() == '\n' || text.back() == '\r');
}

}  // namespace

std::string_view StanzaStyleName(StanzaStyle style) {
  constexpr std::string_view kNames[] = {"", "loose", "ruled", "titled"};
  return kNames[static_cast<std::size_t>(style)];
}

StanzaStyle StanzaStyleNamed(std::string_view name) {
  for (const auto style : {StanzaStyle::kLoose, StanzaStyle::kRuled, StanzaStyle::kTitled}) {
    if (StanzaStyleName(style) == name) return style;
  }
  return StanzaStyle::kDeb822;
}

StanzaLine ClassifyStanzaLine(std::string_view line, StanzaStyle style) {
  line = line.substr(0, kMaxJudgedLine);
  const bool parted_by_blank = style == StanzaStyle::kDeb822 || style == StanzaStyle::kLoose;
  if (IsBlankLine(line)) return parted_by_blank ? StanzaLine::kBlank : StanzaLine::kComment;
  if (!parted_by_blank) {
    if (style == StanzaStyle::kTitled && !TitleOf(line).empty()) return StanzaLine::kTitle;
    if (IsRule(line)) {
      return style == StanzaStyle::kRuled ? StanzaLine::kBlank : StanzaLine::kComment;
    }
  }
  if (line[0] == '#') return StanzaLine::kComment;
  if (line[0] == ' ' || line[0] == '\t') return StanzaLine::kContinuation;
  return NameLength(line, style) > 0 ? StanzaLine::kField : StanzaLine::kOther;
}

bool NextStanza(std::string_view text, std::size_t* position, ByteRange* stanza,
                StanzaStyle style) {
  bool inside = false;
  while (*position < text.size()) {
    const std::size_t start = *position;
    const Line line = NextLine(text, start);
    const StanzaLine kind = ClassifyStanzaLine(line.text, style);
    if (inside && kind == StanzaLine::kTitle) return true;
    *position = line.next;
    if (kind == StanzaLine::kBlank && inside) return true;
    if (kind == Beginning(style) && !inside) {
      stanza->begin = start;
      inside = true;
    }
    if (inside && !IsBlankLine(line.text)) stanza->end = start + line.text.size();
  }
  return inside;
}

std::vector<std::pair<std::string, std::string>> ParseStanza(std::string_view stanza,
                                                             StanzaStyle style) {
  TextRecord record;
  std::string* value = nullptr;
  for (std::size_t at = 0; at < stanza.size();) {
    const Line line = NextLine(stanza, at);
    at = line.next;
    const StanzaLine kind = ClassifyStanzaLine(line.text, style);
    if (kind == StanzaLine::kContinuation && value) AddContinuation(line.text, value);
    if (kind == StanzaLine::kTitle) record.emplace_back(kStanzaTitle, TitleOf(line.text));
    if (kind != StanzaLine::kField) continue;
    const std::size_t name_length = NameLength(line.text.substr(0, kMaxJudgedLine), style);
    const std::string_view name = line.text.substr(0, name_length);
    auto known = std::find_if(record.begin(), record.end(),
                              [&](const auto& field) { return field.first == name; });
    if (known == record.end()) known = record.insert(known, {std::string(name), {}});
    value = &known->second;
    *value = TrimSpace(line.text.substr(name_length + 1));
  }
  return record;
}

namespace {

ShapeScan JudgeStanzas(std::string_view head, StanzaStyle style) {
  StanzaJudge judge(style);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < head.size() && lines < kSampledLines; ++lines) {
    const Line line = NextLine(head, at);
    if (line.next == head.size() && at > 0 && !EndsWithLineEnd(head)) {
      // Cut in the middle of a name, the last line proves nothing.
      if (ClassifyStanzaLine(line.text, style) == StanzaLine::kOther) break;
    }
    judge.Add(line.text);
    at = line.next;
  }
  return std::move(judge).Result();
}

}  // namespace

ShapeScan DetectDeb822(std::string_view head) {
  for (const auto style :
       {StanzaStyle::kTitled, StanzaStyle::kRuled, StanzaStyle::kDeb822, StanzaStyle::kLoose}) {
    if (ShapeScan scan = JudgeStanzas(head, style); scan.fits) return scan;
  }
  return {};
}

std::unique_ptr<RecordCounter> MakeDeb822Counter(CountFrom from) {
  return std::make_unique<Deb822Counter>(from, StanzaStyle::kDeb822);
}

std::unique_ptr<RecordCounter> MakeStanzaCounter(std::string_view style, CountFrom from) {
  return std::make_unique<Deb822Counter>(from, StanzaStyleNamed(style));
}

std::vector<TextRecord> ParseDeb822Head(std::string_view head, std::string_view style_name,
                                        std::size_t limit) {
  const StanzaStyle style = StanzaStyleNamed(style_name);
  std::vector<TextRecord> records;
  std::size_t position = 0;
  for (ByteRange stanza; records.size() < limit && NextStanza(head, &position, &stanza, style);) {
    const bool maybe_cut =
        stanza.end == head.size() || (position == head.size() && head.size() >= kWindowBytes);
    if (maybe_cut && head.size() >= kWindowBytes && !records.empty()) break;
    records.push_back(ParseStanza(Slice(head, stanza), style));
  }
  return records;
}

}  // namespace dossier::inspect
