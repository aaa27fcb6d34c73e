#include "inspect/describe/scan.h"

#include <algorithm>

#include "base/text/redact.h"
#include "base/text/utf8.h"
#include "inspect/description/clean.h"
#include "inspect/text/text_counter.h"

namespace dossier::inspect {

Status ReadText(const Scan& scan, std::uint64_t skip,
                const std::function<ReadFlow(std::string_view)>& take) {
  TextStream stream(scan.source, scan.stream);
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(std::string_view block, stream.Next());
    if (block.empty()) return {};
    if (skip >= block.size()) {
      skip -= block.size();
      continue;
    }
    block.remove_prefix(static_cast<std::size_t>(skip));
    skip = 0;
    if (take(block) == ReadFlow::kStop) return {};
  }
}

Result<Places> FindPlaces(const Scan& scan, const std::set<std::uint64_t>& decoded_offsets) {
  Places places;
  TextStream stream(scan.source, scan.stream);
  LineSummary lines;
  std::uint64_t seen = 0;  // decoded bytes before the block
  auto wanted = decoded_offsets.begin();
  while (wanted != decoded_offsets.end()) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string_view block, stream.Next());
    std::size_t at = 0;  // counted so far
    for (; wanted != decoded_offsets.end() && (block.empty() || *wanted <= seen + block.size());
         ++wanted) {
      const auto inside = static_cast<std::size_t>(std::min(*wanted - seen, block.size()));
      lines.Append(CountText(block.substr(at, inside - at)).lines);
      at = inside;
      places[*wanted] = {.offset = block.empty() ? stream.position() : stream.StoredOffset(inside),
                         .line = lines.lf + lines.crlf + lines.lone_cr() + 1};
    }
    lines.Append(CountText(block.substr(at)).lines);
    seen += block.size();
  }
  return places;
}

Result<StoredPlace> FindPlace(const Scan& scan, std::uint64_t decoded_offset) {
  DOSSIER_ASSIGN_OR_RETURN(Places places, FindPlaces(scan, {decoded_offset}));
  return places[decoded_offset];
}

RecordPlan PlanRecords(const Scan& scan) {
  RecordPlan plan;
  plan.ndjson = PlanNdjson(scan);
  if (!plan.pass()) plan.table = PlanTable(scan);
  // Stanzas and logs take precedence over a table that is not certain, as in Describe.
  const bool sure = plan.table && plan.table->guess.certain;
  if (!plan.pass() || (IsLeftToContent(scan) && !sure)) plan.count = PlanCount(scan);
  if (plan.count && plan.table) plan.table->pass.reset();
  return plan;
}

bool IsLeftToContent(const Scan& scan) {
  if (scan.options.format) return false;
  const auto named = scan.out->named_format;
  return !named || *named == Format::kPlainText || *named == Format::kLog;
}

void AddNote(Description* out, std::string code, std::string text) {
  out->notes.push_back({std::move(code), std::nullopt, std::nullopt, std::move(text)});
}

void AddNote(Description* out, std::string code, std::string text, const StoredPlace& place) {
  out->notes.push_back({std::move(code), place.offset, place.line, std::move(text)});
}

void SetFields(const Scan& scan, const FieldCollector& collector) {
  FieldTable table = collector.Build(scan.options.fields);
  scan.out->fields = std::move(table.fields);
  scan.out->fields_total = table.total;
  scan.out->main_text_field = std::move(table.main_text_field);
  if (scan.out->records) scan.out->records->first_alone = table.first_alone;
  if (table.duplicate_keys) {
    AddNote(scan.out, "duplicate-keys", "a name occurs twice in one object; it is listed once");
  }
}

namespace {

// Adds a note with the value's position in the file, if it is in the head.
void NoteRedacted(const Scan& scan, std::string_view value, std::string_view kind) {
  const std::size_t at = scan.head.find(value);
  Note note{"redacted", std::nullopt, std::nullopt, fmt::format("{} in the sample", kind)};
  if (at != std::string_view::npos) {
    const Secret secret{at, value.size(), kind};
    note.line = LinesOf(scan.head, {&secret, 1}).front();
    note.text = fmt::format("line {}: {} in the sample", *note.line, kind);
  }
  scan.out->notes.push_back(std::move(note));
}

}  // namespace

void SetSample(const Scan& scan, std::string_view text, std::uint64_t chars_behind) {
  // Secrets are removed first: a cut could make one unrecognizable and leave most of it.
  const std::vector<Secret> secrets = FindSecrets(text);
  const std::string clean = CleanText(Redact(text, secrets));
  for (const Secret& secret : secrets)
    NoteRedacted(scan, text.substr(secret.offset, secret.length), secret.kind);
  scan.out->sample_full_chars = utf8::CodePoints(clean) + chars_behind;
  if (scan.options.sample_chars == 0) return;
  CutResult cut = CutText(clean, scan.options.sample_chars);
  scan.out->sample = std::move(cut.text);
  scan.out->sample_cut = cut.cut || chars_behind > 0;
}

}  // namespace dossier::inspect
