#include "memory/search/ranking.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/random.h"
#include "memory/search/terms.h"

namespace dossier::memory {
namespace {

// Makes terms; the tokenizer of a store would give the same.
Connection& AnyConnection() {
  static Connection connection(*store::Database::Open(":memory:"));
  return connection;
}

struct Text {
  std::int64_t id = 0;
  Micros at = 0;
  std::uint32_t thread = 0;
  std::string text;
};

// A table of texts and the postings of any term in them.
class Shelf {
 public:
  explicit Shelf(const std::vector<Text>& texts) : table_(Rows(texts)) {
    for (const Text& text : texts) {
      for (const std::string& term : Terms(AnyConnection(), text.text)) {
        builders_.try_emplace(term, table_).first->second.Add(text.id);
      }
    }
  }

  const TextTable& table() const { return table_; }

  std::vector<const TermPostings*> Find(std::string_view query) {
    std::vector<const TermPostings*> found;
    for (const std::string& term : QueryTerms(AnyConnection(), query)) {
      auto [at, is_new] = postings_.try_emplace(term);
      if (is_new) {
        at->second = std::move(builders_.try_emplace(term, table_).first->second).Finish();
      }
      found.push_back(&at->second);
    }
    return found;
  }

  std::vector<WeightedList> Lists(std::string_view query,
                                  const std::vector<bool>* allowed = nullptr) {
    const auto terms = Find(query);
    return {{kRecordsWeight, BestTexts(table_, ScoredUnit::kRecord, terms, allowed)},
            {kWindowsWeight, BestTexts(table_, ScoredUnit::kWindow, terms, allowed)}};
  }

 private:
  static std::vector<TextRow> Rows(const std::vector<Text>& texts) {
    std::vector<TextRow> rows;
    for (const Text& text : texts) {
      rows.push_back(
          {.id = text.id,
           .at = text.at,
           .thread = text.thread,
           .length = static_cast<std::uint32_t>(CountTerms(AnyConnection(), text.text))});
    }
    return rows;
  }

  TextTable table_;
  std::map<std::string, PostingsBuilder> builders_;
  std::map<std::string, TermPostings> postings_;
};

const std::vector<Text>& ExampleTexts() {
  static const std::vector<Text> kTexts = {
      {1, 1, 1, "The build failed: the linker could not find libfftw3"},
      {2, 2, 1, "Installed fftw3 from source, then built again"},
      {3, 3, 1, "Run finished in 41 seconds"},
      {4, 4, 1, "The linker failed again after the upgrade of fftw3"}};
  return kTexts;
}
constexpr std::string_view kExampleQuery = "Why did the linker fail on fftw3?";

using Scores = std::vector<std::pair<std::int64_t, std::string>>;  // ids, printed scores
template <typename Ranked>
Scores Print(const TextTable& table, const std::vector<Ranked>& texts, int digits) {
  Scores scores;
  for (const auto& text : texts) {
    scores.emplace_back(table.id(text.text), fmt::format("{:.{}f}", text.score, digits));
  }
  return scores;
}

TEST(RankingTest, TheExampleOfTheSpecificationHasItsNumbers) {  // MEM-39, 40, 41, 43, MEM-T12
  Shelf shelf(ExampleTexts());
  const auto lists = shelf.Lists(kExampleQuery);
  EXPECT_EQ(Print(shelf.table(), lists[0].texts, 6),
            (Scores{{4, "1.922173"}, {1, "1.281449"}, {2, "0.712581"}}));
  EXPECT_EQ(Print(shelf.table(), lists[1].texts, 6),
            (Scores{{4, "0.347690"}, {3, "0.335655"}, {1, "0.331133"}, {2, "0.295906"}}));
  EXPECT_EQ(
      Print(shelf.table(), Fuse(shelf.table(), lists, 10), 9),
      (Scores{{4, "0.125000000"}, {1, "0.116883117"}, {2, "0.111660079"}, {3, "0.047619048"}}));
}

// The formula, literally: over whole texts, without postings, tables or shortcuts.
class PlainRanking {
 public:
  PlainRanking(std::vector<Text> texts, ScoredUnit unit) {
    std::ranges::sort(texts, {}, [](const Text& t) { return std::tuple(t.thread, t.at, t.id); });
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto in_thread = [&](std::size_t other) {
        return other < texts.size() && texts[i].thread != 0 &&
               texts[other].thread == texts[i].thread;
      };
      std::string words = texts[i].text;
      if (unit == ScoredUnit::kWindow && in_thread(i - 1)) words += " " + texts[i - 1].text;
      if (unit == ScoredUnit::kWindow && in_thread(i + 1)) words += " " + texts[i + 1].text;
      terms_[texts[i].id] = Terms(AnyConnection(), words);
      total_ += static_cast<double>(terms_[texts[i].id].size());
    }
  }

  double Score(std::int64_t id, std::string_view query) const {
    const double texts = static_cast<double>(terms_.size());
    double score = 0;
    for (const std::string& term : QueryTerms(AnyConnection(), query)) {
      double n = 0;
      for (const auto& [other, terms] : terms_) n += std::ranges::count(terms, term) > 0 ? 1 : 0;
      const std::vector<std::string>& terms = terms_.at(id);
      const auto f = static_cast<double>(std::ranges::count(terms, term));
      const double length = static_cast<double>(terms.size()) / (total_ / texts);
      score += std::log(1 + (texts - n + 0.5) / (n + 0.5)) * f * 2.2 /
               (f + 1.2 * (0.25 + 0.75 * length));
    }
    return score;
  }

 private:
  std::map<std::int64_t, std::vector<std::string>> terms_;
  double total_ = 0;
};

std::vector<Text> RandomTexts(Random& random) {
  constexpr std::string_view kWords[] = {"linker", "fftw3", "build", "node", "solver", "mesh"};
  std::vector<Text> texts;
  const std::uint64_t count = random.Below(40) + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    Text& text = texts.emplace_back();
    text.id = static_cast<std::int64_t>(i * 3 + 1);
    text.at = static_cast<Micros>(random.Below(20));
    text.thread = static_cast<std::uint32_t>(random.Below(4));
    const bool long_one = random.Below(30) == 0;  // counts that do not fit a byte
    for (std::uint64_t word = random.Below(8) + (long_one ? 900 : 0); word > 0; --word) {
      text.text += std::string(kWords[random.Below(long_one ? 2 : std::size(kWords))]) + " ";
    }
  }
  return texts;
}

TEST(RankingTest, ScoresAreThoseOfTheFormula) {  // MEM-39, MEM-40
  Random random(/*seed=*/3901);
  constexpr std::string_view kQuery = "linker solver mesh absent";
  for (int round = 0; round < 60; ++round) {
    const std::vector<Text> texts = RandomTexts(random);
    Shelf shelf(texts);
    const auto terms = shelf.Find(kQuery);
    for (const ScoredUnit unit : {ScoredUnit::kRecord, ScoredUnit::kWindow}) {
      const PlainRanking plain(texts, unit);
      std::set<std::int64_t> ranked;
      for (const RankedText& text : BestTexts(shelf.table(), unit, terms, nullptr)) {
        const std::int64_t id = shelf.table().id(text.text);
        EXPECT_NEAR(text.score, plain.Score(id, kQuery), 2e-9) << id;
        ranked.insert(id);
        double sum = 0;  // MEM-44
        for (const TermPostings* term : terms) {
          sum += ExplainPart(shelf.table(), unit, *term, text.text).part;
        }
        EXPECT_NEAR(text.score, sum, 1e-9) << id;
      }
      for (const Text& text : texts) {
        EXPECT_EQ(ranked.contains(text.id), plain.Score(text.id, kQuery) > 0) << text.id;
      }
    }
  }
}

TEST(RankingTest, OfManyTextsTheBestAreKept) {  // MEM-41, MEM-42
  std::vector<Text> texts;
  for (int id = 1; id <= 1000; ++id) {
    texts.push_back({id, 1000 - id, 0, id % 100 == 0 ? "fftw3 linker" : "linker"});
  }
  Shelf shelf(texts);
  const auto terms = shelf.Find("linker");
  const auto best = BestTexts(shelf.table(), ScoredUnit::kRecord, terms, nullptr);
  ASSERT_EQ(best.size(), kListLimit);
  std::int64_t id = 0;  // the shorter before the longer, the newer before the older
  for (const RankedText& text : best) {
    if (++id % 100 == 0) ++id;
    EXPECT_EQ(shelf.table().id(text.text), id);
  }
  std::vector<bool> allowed(shelf.table().size(), false);
  allowed[*shelf.table().Find(900)] = true;
  const auto filtered = BestTexts(shelf.table(), ScoredUnit::kRecord, terms, &allowed);
  ASSERT_EQ(filtered.size(), 1U);
  EXPECT_EQ(shelf.table().id(filtered[0].text), 900);
}

TEST(RankingTest, EqualScoresAreInOrderOfTimeThenId) {  // MEM-42, MEM-T13
  Shelf shelf(
      {{1, 50, 0, "linker"}, {2, 70, 0, "linker"}, {3, 70, 0, "linker"}, {4, 60, 0, "linker"}});
  std::vector<std::int64_t> ids;
  for (const FusedText& hit : Fuse(shelf.table(), shelf.Lists("linker"), 10)) {
    ids.push_back(shelf.table().id(hit.text));
  }
  EXPECT_EQ(ids, (std::vector<std::int64_t>{3, 2, 4, 1}));
}

TEST(RankingTest, ATermInEveryTextStillCounts) {  // MEM-39
  Shelf shelf({{1, 1, 0, "linker failed"}, {2, 2, 0, "linker"}});
  EXPECT_GT(Idf(2, 2), 0);
  EXPECT_EQ(BestTexts(shelf.table(), ScoredUnit::kRecord, shelf.Find("linker"), nullptr).size(),
            2U);
}

TEST(RankingTest, OneListIsEnoughAndFurtherListsAdd) {  // MEM-41, MEM-45
  Shelf shelf(ExampleTexts());
  auto lists = shelf.Lists(kExampleQuery);
  lists.push_back({1.0, {{*shelf.table().Find(3), 0.9}}});
  const auto fused = Fuse(shelf.table(), lists, 10);
  EXPECT_EQ(
      Print(shelf.table(), fused, 9),
      (Scores{{4, "0.125000000"}, {1, "0.116883117"}, {2, "0.111660079"}, {3, "0.097619048"}}));
  EXPECT_EQ(fused[3].ranks, (std::vector<std::optional<std::size_t>>{std::nullopt, 1, 0}));
  EXPECT_EQ(Fuse(shelf.table(), lists, 2).size(), 2U);
  EXPECT_TRUE(Fuse(shelf.table(), {}, 10).empty());
}

TEST(TextTableTest, IdsAreFoundInAnyOrder) {
  Random random(/*seed=*/3902);
  for (int round = 0; round < 100; ++round) {
    std::vector<TextRow> rows;
    std::set<std::int64_t> ids;
    for (std::uint64_t i = random.Below(60); i > 0; --i) {
      ids.insert(static_cast<std::int64_t>(random.Below(200)) - 20);
    }
    for (const std::int64_t id : ids) {
      rows.push_back({.id = id, .at = static_cast<Micros>(random.Below(9)), .thread = 1});
    }
    const TextTable table(rows);
    IdCursor cursor(table);
    for (int look = 0; look < 100; ++look) {
      const std::int64_t id = static_cast<std::int64_t>(random.Below(220)) - 30;
      const auto text = cursor.Find(id);
      ASSERT_EQ(text.has_value(), ids.contains(id)) << id;
      if (text) {
        EXPECT_EQ(table.id(*text), id);
      }
    }
  }
}

}  // namespace
}  // namespace dossier::memory
