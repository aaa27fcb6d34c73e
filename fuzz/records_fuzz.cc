// Record index and reader over any bytes: ranges lie in order inside the text, a record is found
// again from its own start, and every row is valid JSON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "inspect/records/record_json.h"
#include "inspect/records/record_reader.h"

namespace {

using dossier::inspect::ByteRange;
using dossier::inspect::Description;
using dossier::inspect::Format;

constexpr Format kFormats[] = {
    Format::kNdjson, Format::kJsonArray, Format::kJsonSeq, Format::kJsonConcat, Format::kJson,
    Format::kCsv,    Format::kTsv,       Format::kDeb822,  Format::kLog,        Format::kCalendar,
    Format::kLedger, Format::kXml,       Format::kHtml,    Format::kMail,       Format::kIni};

Description DescriptionOf(Format format) {
  Description description;
  description.format = format;
  description.flavour = "geojson";
  description.log_shape = "logfmt";
  description.records.emplace();
  if (format == Format::kTsv) description.table = {.delimiter = '\t', .header = false};
  return description;
}

void CheckRanges(std::string_view text, const dossier::inspect::RecordIndex& index) {
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < index.count(); ++i) {
    const auto range = index.Locate(i);
    if (!range || range->begin < end || range->end <= range->begin) std::abort();
    if (range->end > text.size()) std::abort();
    end = range->end;
    std::size_t position = range->begin;
    ByteRange again;
    if (!index.Next(&position, &again) || again != *range) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Format format : kFormats) {
    auto reader = dossier::inspect::RecordReader::Open(text, DescriptionOf(format));
    if (!reader) std::abort();
    if (reader->count() <= 200) CheckRanges(text, reader->index());
    std::uint64_t next = 0;
    const auto rows = reader->ReadJson(0, reader->count(), 1 << 20, &next);
    // The list around a record of the deepest nesting is one level too deep for the check.
    if (!rows || (size < 1000 && !dossier::inspect::IsJsonValue(*rows))) std::abort();
  }
  return 0;
}
