#include "inspect/records/record_passes.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/json/json.h"
#include "base/random.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"

namespace dossier::inspect {
namespace {

// Bytes that a part may read after its chunk.
constexpr std::size_t kTail = 40;

// The chunks between `cuts`, each by a part of its own, as the counting pass does it.
template <typename Pass>
typename Pass::Summary ScanInParts(Pass* pass, std::string_view text, std::vector<std::size_t> cuts,
                                   Random* random) {
  cuts.push_back(text.size());
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    auto part = pass->Start(from, to);
    for (std::size_t at = from; at < to;) {
      const std::size_t piece = std::min<std::size_t>(1 + random->Below(90), to - at);
      part->Feed(text.substr(at, piece));
      at += piece;
    }
    std::size_t at = to;
    while (part->open() && at < std::min(text.size(), to + kTail)) {
      part->FeedTail(text.substr(at, 7));
      at += 7;
    }
    if (part->open() && at >= text.size()) part->EndText();
    pass->Join(std::move(part));
    from = to;
  }
  return *pass->Take(TextEnds::kHere);
}

std::string Shown(const CsvSummary& summary) {
  std::string out = fmt::format("{} rows, {} ragged, {} stray", summary.rows, summary.ragged,
                                summary.stray_quotes);
  for (const CsvFault& fault : summary.ragged_rows) {
    out += fmt::format(" r{}:{}", fault.offset, fault.cells);
  }
  if (summary.first_stray) out += fmt::format(" s{}", summary.first_stray->offset);
  if (summary.open_quote) out += fmt::format(" o{}", summary.open_quote->offset);
  return out;
}

std::string Shown(const NdjsonSummary& summary) {
  std::string out = fmt::format("{} records, {} malformed, {} other", summary.records,
                                summary.malformed, summary.non_object);
  for (const JsonLineFault& fault : summary.faults) {
    out += fmt::format(" {}:{}", fault.offset, FaultText(fault.fault));
  }
  return out;
}

std::string Pick(Random& random, std::span<const std::string_view> pieces, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += pieces[random.Below(pieces.size())];
  return text;
}

constexpr std::string_view kCsvPieces[] = {
    "a,b\n", "1,\"x\ny\"\r\n", "\"q\"\"q\",2\n", "3\n", "\"\n,\n\n\",4\r\n", "5,6\r", "x\"y,7\n",
    "\n"};
constexpr std::string_view kHostilePieces[] = {"\"", ",", "\n", "\r", "a", "\"\"", "\r\n", "b,c\n"};
constexpr std::string_view kJsonPieces[] = {
    "{\"a\":1}\n", "{\"a\":\"x\"}\r\n", "[1]\r",          "\n", " \n", "broken\n", "7\n",
    "{\"a\":\n",   "{\"b\":{}} \n",     "{\"c\":1} x\r\n"};

constexpr std::string_view kStanzaPieces[] = {"Name: a\n", "Size: 7\r\n", " more: of it\n",
                                              "\n",        " \t\r\n",     "# note\n",
                                              "  \n",      "x\r",         "B: c\r"};
constexpr std::string_view kLogPieces[] = {
    "2026-11-22T12:00:00Z INFO began\n",
    "2026-11-22T12:00:01Z ERROR 2026-11-22T12:00:01Z INFO x\r\n",
    "  at 2026-11-22T12:00:00Z INFO a\n",
    "\n",
    "2026-11-22T12:00:02Z WARN slow\r",
    "\r\n"};

class PassesTest : public ::testing::Test {
 protected:
  void CheckTable(std::string text, const std::vector<std::size_t>& cuts) {
    text.insert(0, "x,y\n");
    const CsvScanOptions options{.columns = 2, .skip_rows = 1};
    CsvScanner whole(options);
    whole.Feed(text);
    const auto source = MemorySource(text, "");
    TablePass pass(*source, {}, TableRecords(options));
    const CsvSummary summary = ScanInParts(&pass, text, cuts, &random_);
    ASSERT_EQ(Shown(summary), Shown(whole.Finish())) << ::testing::PrintToString(text);
    wrong_guesses_ += pass.wrong_guesses();
  }

  void CheckNdjson(const std::string& text, const std::vector<std::size_t>& cuts) {
    NdjsonScanner whole;
    whole.Feed(text);
    const auto source = MemorySource(text, "");
    NdjsonPass pass(*source, {}, NdjsonRecords(NdjsonScanner()));
    const NdjsonSummary summary = ScanInParts(&pass, text, cuts, &random_);
    ASSERT_EQ(Shown(summary), Shown(whole.Finish())) << ::testing::PrintToString(text);
  }

  void CheckCount(const std::string& text, const std::vector<std::size_t>& cuts,
                  const CountedRecords::MakeCounter& make) {
    const auto whole = make(CountFrom::kRecord);
    whole->Feed(text);
    const auto source = MemorySource(text, "");
    CountPass pass(*source, {}, CountedRecords(make));
    const CountSummary summary = ScanInParts(&pass, text, cuts, &random_);
    ASSERT_EQ(summary.records, whole->Finish()) << ::testing::PrintToString(text);
    wrong_guesses_ += pass.wrong_guesses();
  }
  void CheckStanzas(const std::string& text, const std::vector<std::size_t>& cuts) {
    CheckCount(text, cuts, MakeDeb822Counter);
  }
  void CheckLog(const std::string& text, const std::vector<std::size_t>& cuts) {
    CheckCount(text, cuts, [](CountFrom) { return MakeLogCounter("timestamp-level"); });
  }

  Random random_{83};
  std::uint64_t wrong_guesses_ = 0;
};

TEST_F(PassesTest, ABorderAtAnyByteChangesNothing) {  // INS-12, INS-51, INS-60
  for (int round = 0; round < 40; ++round) {
    const std::string table = Pick(random_, kCsvPieces, 120);
    const std::string hostile = Pick(random_, kHostilePieces, 60);
    const std::string lines = Pick(random_, kJsonPieces, 120);
    for (std::size_t cut = 0; cut <= 120; ++cut) {
      CheckTable(table, {cut});
      if (cut <= hostile.size()) CheckTable(hostile, {cut});
      CheckNdjson(lines, {cut});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PassesTest, ABorderAtAnyByteChangesNoCountOfStanzasOrLogLines) {  // INS-12, INS-140, INS-141
  for (int round = 0; round < 100; ++round) {
    const std::string stanzas = Pick(random_, kStanzaPieces, 150);
    const std::string log = Pick(random_, kLogPieces, 150);
    for (std::size_t cut = 0; cut <= 150; ++cut) {
      CheckStanzas(stanzas, {cut});
      CheckLog(log, {cut});
      CheckStanzas(stanzas, {cut / 3, cut / 2, cut});
      CheckLog(log, {cut / 3, cut / 2, cut});
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(wrong_guesses_, 0u) << "a rest of a line that looks blank is taken for an end";
}

TEST_F(PassesTest, ManyPartsOfAnySizeGiveTheSameSum) {  // INS-12
  for (int round = 0; round < 1500; ++round) {
    const std::string table =
        Pick(random_, round % 2 == 0 ? kCsvPieces : kHostilePieces, random_.Below(500));
    const std::string lines = Pick(random_, kJsonPieces, random_.Below(500));
    std::vector<std::size_t> cuts;
    const std::size_t most = 1 + random_.Below(90);
    for (std::size_t at = 0; at < std::min(table.size(), lines.size());) {
      cuts.push_back(at);
      at += random_.Below(most) + 1;
    }
    CheckTable(table, cuts);
    CheckNdjson(lines, cuts);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(wrong_guesses_, 0u) << "nothing here was ever guessed wrongly";
}

TEST_F(PassesTest, APartThatBeginsInAQuotedCellIsRecognized) {  // INS-60
  std::string text = "id,note\n";
  for (int i = 0; i < 2000; ++i) text += "1,\"one line\nand, yes, one more\"\n";
  const auto source = MemorySource(text, "");
  TablePass pass(*source, {}, TableRecords({.columns = 2, .skip_rows = 1}));
  std::vector<std::size_t> cuts;
  for (std::size_t at = 1000; at < text.size(); at += 997) cuts.push_back(at);
  EXPECT_EQ(ScanInParts(&pass, text, cuts, &random_).rows, 2001u);
  // If a border separates a quote from its delimiter, both guesses are wrong: that may happen.
  EXPECT_LT(pass.wrong_guesses(), cuts.size() / 4);
}

std::string Described(const std::string& text, const std::string& name, const Options& options) {
  const auto source = MemorySource(text, name);
  return dossier::ToJson(ToJson(*Describe(*source, options, {})));
}

TEST(RecordPlanTest, ALargeFileDescribesAsItDoesReadTwice) {  // INS-12, INS-52, INS-63, INS-68
  Random random(89);
  std::string lines, table = "id,note\n";
  while (lines.size() < (9u << 20)) {
    lines += random.Below(30000) == 0
                 ? "broken\n"
                 : "{\"a\":\"" + std::string(random.Below(90), 'x') + "\"}\r\n";
  }
  while (table.size() < (9u << 20)) {
    table += random.Below(30000) == 0
                 ? "ragged\r\n"
                 : "7,\"a\nb, \"\"c\"\"" + std::string(random.Below(90), 'y') + "\"\n";
  }
  const std::string open = table + "8,\"never closed\n" + "9,x\n";
  std::string stanzas, log;
  while (stanzas.size() < (9u << 20)) {
    stanzas += "Package: p\nDescription: " + std::string(random.Below(90), 'x') + "\n more\n" +
               (random.Below(9) == 0 ? "Size: 7\n" : "\n");
  }
  while (log.size() < (9u << 20)) {
    log += random.Below(9) == 0
               ? "  at a place\r\n"
               : "2026-11-22T12:00:00Z INFO " + std::string(random.Below(90), 'y') + "\n";
  }
  struct Case {
    const std::string& text;
    std::string name;
  };
  for (const Case& c : {Case{lines, "a.ndjson"},
                        {table, "a.csv"},
                        {open, "b.csv"},
                        {lines, "c"},
                        {table, "d.txt"},
                        {stanzas, "status"},
                        {log, "e.log"},
                        {log, "e"}}) {
    // A limit that is not reached switches the plan off.
    const std::string twice =
        Described(c.text, c.name, {.max_scan = c.text.size() + 1, .threads = 1});
    for (const int threads : {1, 2, 8}) {
      EXPECT_EQ(Described(c.text, c.name, {.threads = threads}), twice) << c.name << " " << threads;
    }
    EXPECT_EQ(Described(c.text, c.name, {.threads = 2, .block_bytes = 4099}), twice) << c.name;
  }
}

// Counts what is read of a text.
class CountedSource final : public ByteSource {
 public:
  CountedSource(const std::string& text, const std::string& name)
      : source_(MemorySource(text, name)) {}
  const std::string& name() const override { return source_->name(); }
  std::optional<std::uint64_t> size() const override { return source_->size(); }
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    auto got = source_->ReadAt(offset, out);
    if (got) read_ += *got;
    return got;
  }
  std::uint64_t read() const { return read_; }

 private:
  const std::unique_ptr<ByteSource> source_;
  mutable std::atomic<std::uint64_t> read_{0};
};

TEST(RecordPlanTest, ALargeTextIsReadOnce) {  // INS-12
  struct Case {
    std::string_view record;
    const char* name;
    Format format;
  };
  for (const Case& c : {Case{"{\"a\":1,\"b\":\"x\"}\n", "a.ndjson", Format::kNdjson},
                        {"1,x,3\n", "a.csv", Format::kCsv},
                        {"Package: a\nSize: 7\n\n", "status", Format::kDeb822},
                        {"2026-11-22T12:00:00Z INFO served\n", "a.log", Format::kLog}}) {
    std::string text;
    while (text.size() < (16u << 20)) text += c.record;
    const CountedSource source(text, c.name);
    const auto described = Describe(source, {.threads = 2}, {});
    ASSERT_TRUE(described.has_value());
    EXPECT_EQ(described->format, c.format);
    EXPECT_EQ(described->records->records, text.size() / c.record.size()) << c.name;
    EXPECT_LT(source.read(), text.size() + (4u << 20)) << c.name << ": the head and nothing more";
  }
}

TEST(RecordPlanTest, WhatTheHeadPromisesWronglyIsNotBelieved) {  // INS-9, INS-32
  // NDJSON and a table whose second part is not UTF-8, and NDJSON that is broken after its head.
  const std::string line = "{\"a\":\"" + std::string(900, 'x') + "\"}\n";
  std::string latin, broken;
  for (int i = 0; i < 6000; ++i) latin += i == 5500 ? "{\"a\":\"caf\xE9\"}\n" : line;
  for (int i = 0; i < 6000; ++i) broken += i < 3000 ? line : "no JSON\n";
  for (const std::string& text : {latin, broken}) {
    const std::string twice =
        Described(text, "a.ndjson", {.max_scan = text.size() + 1, .threads = 1});
    EXPECT_EQ(Described(text, "a.ndjson", {.threads = 2}), twice);
  }
}

}  // namespace
}  // namespace dossier::inspect
