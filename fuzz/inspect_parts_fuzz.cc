// Records scanned in two parts, with the border anywhere, against the same records in one.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inspect/records/record_passes.h"

namespace {

template <typename Pass>
typename Pass::Summary InTwoParts(Pass* pass, std::string_view text, std::size_t cut) {
  for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>(0, cut), {cut, text.size()}}) {
    auto part = pass->Start(from, to);
    part->Feed(text.substr(from, to - from));
    if (part->open()) part->FeedTail(text.substr(to, 64));
    if (part->open() && to + 64 >= text.size()) part->EndText();
    pass->Join(std::move(part));
  }
  return *pass->Take(dossier::inspect::TextEnds::kHere);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::inspect;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = (data[0] | data[1] << 8) % (text.size() + 1);
  const auto source = MemorySource(text, "");

  const CsvScanOptions options{.columns = 2};
  CsvScanner rows(options);
  rows.Feed(text);
  TablePass table(*source, {}, TableRecords(options));
  const CsvSummary& whole_rows = rows.Finish();
  const CsvSummary part_rows = InTwoParts(&table, text, cut);
  if (part_rows.rows != whole_rows.rows || part_rows.ragged != whole_rows.ragged ||
      part_rows.stray_quotes != whole_rows.stray_quotes ||
      part_rows.open_quote.has_value() != whole_rows.open_quote.has_value()) {
    std::abort();
  }

  NdjsonScanner lines;
  lines.Feed(text);
  NdjsonPass ndjson(*source, {}, NdjsonRecords(NdjsonScanner()));
  const NdjsonSummary& whole_lines = lines.Finish();
  const NdjsonSummary part_lines = InTwoParts(&ndjson, text, cut);
  if (part_lines.records != whole_lines.records || part_lines.malformed != whole_lines.malformed ||
      part_lines.faults.size() != whole_lines.faults.size()) {
    std::abort();
  }
  return 0;
}
