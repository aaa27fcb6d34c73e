// Stanzas and log lines: each format of text_records.h is a row of kTextFormats.

#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "inspect/describe/scan.h"
#include "inspect/formats/items.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kDetectBytes = 64 << 10;

std::string_view FirstParagraph(std::string_view head, std::string_view) {
  const std::size_t start = head.find_first_not_of("\r\n \t");
  if (start == std::string_view::npos) return {};
  head.remove_prefix(start);
  for (const std::string_view gap : {std::string_view("\n\n"), std::string_view("\r\n\r\n")}) {
    if (const std::size_t end = head.find(gap); end != std::string_view::npos) {
      return head.substr(0, end);
    }
  }
  return head.substr(0, head.find_last_not_of("\r\n") + 1);
}

std::string_view FirstLogLine(std::string_view head, std::string_view) {
  const std::string_view text = TrimSpace(head);
  return text.substr(0, text.find_first_of("\r\n"));
}

// How to detect and count the records of a text that is neither JSON nor a table.
struct TextFormat {
  Format format;
  std::string Description::* shape;  // where the shape from `detect` is stored
  ShapeScan (*detect)(std::string_view head);
  std::unique_ptr<RecordCounter> (*make_counter)(std::string_view shape, CountFrom from);
  std::vector<TextRecord> (*parse)(std::string_view head, std::string_view shape,
                                   std::size_t limit);
  std::string_view (*sample)(std::string_view head, std::string_view shape);
};

// A row for a format of items.h.
template <Format format>
constexpr TextFormat ItemRow() {
  return {format,
          &Description::flavour,
          [](std::string_view head) { return DetectItems(format, head); },
          [](std::string_view shape, CountFrom) { return MakeItemCounter(format, shape); },
          [](std::string_view head, std::string_view shape, std::size_t limit) {
            return ParseItemsHead(format, head, shape, limit);
          },
          [](std::string_view head, std::string_view shape) {
            const Items items = FindItems(format, shape, head);
            return items.ranges.empty() ? std::string_view() : Slice(head, items.ranges[0]);
          }};
}

// In the order in which a text of unknown format is tried. Describe asks for each separately,
// because tables come between them.
constexpr TextFormat kTextFormats[] = {
    {Format::kDeb822, &Description::flavour, DetectDeb822, MakeStanzaCounter, ParseDeb822Head,
     FirstParagraph},
    {Format::kLog, &Description::log_shape, DetectLog, MakeLogCounter, ParseLogHead, FirstLogLine},
    ItemRow<Format::kCalendar>(),
    ItemRow<Format::kVcard>(),
    ItemRow<Format::kBibtex>(),
    ItemRow<Format::kRis>(),
    ItemRow<Format::kSubtitles>(),
    ItemRow<Format::kMail>(),
    ItemRow<Format::kGitLog>(),
    ItemRow<Format::kLedger>(),
    ItemRow<Format::kFixedWidth>(),
    ItemRow<Format::kXml>(),
    ItemRow<Format::kHtml>(),
    ItemRow<Format::kIni>(),
    ItemRow<Format::kToml>(),
    ItemRow<Format::kConfig>(),
};

constexpr bool IsWhole(const TextFormat& row) {
  return row.shape && row.detect && row.make_counter && row.parse && row.sample;
}
static_assert(std::ranges::all_of(kTextFormats, IsWhole), "no column is left out");

// The head that determines the shape.
std::string_view DetectHead(const Scan& scan) { return scan.head.substr(0, kDetectBytes); }

CountedRecords::MakeCounter CounterOf(const TextFormat& row, const std::string& shape) {
  return [make = row.make_counter, shape](CountFrom from) { return make(shape, from); };
}

Result<std::uint64_t> CountRecords(const Scan& scan, const TextFormat& row) {
  if (scan.plan && scan.plan->count && scan.plan->count->format == row.format) {
    if (const auto found = scan.plan->count->pass->Take(scan.ends())) return found->records;
  }
  const auto counter = row.make_counter(scan.out->*row.shape, CountFrom::kRecord);
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, 0, [&](std::string_view block) {
    counter->Feed(block);
    return ReadFlow::kContinue;
  }));
  return counter->Finish();
}

}  // namespace

std::unique_ptr<CountPlan> PlanCount(const Scan& scan) {
  const auto named = scan.options.format ? scan.options.format : scan.out->named_format;
  for (const TextFormat& row : kTextFormats) {
    if (FormOf(row.format) == RecordForm::kItems) continue;  // for items, preceding lines matter
    if (!IsLeftToContent(scan) && named != row.format) continue;
    const ShapeScan shape = row.detect(DetectHead(scan));
    if (!shape.fits) continue;
    auto plan = std::make_unique<CountPlan>();
    plan->format = row.format;
    plan->pass = std::make_unique<CountPass>(scan.source, scan.stream,
                                             CountedRecords(CounterOf(row, shape.shape)));
    return plan;
  }
  return nullptr;
}

Result<bool> DescribeText(Scan* scan, Format format) {
  const auto row = std::ranges::find(kTextFormats, format, &TextFormat::format);
  if (row == std::end(kTextFormats)) {
    return MakeError(ErrorCode::kInternal, "kTextFormats has no row for {}", FormatName(format));
  }
  // The text before items may be long: the styles of a map.
  const bool items = FormOf(format) == RecordForm::kItems;
  ShapeScan shape = row->detect(items ? scan->head : DetectHead(*scan));
  // A text with too few records to show a shape gets that of the text beside it.
  const Description* like = scan->options.like;
  if (like && like->format == format && !shape.fits)
    shape = {.fits = true, .shape = like->*row->shape};
  if (!shape.fits) return false;
  scan->out->*row->shape = shape.shape;
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t count, CountRecords(*scan, *row));
  scan->out->format = format;
  scan->out->certain = true;
  scan->out->records = RecordSummary{.records = count, .exactness = scan->exactness()};
  FieldCollector collector(scan->limits());
  for (const TextRecord& record :
       row->parse(scan->head, shape.shape, scan->options.sample_records)) {
    collector.AddRecord(record);
  }
  SetFields(*scan, collector);
  SetSample(*scan, row->sample(scan->head, shape.shape), 0);
  return true;
}

Result<bool> DescribeItems(Scan* scan) {
  for (const TextFormat& row : kTextFormats) {
    if (FormOf(row.format) != RecordForm::kItems || !HasRecords(row.format)) continue;
    DOSSIER_ASSIGN_OR_RETURN(const bool taken, DescribeText(scan, row.format));
    if (taken) return true;
  }
  return false;
}

}  // namespace dossier::inspect
