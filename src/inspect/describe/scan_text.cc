// deb822 stanzas and log lines: shapes from text_records.h.

#include "base/text/text.h"
#include "inspect/describe/scan.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kDetectBytes = 64 << 10;

// `shape`: as DetectDeb822 and DetectLog give it.
CountedRecords::MakeCounter CounterOf(Format format, const std::string& shape) {
  if (format == Format::kDeb822) {
    return [shape](CountFrom from) { return MakeStanzaCounter(shape, from); };
  }
  return [shape](CountFrom) { return MakeLogCounter(shape); };
}

Result<std::uint64_t> CountRecords(const Scan& scan, Format format) {
  if (scan.plan && scan.plan->count && scan.plan->count->format == format) {
    if (const auto found = scan.plan->count->pass->Take(scan.ends())) return found->records;
  }
  const auto counter =
      CounterOf(format, format == Format::kDeb822 ? scan.out->flavour
                                                  : scan.out->log_shape)(CountFrom::kRecord);
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, 0, [&](std::string_view block) {
    counter->Feed(block);
    return Flow::kContinue;
  }));
  return counter->Finish();
}

Status TakeRecords(Scan* scan, Format format, const std::vector<TextRecord>& records) {
  DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t count, CountRecords(*scan, format));
  scan->out->format = format;
  scan->out->certain = true;
  scan->out->records = RecordSummary{.records = count, .exactness = scan->exactness()};
  FieldCollector collector(scan->limits());
  for (const TextRecord& record : records) collector.AddRecord(record);
  SetFields(*scan, collector);
  return {};
}

// A repeated name in a stanza is no duplicate key of JSON; the reader of records keeps the last.
std::string_view FirstParagraph(std::string_view head) {
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

// The head whose shape decides.
std::string_view DetectHead(const Scan& scan) { return scan.head.substr(0, kDetectBytes); }

}  // namespace

std::unique_ptr<CountPlan> PlanCount(const Scan& scan) {
  const auto named = scan.options.format ? scan.options.format : scan.out->named_format;
  const bool any = IsLeftToContent(scan);
  const auto may_be = [&](Format format) { return any || (named && *named == format); };
  auto plan = std::make_unique<CountPlan>();
  ShapeScan shape;
  if (may_be(Format::kDeb822)) shape = DetectDeb822(DetectHead(scan));
  if (shape.fits) {
    plan->format = Format::kDeb822;
  } else if (may_be(Format::kLog)) {
    shape = DetectLog(DetectHead(scan));
  }
  if (!shape.fits) return nullptr;
  plan->pass = std::make_unique<CountPass>(scan.source, scan.stream,
                                           CountedRecords(CounterOf(plan->format, shape.shape)));
  return plan;
}

Result<bool> DescribeDeb822(Scan* scan) {
  ShapeScan shape = DetectDeb822(DetectHead(*scan));
  if (const Description* like = scan->options.like; like && like->format == Format::kDeb822) {
    if (!shape.fits) shape = {.fits = true, .shape = like->flavour};
  }
  if (!shape.fits) return false;
  scan->out->flavour = shape.shape;
  DOSSIER_RETURN_IF_ERROR(
      TakeRecords(scan, Format::kDeb822,
                  ParseDeb822Head(scan->head, scan->options.sample_records, shape.shape)));
  SetSample(*scan, FirstParagraph(scan->head), 0);
  return true;
}

Result<bool> DescribeLog(Scan* scan) {
  const ShapeScan shape = DetectLog(DetectHead(*scan));
  if (!shape.fits) return false;
  scan->out->log_shape = shape.shape;
  DOSSIER_RETURN_IF_ERROR(TakeRecords(
      scan, Format::kLog, ParseLogHead(scan->head, shape.shape, scan->options.sample_records)));
  const std::string_view text = TrimSpace(scan->head);
  SetSample(*scan, text.substr(0, text.find_first_of("\r\n")), 0);
  return true;
}

}  // namespace dossier::inspect
