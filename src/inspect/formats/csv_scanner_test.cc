#include "inspect/formats/csv_scanner.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/utf8_kernels.h"
#include "inspect/formats/csv_kernels.h"

namespace dossier::inspect {
namespace {

std::string MakeText(Random& random, std::string_view alphabet, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += alphabet[random.Below(alphabet.size())];
  return text;
}

TEST(CsvScannerTest, TheFastKernelEqualsTheScalarOne) {  // INS-12
  if (!utf8::internal::HasAvx2()) GTEST_SKIP() << "no AVX2 here";
  Random random(67);
  const std::string text = MakeText(random, "ab\",;\t|\n\r", 2000) + random.Bytes(500);
  for (const char delimiter : {',', ';', '\t', '|'}) {
    for (std::size_t at = 0; at + 64 <= text.size(); ++at) {
      const auto scalar = internal::FindCsvScalar(text.data() + at, delimiter);
      const auto fast = internal::FindCsvAvx2(text.data() + at, delimiter);
      ASSERT_EQ(fast.quotes, scalar.quotes);
      ASSERT_EQ(fast.others, scalar.others);
    }
  }
}

TEST(CsvScannerTest, AnySplitGivesTheSameSummary) {  // INS-60
  Random random(71);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = MakeText(random, "ab\"\",,\n\r", random.Below(200));
    CsvScanner whole({.columns = 2}), split({.columns = 2});
    whole.Feed(text);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t piece = 1 + random.Below(70);
      split.Feed(std::string_view(text).substr(at, piece));
      at += piece;
    }
    const CsvSummary a = whole.Finish(), b = split.Finish();
    ASSERT_EQ(a.rows, b.rows) << text;
    ASSERT_EQ(a.ragged, b.ragged) << text;
    ASSERT_EQ(a.stray_quotes, b.stray_quotes) << text;
    ASSERT_EQ(a.open_quote.has_value(), b.open_quote.has_value()) << text;
    ASSERT_EQ(a.open_quote.value_or(CsvFault{}).offset, b.open_quote.value_or(CsvFault{}).offset);
  }
}

TEST(CsvScannerTest, WrittenCellsAreReadBack) {  // INS-60, INS-T6
  Random random(73);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::vector<std::string>> rows(1 + random.Below(5));
    std::string text;
    for (auto& row : rows) {
      row.resize(2 + random.Below(3));
      for (std::string& cell : row) {
        cell = MakeText(random, "xy\",\n ", random.Below(8));
        std::string quoted = "\"";
        for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
        const bool plain = !cell.empty() && cell.find_first_of("\",\n") == std::string::npos;
        text += (&cell == &row.front() ? "" : ",") + (plain ? cell : quoted + "\"");
      }
      text += random.Below(2) == 0 ? "\n" : "\r\n";
    }
    CsvScanner scanner({});
    scanner.Feed(text);
    ASSERT_EQ(scanner.Finish().rows, rows.size()) << text;
    ASSERT_EQ(scanner.Finish().stray_quotes, 0u) << text;
    const std::vector<CsvRow> parsed = ParseCsv(text, ',', 100, TextEnds::kHere);
    ASSERT_EQ(parsed.size(), rows.size()) << text;
    for (std::size_t r = 0; r < rows.size(); ++r) ASSERT_EQ(parsed[r].cells, rows[r]) << text;
  }
}

}  // namespace
}  // namespace dossier::inspect
