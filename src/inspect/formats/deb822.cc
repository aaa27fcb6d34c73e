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

// Bytes in front of the colon of a field line, or 0. Names are printable ASCII without space and
// colon, and start with neither '#' nor '-'.
std::size_t NameLength(std::string_view line) {
  std::size_t length = 0;
  while (length < line.size() && line[length] > ' ' && line[length] < 0x7f && line[length] != ':') {
    ++length;
  }
  const bool named = length > 0 && length < line.size() && line[length] == ':';
  return named && line[0] != '#' && line[0] != '-' ? length : 0;
}

// More than NameLength asks for, as every program that writes such files keeps to it: a name of
// letters, digits and hyphens, and a space behind the colon.
bool ReadsLikeName(std::string_view line) {
  const std::size_t length = NameLength(line);
  const std::string_view name = line.substr(0, length);
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return IsAlnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
  });
  return plain && (line.size() == length + 1 || IsBlankLine(line.substr(length + 1, 1)));
}

// Judges the lines of a head one by one, as part of the stanza they stand in.
class StanzaJudge {
 public:
  void Add(std::string_view line) {
    const StanzaLine kind = ClassifyStanzaLine(line);
    if (kind == StanzaLine::kBlank) {
      names_.clear();
      return;
    }
    ++lines_;
    switch (kind) {
      case StanzaLine::kField:
        if (ReadsLikeName(line)) AddField(std::string(line.substr(0, NameLength(line))));
        break;
      case StanzaLine::kContinuation:
        fitting_ += names_.empty() ? 0 : 1;
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
    const bool fits = stanzas_ >= 2 && alike && fitting_ * 10 >= lines_ * 9;
    if (!fits) return {};
    return {.fits = true, .shape = "deb822", .field_names = std::move(order_)};
  }

 private:
  // A name that recurs within a stanza does not fit: `Ann: hi` over `Bob: ho` over `Ann: …` is a
  // conversation.
  void AddField(std::string name) {
    if (names_.empty()) ++stanzas_;
    if (!names_.insert(name).second) return;
    ++fitting_;
    if (names_.size() == 2) ++several_;
    if (++seen_[name] == 1) order_.push_back(std::move(name));
  }

  std::size_t lines_ = 0, fitting_ = 0, stanzas_ = 0;
  std::size_t several_ = 0;                  // stanzas of two and more fields
  std::set<std::string> names_;              // of the stanza at hand
  std::map<std::string, std::size_t> seen_;  // in how many stanzas
  std::vector<std::string> order_;
};

class Deb822Counter final : public RecordCounter {
 public:
  explicit Deb822Counter(CountFrom from) : inside_(from == CountFrom::kAnywhere) {}
  void Feed(std::string_view bytes) override {
    lines_.Feed(bytes, [this](std::string_view line) { Add(line); });
  }
  bool at_record_start() const override { return lines_.at_line_start() && !inside_; }
  std::uint64_t Finish() override {
    lines_.Finish([this](std::string_view line) { Add(line); });
    return stanzas_;
  }

 private:
  void Add(std::string_view line) {
    const StanzaLine kind = ClassifyStanzaLine(line);
    if (kind == StanzaLine::kBlank) inside_ = false;
    if (kind != StanzaLine::kField || inside_) return;
    inside_ = true;
    ++stanzas_;
  }

  LineAssembler lines_;
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

StanzaLine ClassifyStanzaLine(std::string_view line) {
  line = line.substr(0, kMaxJudgedLine);
  if (line.empty()) return StanzaLine::kBlank;
  if (line[0] == '#') return StanzaLine::kComment;
  if (line[0] != ' ' && line[0] != '\t') {
    return NameLength(line) > 0 ? StanzaLine::kField : StanzaLine::kOther;
  }
  return IsBlankLine(line) ? StanzaLine::kBlank : StanzaLine::kContinuation;
}

bool NextStanza(std::string_view text, std::size_t* position, ByteRange* stanza) {
  bool inside = false;
  while (*position < text.size()) {
    const std::size_t start = *position;
    const Line line = NextLine(text, start);
    *position = line.next;
    const StanzaLine kind = ClassifyStanzaLine(line.text);
    if (kind == StanzaLine::kBlank && inside) return true;
    if (kind == StanzaLine::kField && !inside) {
      stanza->begin = start;
      inside = true;
    }
    if (inside) stanza->end = start + line.text.size();
  }
  return inside;
}

std::vector<std::pair<std::string, std::string>> ParseStanza(std::string_view stanza) {
  TextRecord record;
  std::string* value = nullptr;
  for (std::size_t at = 0; at < stanza.size();) {
    const Line line = NextLine(stanza, at);
    at = line.next;
    const StanzaLine kind = ClassifyStanzaLine(line.text);
    if (kind == StanzaLine::kContinuation && value) AddContinuation(line.text, value);
    if (kind != StanzaLine::kField) continue;
    const std::size_t name_length = NameLength(line.text.substr(0, kMaxJudgedLine));
    const std::string_view name = line.text.substr(0, name_length);
    auto known = std::find_if(record.begin(), record.end(),
                              [&](const auto& field) { return field.first == name; });
    if (known == record.end()) known = record.insert(known, {std::string(name), {}});
    value = &known->second;
    *value = TrimSpace(line.text.substr(name_length + 1));
  }
  return record;
}

ShapeScan DetectDeb822(std::string_view head) {
  StanzaJudge judge;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < head.size() && lines < kSampledLines; ++lines) {
    const Line line = NextLine(head, at);
    if (line.next == head.size() && at > 0 && !EndsWithLineEnd(head)) {
      // Cut in the middle of a name, the last line proves nothing.
      if (ClassifyStanzaLine(line.text) == StanzaLine::kOther) break;
    }
    judge.Add(line.text);
    at = line.next;
  }
  return std::move(judge).Result();
}

std::unique_ptr<RecordCounter> MakeDeb822Counter(CountFrom from) {
  return std::make_unique<Deb822Counter>(from);
}

std::vector<TextRecord> ParseDeb822Head(std::string_view head, std::size_t limit) {
  std::vector<TextRecord> records;
  std::size_t position = 0;
  for (ByteRange stanza; records.size() < limit && NextStanza(head, &position, &stanza);) {
    const bool maybe_cut =
        stanza.end == head.size() || (position == head.size() && head.size() >= kWindowBytes);
    if (maybe_cut && head.size() >= kWindowBytes && !records.empty()) break;
    records.push_back(ParseStanza(Slice(head, stanza)));
  }
  return records;
}

}  // namespace dossier::inspect
