// The CSV scanner: any split of the text gives the same summary, and well-formed text as many rows
// as the parser of the head finds.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "inspect/formats/csv_scanner.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::inspect;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const CsvScanOptions options{
      .delimiter = ',', .columns = data[0] % 4u, .comment = (data[0] & 4) != 0 ? "#" : ""};
  CsvScanner whole(options), split(options);
  whole.Feed(text);
  const std::size_t piece = 1 + data[1];
  for (std::size_t at = 0; at < text.size(); at += piece) split.Feed(text.substr(at, piece));
  const CsvSummary& a = whole.Finish();
  const CsvSummary& b = split.Finish();
  if (a.rows != b.rows || a.ragged != b.ragged || a.stray_quotes != b.stray_quotes ||
      a.comments != b.comments || a.open_quote.has_value() != b.open_quote.has_value()) {
    std::abort();
  }
  if (a.stray_quotes > 0 || a.open_quote) return 0;
  const CsvComments comments{.mark = options.comment};
  if (ParseCsv(text, ',', text.size() + 1, TextEnds::kHere, comments).size() != a.rows)
    std::abort();
  return 0;
}
