// Describes all kinds of JSON.

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/describe/scan.h"
#include "inspect/description/json_text.h"
#include "inspect/json/json_scanner.h"
#include "inspect/json/ndjson_scanner.h"

namespace dossier::inspect {
namespace {

// Converts JSON with comments and trailing commas to JSON.
//
//   JsoncFilter filter;
//   std::string json = filter.Take("{\"a\": 1, /* one */ }");   // {"a": 1   }
//   filter.changed() == true;
//
// The input may be split anywhere. Thread-safety: one owner.

class JsoncFilter {
 public:
  std::string Take(std::string_view text);
  // True if there was a comment or a trailing comma.
  bool changed() const { return changed_; }
  // True if the text may end here.
  bool complete() const { return state_ == State::kPlain || state_ == State::kLineComment; }

 private:
  enum class State : std::uint8_t {
    kPlain,
    kString,
    kEscape,
    kSlash,
    kLineComment,
    kBlockComment,
    kBlockStar
  };

  void TakePlain(char c, std::string* out);

  State state_ = State::kPlain;
  bool comma_ = false;  // held back until the next character is known
  bool changed_ = false;
};

std::string JsoncFilter::Take(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (state_) {
      case State::kPlain:
        TakePlain(c, &out);
        break;
      case State::kString:
        out += c;
        if (c == '"') state_ = State::kPlain;
        if (c == '\\') state_ = State::kEscape;
        break;
      case State::kEscape:
        out += c;
        state_ = State::kString;
        break;
      case State::kSlash:
        if (c == '/' || c == '*') {
          state_ = c == '/' ? State::kLineComment : State::kBlockComment;
          changed_ = true;
        } else {
          out += '/';  // a fault: let the JSON scanner see it
          out += c;
          state_ = State::kPlain;
        }
        break;
      case State::kLineComment:
        if (c == '\n' || c == '\r') {
          out += c;
          state_ = State::kPlain;
        }
        break;
      case State::kBlockComment:
        if (c == '*') state_ = State::kBlockStar;
        break;
      case State::kBlockStar:
        if (c == '/') {
          out += ' ';
          state_ = State::kPlain;
        } else if (c != '*') {
          state_ = State::kBlockComment;
        }
        break;
    }
  }
  return out;
}

void JsoncFilter::TakePlain(char c, std::string* out) {
  if (c == '/') {
    state_ = State::kSlash;
    return;
  }
  const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
  if (space) {
    *out += c;
    return;
  }
  if (comma_ && (c == '}' || c == ']')) {
    changed_ = true;
  } else if (comma_) {
    *out += ',';
  }
  comma_ = c == ',';
  if (comma_) return;
  *out += c;
  if (c == '"') state_ = State::kString;
}

constexpr char kRecordSeparator = '\x1E';

struct NdjsonScan {
  NdjsonSummary summary;
  FieldCollector fields;
  JsonCapture sample;
};

struct JsonScan {
  JsonSummary summary;
  FieldCollector fields;
  JsonCapture sample;
};

bool HoldsShare(std::uint64_t part, std::uint64_t whole, std::uint64_t percent) {
  return whole > 0 && part * 100 >= whole * percent;
}

bool IsCertainNdjson(const NdjsonSummary& summary) {
  return summary.head_lines >= 2 && summary.first_two_contain &&
         HoldsShare(summary.head_valid, summary.head_lines, 90);
}

NdjsonSummary ProbeNdjson(const Scan& scan) {
  NdjsonScanner scanner;
  scanner.Feed(scan.head);
  return scanner.Finish(scan.head_ends);
}

Result<NdjsonScan> ScanNdjson(const Scan& scan) {
  if (scan.plan && scan.plan->ndjson && scan.plan->ndjson->pass) {
    NdjsonPlan& plan = *scan.plan->ndjson;
    if (auto summary = plan.pass->Take(scan.ends())) {
      return NdjsonScan{std::move(*summary), plan.fields, plan.sample};
    }
  }
  NdjsonScan result{.fields = FieldCollector(scan.limits())};
  NdjsonScanner scanner;
  scanner.SetEvents(&result.fields, result.fields.EventDepth(0), scan.options.sample_records);
  scanner.Capture(&result.sample);
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, 0, [&](std::string_view block) {
    scanner.Feed(block);
    return scanner.hopeless() ? ReadFlow::kStop : ReadFlow::kContinue;
  }));
  result.summary = scanner.Finish(scan.ends());
  return result;
}

Result<JsonScan> ScanJson(const Scan& scan, JsonSequence sequence, JsonRecords list = {}) {
  JsonScanner scanner(scan.limits(), sequence, std::move(list));
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, 0, [&](std::string_view block) {
    scanner.Feed(block);
    return scanner.failed() ? ReadFlow::kStop : ReadFlow::kContinue;
  }));
  const JsonSummary& summary = scanner.Finish();
  return JsonScan{summary, scanner.fields(), scanner.sample()};
}

void SetCapture(const Scan& scan, const JsonCapture& capture) {
  if (capture.text.empty()) return;
  const std::string compact = CompactJson(capture.text);
  const std::uint64_t kept = utf8::CodePoints(compact);
  const std::uint64_t all = capture.chars - std::min(capture.spaces, capture.chars);
  const bool whole = capture.text.size() == capture.bytes;
  SetSample(scan, compact, whole || all < kept ? 0 : all - kept);
}

Status NoteMalformed(const Scan& scan, const NdjsonSummary& summary) {
  if (summary.malformed == 0) return {};
  std::set<std::uint64_t> offsets;
  for (const JsonLineFault& fault : summary.faults) offsets.insert(fault.offset);
  DOSSIER_ASSIGN_OR_RETURN(Places places, FindPlaces(scan, offsets));
  std::string lines;
  for (const JsonLineFault& fault : summary.faults) {
    if (!lines.empty()) lines += "; ";
    lines +=
        fmt::format("line {}: {}", GroupDigits(places[fault.offset].line), FaultText(fault.fault));
  }
  if (summary.malformed > summary.faults.size()) {
    lines += fmt::format("; and {} more", GroupDigits(summary.malformed - summary.faults.size()));
  }
  AddNote(scan.out, "malformed",
          fmt::format("{} malformed {}: {}", GroupDigits(summary.malformed),
                      summary.malformed == 1 ? "line" : "lines", lines),
          places[summary.faults.front().offset]);
  return {};
}

Status TakeNdjson(const Scan& scan, const NdjsonScan& found) {
  Description& out = *scan.out;
  out.format = Format::kNdjson;
  out.certain = IsCertainNdjson(found.summary);
  out.records = RecordSummary{.records = found.summary.records,
                              .malformed = found.summary.malformed,
                              .non_object = found.summary.non_object,
                              .non_finite = found.summary.non_finite,
                              .exactness = scan.exactness()};
  SetFields(scan, found.fields);
  SetCapture(scan, found.sample);
  return NoteMalformed(scan, found.summary);
}

std::string FlavourOf(const JsonSummary& summary) {
  switch (summary.first_kind) {
    case JsonKind::kString:
      return "string";
    case JsonKind::kNumber:
      return "number";
    case JsonKind::kBoolean:
      return "boolean";
    case JsonKind::kNull:
      return "null";
    default:
      return summary.flavour;
  }
}

// Describes one document, whole or broken.
void TakeJson(const Scan& scan, const JsonScan& found) {
  Description& out = *scan.out;
  const JsonSummary& summary = found.summary;
  out.format = summary.first_kind == JsonKind::kArray ? Format::kJsonArray : Format::kJson;
  out.flavour = FlavourOf(summary);
  out.element_type = summary.element_type;
  const bool counted = out.format == Format::kJsonArray || !summary.flavour.empty();
  if (counted) {
    const bool whole = summary.fault == JsonFault::kNone && scan.complete;
    out.records = RecordSummary{.records = summary.elements,
                                .non_object = summary.non_object,
                                .non_finite = summary.non_finite,
                                .exactness = whole ? Exactness::kExact : Exactness::kBound};
  }
  // A document that is one string or number has no rows and thus no fields.
  const bool container =
      summary.first_kind == JsonKind::kObject || summary.first_kind == JsonKind::kArray;
  if (container) SetFields(scan, found.fields);
  SetCapture(scan, found.sample);
}

// An object whose single list contains the records is scanned again with them. A broken one is not,
// because another list could follow the fault.
Status TakeListOfObject(const Scan& scan, const JsonRecords& list) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(scan, JsonSequence::kNone, list));
  if (found.summary.fault != JsonFault::kNone || found.summary.elements == 0) return {};
  if (found.summary.non_object > 0) return {};
  scan.out->records_in = list.path;
  scan.out->records_key = list.key;
  scan.out->records = RecordSummary{.records = found.summary.elements,
                                    .non_finite = found.summary.non_finite,
                                    .exactness = scan.exactness()};
  SetFields(scan, found.fields);
  return {};
}

Status TakeBrokenJson(const Scan& scan, const JsonScan& found) {
  TakeJson(scan, found);
  DOSSIER_ASSIGN_OR_RETURN(const StoredPlace place, FindPlace(scan, found.summary.fault_offset));
  const bool deep = found.summary.fault == JsonFault::kTooDeep;
  AddNote(scan.out, deep ? "too-deep" : "broken", std::string(FaultText(found.summary.fault)),
          place);
  return {};
}

void TakeSequence(const Scan& scan, const JsonScan& found, Format format) {
  Description& out = *scan.out;
  out.format = format;
  out.certain = true;
  out.records = RecordSummary{.records = found.summary.values,
                              .non_object = found.summary.root_non_object,
                              .non_finite = found.summary.non_finite,
                              .exactness = scan.exactness()};
  SetFields(scan, found.fields);
  SetCapture(scan, found.sample);
}

Result<bool> DescribeJsonc(const Scan& scan) {
  JsoncFilter filter;
  JsonScanner scanner(scan.limits());
  DOSSIER_RETURN_IF_ERROR(ReadText(scan, 0, [&](std::string_view block) {
    scanner.Feed(filter.Take(block));
    return scanner.failed() ? ReadFlow::kStop : ReadFlow::kContinue;
  }));
  const JsonSummary& summary = scanner.Finish();
  const bool valid = summary.fault == JsonFault::kNone && summary.values == 1 &&
                     summary.only_containers && filter.changed() && filter.complete();
  if (!valid) return false;
  scan.out->format = Format::kJsonc;
  scan.out->certain = true;
  SetFields(scan, scanner.fields());
  SetCapture(scan, scanner.sample());
  return true;
}

// Returns true if one line may be an NDJSON file with one record. Not for an array: on one line it
// is a JSON file, just like one that spans lines.
bool IsOneLineRecord(const Scan& scan, const JsonSummary& summary) {
  return summary.first_kind == JsonKind::kObject &&
         scan.out->counts.lines - scan.out->counts.blank_lines == 1;
}

// Describes a file whose name says NDJSON.
Result<bool> DescribeNamedNdjson(const Scan& scan) {
  DOSSIER_ASSIGN_OR_RETURN(const NdjsonScan found, ScanNdjson(scan));
  // If a scan limit leaves no whole line, nothing contradicts the name.
  const bool unseen = !scan.complete && found.summary.head_lines == 0;
  if (unseen || HoldsShare(found.summary.head_valid, found.summary.head_lines, 50)) {
    DOSSIER_RETURN_IF_ERROR(TakeNdjson(scan, found));
    return true;
  }
  scan.out->format = Format::kUnknown;
  if (found.summary.faults.empty()) return true;
  const JsonLineFault& first = found.summary.faults.front();
  DOSSIER_ASSIGN_OR_RETURN(const StoredPlace place, FindPlace(scan, first.offset));
  AddNote(scan.out, "named-but-not",
          fmt::format("named {}, but line {} is not JSON: {}", scan.out->extension,
                      GroupDigits(place.line), FaultText(first.fault)),
          place);
  return true;
}

Result<bool> DescribeDocument(Scan* scan, bool lines_unknown) {
  const bool named_ndjson = scan->out->named_format == Format::kNdjson;
  const bool named_json = scan->out->named_format == Format::kJson;
  DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(*scan, JsonSequence::kNone));
  const JsonSummary& summary = found.summary;
  const bool stopped = !scan->complete && summary.fault == JsonFault::kUnexpectedEnd;
  const bool valid = summary.fault == JsonFault::kNone || stopped;
  const bool container = summary.only_containers && (summary.values > 0 || stopped);
  if (valid && summary.values <= 1 && (container || named_json)) {
    if (named_ndjson && IsOneLineRecord(*scan, summary)) return DescribeNamedNdjson(*scan);
    scan->out->certain = container;
    TakeJson(*scan, found);
    const bool whole = summary.fault == JsonFault::kNone && scan->complete;
    JsonRecords list = summary.list;
    if (const Description* like = scan->options.like; like && list.none()) {
      list = {like->records_in, like->records_key};
    }
    if (whole && summary.flavour.empty() && !list.none()) {
      DOSSIER_RETURN_IF_ERROR(TakeListOfObject(*scan, list));
      for (const ListBeside& other : summary.other_lists) {
        if (list.path != other.path && list.key.empty()) {
          scan->out->other_lists.push_back(other);
        }
      }
    }
    return true;
  }
  if ((valid && summary.values > 1) || lines_unknown) {
    DOSSIER_ASSIGN_OR_RETURN(const NdjsonScan lines, ScanNdjson(*scan));
    if (IsCertainNdjson(lines.summary)) {
      DOSSIER_RETURN_IF_ERROR(TakeNdjson(*scan, lines));
      return true;
    }
  }
  if (valid && summary.values > 1 && summary.only_containers) {
    TakeSequence(*scan, found, Format::kJsonConcat);
    return true;
  }
  DOSSIER_ASSIGN_OR_RETURN(const bool commented, DescribeJsonc(*scan));
  if (commented) return true;
  // It began as JSON and has a fault inside, or it never was JSON.
  const bool too_deep = summary.fault == JsonFault::kTooDeep;
  if ((named_json || too_deep) && summary.started_container) {
    DOSSIER_RETURN_IF_ERROR(TakeBrokenJson(*scan, found));
    return true;
  }
  return false;
}

Result<bool> DescribeSeparated(Scan* scan) {
  DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(*scan, JsonSequence::kRecordSeparator));
  const bool stopped = !scan->complete && found.summary.fault == JsonFault::kUnexpectedEnd;
  if (found.summary.values == 0 || (found.summary.fault != JsonFault::kNone && !stopped)) {
    return false;
  }
  TakeSequence(*scan, found, Format::kJsonSeq);
  return true;
}

}  // namespace

// A scan limit left fewer than two whole lines, too few for IsCertainNdjson: the part that was read
// of a file named NDJSON agrees with the name, or another value starts after the first line.
bool IsNdjsonSoFar(const Scan& scan, const NdjsonSummary& probe) {
  const bool few = !scan.complete && probe.head_lines < 2 && probe.malformed == 0;
  const std::string_view text = TrimSpace(scan.head);
  if (!few || text.empty()) return false;
  if (scan.out->named_format == Format::kNdjson) return true;
  const std::size_t end = text.find_first_of("\r\n");
  if (probe.records == 0 || end == std::string_view::npos) return false;
  const std::size_t second = text.find_first_not_of("\r\n\t ", end);
  return text[second] == '{' || text[second] == '[';
}

std::unique_ptr<NdjsonPlan> PlanNdjson(const Scan& scan) {
  const auto forced = scan.options.format;
  const std::string_view text = TrimSpace(scan.head);
  const bool named = forced == Format::kNdjson || scan.out->named_format == Format::kNdjson;
  if (text.empty() || (forced && !named)) return nullptr;
  if (!named && text.front() != '{' && text.front() != '[') return nullptr;
  auto plan = std::make_unique<NdjsonPlan>(scan.limits());
  plan->probe = ProbeNdjson(scan);
  // Everything that decides, and the samples, must be in the first part.
  const bool in_head =
      scan.head_ends == TextEnds::kHere || (plan->probe.head_lines == NdjsonSummary::kHeadLines &&
                                            plan->probe.records >= scan.options.sample_records);
  if (!in_head || !IsCertainNdjson(plan->probe)) return plan;
  NdjsonScanner first;
  first.SetEvents(&plan->fields, plan->fields.EventDepth(0), scan.options.sample_records);
  first.Capture(&plan->sample);
  plan->pass = std::make_unique<NdjsonPass>(scan.source, scan.stream, NdjsonRecords(first));
  return plan;
}

Result<bool> DescribeJson(Scan* scan) {
  const std::string_view text = TrimSpace(scan->head);
  if (text.empty()) return false;
  if (scan->head.front() == kRecordSeparator) return DescribeSeparated(scan);
  const bool named_ndjson = scan->out->named_format == Format::kNdjson;
  const bool named_json = scan->out->named_format == Format::kJson;
  const char first = text.front();
  const bool container = first == '{' || first == '[';
  if (!container && !named_ndjson && !named_json && first != '/') return false;

  const bool planned = scan->plan && scan->plan->ndjson;
  const NdjsonSummary probe = planned ? scan->plan->ndjson->probe : ProbeNdjson(*scan);
  if (IsCertainNdjson(probe)) {
    DOSSIER_ASSIGN_OR_RETURN(const NdjsonScan found, ScanNdjson(*scan));
    if (IsCertainNdjson(found.summary)) {
      DOSSIER_RETURN_IF_ERROR(TakeNdjson(*scan, found));
      return true;
    }
  }
  if (IsNdjsonSoFar(*scan, probe)) return DescribeNamedNdjson(*scan);
  const bool lines_unknown = probe.head_lines < 2 && scan->head_ends == TextEnds::kLater;
  if (container || named_json || first == '/') {
    DOSSIER_ASSIGN_OR_RETURN(const bool taken, DescribeDocument(scan, lines_unknown));
    if (taken) return true;
  }
  if (named_ndjson) return DescribeNamedNdjson(*scan);
  if (named_json) {
    DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(*scan, JsonSequence::kNone));
    DOSSIER_ASSIGN_OR_RETURN(const StoredPlace place, FindPlace(*scan, found.summary.fault_offset));
    scan->out->format = Format::kUnknown;
    AddNote(scan->out, "named-but-not",
            fmt::format("named {}, but the text is not JSON: {}", scan->out->extension,
                        FaultText(found.summary.fault)),
            place);
    return true;
  }
  return false;
}

Status DescribeForcedJson(Scan* scan, Format format) {
  switch (format) {
    case Format::kNdjson: {
      DOSSIER_ASSIGN_OR_RETURN(const NdjsonScan found, ScanNdjson(*scan));
      return TakeNdjson(*scan, found);
    }
    case Format::kJsonConcat:
    case Format::kJsonSeq: {
      const JsonSequence sequence =
          format == Format::kJsonSeq ? JsonSequence::kRecordSeparator : JsonSequence::kNone;
      DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(*scan, sequence));
      TakeSequence(*scan, found, format);
      return {};
    }
    case Format::kJsonc:
      DOSSIER_RETURN_IF_ERROR(DescribeJsonc(*scan));
      break;
    default: {
      DOSSIER_ASSIGN_OR_RETURN(const JsonScan found, ScanJson(*scan, JsonSequence::kNone));
      if (found.summary.fault != JsonFault::kNone) {
        DOSSIER_RETURN_IF_ERROR(TakeBrokenJson(*scan, found));
      } else {
        TakeJson(*scan, found);
      }
    }
  }
  scan->out->format = format;
  return {};
}

}  // namespace dossier::inspect
