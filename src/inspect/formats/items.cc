#include "inspect/formats/items.h"

#include <algorithm>
#include <iterator>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kDetectBytes = 64 << 10;
constexpr std::size_t kMaxNames = 256;  // of one record

std::string_view FirstFilledLine(std::string_view head) {
  const std::string_view text = TrimSpace(head);
  return TrimSpace(text.substr(0, std::min(text.find_first_of("\r\n"), kMaxJudgedLine)));
}

template <const char* const& kStart>
bool BeginsWith(std::string_view head) {
  return ToLowerAscii(FirstFilledLine(head)).starts_with(kStart);
}

constexpr const char* kCalendarStart = "begin:vcalendar";
constexpr const char* kCardStart = "begin:vcard";
constexpr const char* kRisStart = "ty  - ";
constexpr const char* kMailStart = "from ";
constexpr const char* kCommitStart = "commit ";

bool BeginsAny(std::string_view) { return true; }

// %, blank lines and @ lines come first.
bool BeginsBibtex(std::string_view head) {
  const std::string_view line = FirstFilledLine(head);
  return line.starts_with('@') || line.starts_with('%');
}

bool BeginsCues(std::string_view head) {
  const std::string_view line = FirstFilledLine(head);
  return line.starts_with("WEBVTT") || line.find("-->") != std::string_view::npos ||
         (!line.empty() && std::ranges::all_of(line, IsDigit));
}

// In the order in which a text of unknown format is tried. Those of settings are no records of a
// text without a name that says so.
constexpr LineFormat kLineFormats[] = {
    {Format::kCalendar, BeginsWith<kCalendarStart>, 1, 0, JudgeCalendarLine, ReadCalendarItem,
     nullptr},
    {Format::kVcard, BeginsWith<kCardStart>, 1, 50, JudgeCardLine, ReadCard, nullptr},
    {Format::kBibtex, BeginsBibtex, 1, 50, JudgeBibtexLine, ReadBibtex, nullptr},
    {Format::kRis, BeginsWith<kRisStart>, 1, 50, JudgeRisLine, ReadRis, nullptr},
    {Format::kSubtitles, BeginsCues, 1, 50, JudgeCueLine, ReadCue, nullptr},
    {Format::kMail, BeginsWith<kMailStart>, 1, 50, JudgeMailLine, ReadMail, nullptr},
    {Format::kGitLog, BeginsWith<kCommitStart>, 1, 90, JudgeGitLogLine, ReadCommit, nullptr},
    {Format::kLedger, BeginsLedger, 2, 60, JudgeLedgerLine, ReadPosting, ReadBookingHead},
    {Format::kFixedWidth, BeginsRuled, 2, 40, JudgeRuledLine, ReadRuledRow, ReadRuler},
    {Format::kIni, BeginsAny, 1, 60, JudgeSettingLine, ReadSetting, ReadSection},
    {Format::kToml, BeginsAny, 1, 60, JudgeSettingLine, ReadSetting, ReadSection},
    {Format::kConfig, BeginsSettings, 1, 60, JudgeSettingLine, ReadSetting, ReadSection},
};

const LineFormat* RowOf(Format format) {
  const auto row = std::ranges::find(kLineFormats, format, &LineFormat::format);
  return row == std::end(kLineFormats) ? nullptr : row;
}

bool IsMarkup(Format format) { return format == Format::kXml || format == Format::kHtml; }

// Judges a line, and keeps whether a record is open behind it.
ItemLine Judge(const LineFormat& row, std::string_view line, ItemState* state) {
  const ItemLine what = row.judge(line.substr(0, kMaxJudgedLine), state);
  if (what == ItemLine::kBegin) {
    state->open = true;
  } else if (what != ItemLine::kInside) {
    state->open = false;
  }
  return what;
}

bool Begins(ItemLine what) { return what == ItemLine::kBegin || what == ItemLine::kWhole; }

Items FindByLines(const LineFormat& row, std::string_view text) {
  Items items;
  ItemState state;
  const std::size_t start = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (std::size_t at = start; at < text.size();) {
    const Line line = NextLine(text, at);
    const bool inside = state.open;
    const ItemLine what = Judge(row, line.text, &state);
    if (Begins(what)) items.ranges.push_back({at, at});
    const bool of_record = Begins(what) || ((what == ItemLine::kInside || what == ItemLine::kEnd) &&
                                            inside && !IsBlankLine(line.text));
    if (of_record) items.ranges.back().end = at + line.text.size();
    if (what == ItemLine::kHead && row.head) {
      items.heads.push_back({line.next, row.head(text, at), -1});
    }
    at = line.next;
  }
  return items;
}

class LineItemCounter final : public RecordCounter {
 public:
  explicit LineItemCounter(const LineFormat& row) : row_(row) {}
  void Feed(std::string_view bytes) override {
    lines_.Feed(bytes, [this](std::string_view line) { Add(line); });
  }
  bool at_record_start() const override { return false; }  // what was in front may matter
  std::uint64_t Finish() override {
    lines_.Finish([this](std::string_view line) { Add(line); });
    return items_;
  }

 private:
  void Add(std::string_view line) { items_ += Begins(Judge(row_, line, &state_)) ? 1 : 0; }

  const LineFormat& row_;
  LineAssembler lines_;
  ItemState state_;
  std::uint64_t items_ = 0;
};

ShapeScan DetectByLines(const LineFormat& row, std::string_view head) {
  head = head.substr(0, kDetectBytes);
  if (!row.begins(head)) return {};
  const Items items = FindByLines(row, head);
  if (items.ranges.size() < static_cast<std::size_t>(row.items)) return {};
  std::uint64_t covered = 0, lines = 0;
  for (const ByteRange& range : items.ranges) covered += range.size();
  for (const ItemHead& own : items.heads) {  // a head is its line
    const std::string_view before = head.substr(0, own.offset).substr(0, own.offset - 1);
    lines += before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n'));
  }
  const std::size_t size = TrimSpace(head).size();
  const auto wanted = static_cast<std::uint64_t>(row.percent);
  return {.fits = (covered + lines) * 100 >= size * wanted, .shape = {}, .field_names = {}};
}

// The cells of all heads that hold for the record; those of inner ones come last.
TextRecord HeadOf(const Items& items, std::uint64_t begin) {
  TextRecord cells;
  const auto behind = std::ranges::upper_bound(items.heads, begin, {}, &ItemHead::offset);
  std::ptrdiff_t at = behind - items.heads.begin() - 1;
  std::vector<const ItemHead*> chain;
  for (; at >= 0; at = items.heads[static_cast<std::size_t>(at)].outer) {
    chain.push_back(&items.heads[static_cast<std::size_t>(at)]);
  }
  for (auto head = chain.rbegin(); head != chain.rend(); ++head) {
    cells.insert(cells.end(), (*head)->cells.begin(), (*head)->cells.end());
  }
  return cells;
}

}  // namespace

bool HasItems(Format format) { return IsMarkup(format) || RowOf(format); }

ShapeScan DetectItems(Format format, std::string_view head) {
  if (IsMarkup(format)) return DetectElements(format, head);
  return DetectByLines(*RowOf(format), head);
}

Items FindItems(Format format, std::string_view shape, std::string_view text) {
  if (IsMarkup(format)) return FindElements(format, shape, text);
  return FindByLines(*RowOf(format), text);
}

TextRecord ReadItem(Format format, std::string_view, std::string_view text, const Items& items,
                    const ByteRange& range) {
  const TextRecord head = HeadOf(items, range.begin);
  const Item item{text, range, head};
  return IsMarkup(format) ? ReadElement(format, item) : RowOf(format)->read(item);
}

std::unique_ptr<RecordCounter> MakeItemCounter(Format format, std::string_view shape) {
  if (IsMarkup(format)) return MakeElementCounter(format, shape);
  return std::make_unique<LineItemCounter>(*RowOf(format));
}

std::vector<TextRecord> ParseItemsHead(Format format, std::string_view head, std::string_view shape,
                                       std::size_t limit) {
  Items items = FindItems(format, shape, head);
  const bool cut = head.size() >= kDetectBytes && !items.ranges.empty() &&
                   items.ranges.back().end == head.size();
  if (cut && items.ranges.size() > 1) items.ranges.pop_back();
  std::vector<TextRecord> records;
  for (const ByteRange& range : items.ranges) {
    if (records.size() == limit) break;
    records.push_back(ReadItem(format, shape, head, items, range));
  }
  return records;
}

void AddValue(std::string_view name, std::string_view value, TextRecord* record) {
  value = TrimSpace(value);
  const auto known = std::ranges::find(*record, name, &TextRecord::value_type::first);
  if (known == record->end()) {
    if (record->size() < kMaxNames) record->emplace_back(name, value);
  } else if (!value.empty()) {
    if (!known->second.empty()) known->second += "; ";
    known->second += value;
  }
}

}  // namespace dossier::inspect
