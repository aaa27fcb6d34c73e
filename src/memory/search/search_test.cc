#include "memory/search/search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/random.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

using Ids = std::vector<std::int64_t>;

std::vector<Hit> Search(const View& view, const Query& query) {
  auto hits = view.Search(query);
  EXPECT_THAT(hits, Succeeds()) << query.text;
  return hits ? *std::move(hits) : std::vector<Hit>();
}

Ids IdsOf(const std::vector<Hit>& hits) {
  Ids ids;
  for (const Hit& hit : hits) ids.push_back(hit.record.id);
  return ids;
}

Ids Find(TestStore& store, std::string_view query) {
  return IdsOf(Search(store.View(), {.text = std::string(query)}));
}

// Returns everything in a hit, with all digits.
std::string PrintHits(const std::vector<Hit>& hits) {
  std::string out;
  for (const Hit& hit : hits) {
    out += fmt::format("#{} {} {:a}\n", hit.record.id, hit.record.text, hit.score);
    for (const ListPlace& place : hit.places) {
      out += fmt::format("  {} {} {:a} {:a} {} {:a} {}\n", place.list, place.rank, place.score,
                         place.part, place.length, place.average_length, place.texts);
      for (const TermPart& term : place.terms) {
        out +=
            fmt::format("    {} {} {} {:a} {:a}\n", term.term, term.f, term.n, term.idf, term.part);
      }
    }
  }
  return out;
}

std::int64_t AddText(TestStore& store, std::string_view text, Record record = {},
                     std::string_view branch = kRootBranch) {
  record.text = text;
  const auto added = store.Add(record, branch);
  EXPECT_THAT(added, Succeeds()) << text;
  return added ? added->id : 0;
}

Status AddTo(BranchTransaction& session, const Record& record) {
  const auto added = session.Add(record);
  return added ? Status() : tl::unexpected(added.error());
}

constexpr std::string_view kExampleTexts[] = {
    "The build failed: the linker could not find libfftw3",
    "Installed fftw3 from source, then built again",
    "Run finished in 41 seconds",
    "The linker failed again after the upgrade of fftw3",
};
constexpr std::string_view kSearchQuery = "Why did the linker fail on fftw3?";

void AddExample(TestStore& store, std::string_view branch = kRootBranch) {
  for (const std::string_view text : kExampleTexts) {
    AddText(store, text, {.tier = Tier::kRecall, .thread = "s1"}, branch);
    ++store.clock().now;
  }
}

void ExpectTheExample(const std::vector<Hit>& hits) {
  std::string scores;
  for (const Hit& hit : hits) {
    scores += fmt::format("#{} {:.9f}", hit.record.id, hit.score);
    for (const ListPlace& place : hit.places) {
      scores += fmt::format(", {} {}: {:.6f}", place.list, place.rank, place.score);
    }
    scores += "\n";
  }
  EXPECT_EQ(scores,
            "#4 0.125000000, records 0: 1.922173, windows 0: 0.347690\n"
            "#1 0.116883117, records 1: 1.281449, windows 2: 0.331133\n"
            "#2 0.111660079, records 2: 0.712581, windows 3: 0.295906\n"
            "#3 0.047619048, windows 1: 0.335655\n");
}

TEST(SearchTest, TheExampleOfTheSpecificationHasItsNumbers) {  // MEM-43, MEM-T12
  TestStore store;
  AddExample(store);
  ExpectTheExample(Search(store.View(), {.text = std::string(kSearchQuery)}));
}

TEST(SearchTest, WhatAViewDoesNotShowMovesNoScore) {  // MEM-5, MEM-39, MEM-T12
  TestStore store;
  AddExample(store);
  ASSERT_THAT(store->Fork("root", "child", {}), Succeeds());
  ASSERT_THAT(store->Fork("root", "sibling", {}), Succeeds());
  const auto fill = [&](std::string_view branch) {
    ASSERT_THAT(store.In(branch,
                         [&](BranchTransaction& session) -> Status {
                           for (int i = 0; i < 1000; ++i) {
                             Record record{.tier = Tier::kRecall, .thread = "s1"};
                             record.text = fmt::format("the linker fails on fftw3, says {}", i);
                             record.at = StandingClock::kStart + i % 4;
                             DOSSIER_RETURN_IF_ERROR(AddTo(session, record));
                           }
                           return {};
                         }),
                Succeeds());
  };
  fill("sibling");
  ExpectTheExample(Search(store.View("child"), {.text = std::string(kSearchQuery)}));
  const View before = store.View();
  fill("root");  // later writes
  ExpectTheExample(Search(before, {.text = std::string(kSearchQuery)}));
  ExpectTheExample(Search(store.View("child"), {.text = std::string(kSearchQuery)}));
  const auto newer = AddText(store, "The linker is gold", {}, "child");
  ASSERT_THAT(
      store.In("child", [&](BranchTransaction& session) { return session.DeleteArchival(newer); }),
      Succeeds());
  ExpectTheExample(Search(store.View("child"), {.text = std::string(kSearchQuery)}));
}

TEST(SearchTest, WithoutTheIndexTheScoresAreTheSame) {  // MEM-37, 5.1
  TestStore indexed;
  StoreOptions options;
  options.use_fts = UseFts::kOff;
  TestStore scanned(options);
  Random random(/*seed=*/4101);
  constexpr std::string_view kWords[] = {"linker", "failed", "fails", "build",  "東京都",
                                         "naïve",  "Naive",  "mesh",  "solver", "it's"};
  const auto words = [&](std::uint64_t count) {
    std::string text = "x";
    for (; count > 0; --count) {
      text += " " + std::string(kWords[random.Below(std::size(kWords))]);
    }
    return text;
  };
  for (int i = 0; i < 200; ++i) {
    const Record record{.tier = random.Below(2) == 0 ? Tier::kRecall : Tier::kArchival,
                        .text = words(random.Below(10)) + random.Utf8(20),
                        .thread = random.Below(2) == 0 ? "a" : "b",
                        .at = static_cast<Micros>(random.Below(50) + 1)};
    ASSERT_THAT(indexed.Add(record), Succeeds());
    ASSERT_THAT(scanned.Add(record), Succeeds());
  }
  const View by_index = indexed.View(), by_scan = scanned.View();
  for (int i = 0; i < 100; ++i) {
    const Query query{.text = words(random.Below(5)), .k = 400};
    const std::string expected = PrintHits(Search(by_index, query));
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(PrintHits(Search(by_scan, query)), expected) << query.text;
  }
}

TEST(SearchTest, EveryCharacterOfAQueryIsLiteral) {  // MEM-38, MEM-T11, defect 5
  TestStore store;
  const std::int64_t linker = AddText(store, "the linker of gcc");
  const std::int64_t fftw = AddText(store, "fftw3 near the mesh");
  for (const char c : std::string_view("/=:\"*()-^+'?.,{}[]<>|&!~\\;#$%@`")) {
    for (const std::string& query :
         {fmt::format("{}linker", c), fmt::format("linker{}", c), fmt::format("{0}linker{0}", c),
          fmt::format("text{0}linker{0}{0} absent", c)}) {
      EXPECT_EQ(Find(store, query), Ids{linker}) << query;
    }
    EXPECT_TRUE(Find(store, fmt::format("{0} {0}", c)).empty()) << c;
  }
  EXPECT_EQ(Find(store, "NEAR"), Ids{fftw});
  for (const std::string_view query : {"linker AND absent", "linker NOT gcc", "NOT linker",
                                       "linker OR", "AND linker", "linker AND NOT"}) {
    EXPECT_EQ(Find(store, query), Ids{linker}) << query;
  }
  EXPECT_TRUE(Find(store, std::string("lin\0ker", 7)).empty());
  EXPECT_THAT(store.View().Search({.text = ""}), FailsWith(ErrorCode::kUsage, "query is empty"));
  EXPECT_THAT(store.View().Search({.text = " \n"}), FailsWith(ErrorCode::kUsage, "query is empty"));
}

TEST(SearchTest, StopWordsCountOnlyAlone) {  // MEM-38, MEM-T11
  TestStore store;
  const std::int64_t be = AddText(store, "To be or not to be");
  const std::int64_t linker = AddText(store, "the linker");
  EXPECT_EQ(Find(store, "is it the linker?"), Ids{linker});
  EXPECT_EQ(Find(store, "to be"), Ids{be});
}

TEST(SearchTest, PairsAndAccentsAreFound) {  // MEM-37, MEM-T11
  TestStore store;
  const std::int64_t tokyo = AddText(store, "東京都に住んでいます");
  const std::int64_t cafe = AddText(store, "Das Café am Flußufer");
  EXPECT_EQ(Find(store, "京都"), Ids{tokyo});
  EXPECT_EQ(Find(store, "CAFE"), Ids{cafe});
  EXPECT_EQ(Find(store, "cafe\u0301"), Ids{cafe});
  EXPECT_TRUE(Find(store, "都京").empty());
}

TEST(SearchTest, OneOfTwoWordsIsEnough) {  // MEM-38, MEM-T13, defect 5
  TestStore store;
  const std::int64_t one = AddText(store, "the mesh is fine");
  const std::int64_t both = AddText(store, "the mesh and the solver");
  EXPECT_EQ(Find(store, "mesh solver"), (Ids{both, one}));
  EXPECT_EQ(Find(store, "mesh absent"), (Ids{one, both}));  // the shorter first
  EXPECT_TRUE(Find(store, "absent").empty());
}

TEST(SearchTest, EqualScoresAreNewestFirst) {  // MEM-42, MEM-T13
  TestStore store;
  Ids ids;
  for (const Micros at : {20, 10, 30, 30}) {
    ids.push_back(AddText(store, fmt::format("mesh n{}", ids.size()), {.at = at}));
  }
  EXPECT_EQ(Find(store, "mesh"), (Ids{ids[3], ids[2], ids[0], ids[1]}));
}

TEST(SearchTest, FiltersApplyBeforeTheCut) {  // MEM-41, MEM-T13, defect 5
  TestStore store;
  std::int64_t wanted = 0;
  for (int i = 0; i < 450; ++i) {
    const bool special = i == 7;
    const std::int64_t id = AddText(
        store, special ? "the mesh has so many other words beside it" : fmt::format("mesh n{}", i),
        {.tier = i % 2 == 0 ? Tier::kArchival : Tier::kRecall,
         .kind = special ? "note" : "turn",
         .thread = special ? "s7" : "s1",
         .at = 1000 + i,
         .tags = special ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"}});
    if (special) wanted = id;
  }
  const View view = store.View();
  Query query{.text = "mesh", .k = 5};
  const std::vector<Hit> plain = Search(view, query);
  ASSERT_EQ(plain.size(), 5U);
  const auto only = [&](const Query& filtered, std::string_view what) {
    const std::vector<Hit> hits = Search(view, filtered);
    ASSERT_EQ(IdsOf(hits), Ids{wanted}) << what;
    EXPECT_EQ(hits[0].places[0].texts, 450) << what;  // filters move no score
    EXPECT_EQ(hits[0].places[0].average_length, plain[0].places[0].average_length) << what;
  };
  only({.text = "mesh", .k = 5, .tags = {"b", "a"}}, "tags");
  only({.text = "mesh", .k = 5, .kind = "note"}, "kind");
  only({.text = "mesh", .k = 5, .thread = "s7"}, "thread");
  only({.text = "mesh", .k = 5, .since = 1007, .until = 1007}, "time");
  EXPECT_TRUE(Search(view, {.text = "mesh", .tags = {"B"}}).empty());
  EXPECT_LT(Search(view, {.text = "mesh", .k = 1000}).size(), 400U);  // 200 of each list
}

TEST(SearchTest, TiersAreSearchedAlone) {  // MEM-39, MEM-41
  TestStore store;
  const std::int64_t recall = AddText(store, "mesh one", {.tier = Tier::kRecall});
  const std::int64_t archival = AddText(store, "mesh two");
  const std::int64_t summary = AddText(store, "mesh three", {.tier = Tier::kSummary});
  ASSERT_THAT(store.Set("mesh", "solver of the mesh"), Succeeds());
  ASSERT_THAT(store.Set("colour", "red"), Succeeds());
  const View view = store.View();
  const auto ids = [&](std::vector<SearchTier> tiers) {
    Ids found = IdsOf(Search(view, {.text = "mesh", .tiers = std::move(tiers)}));
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(ids({SearchTier::kRecall}), Ids{recall});
  EXPECT_EQ(ids({SearchTier::kArchival}), (Ids{archival, summary}));
  EXPECT_EQ(ids({SearchTier::kRecall, SearchTier::kArchival}), (Ids{recall, archival, summary}));
  const std::vector<Hit> core = Search(view, {.text = "mesh", .tiers = {SearchTier::kCore}});
  ASSERT_EQ(core.size(), 1U);
  EXPECT_EQ(core[0].record.ref, "mesh");
  EXPECT_EQ(core[0].record.text, "mesh: solver of the mesh");
  EXPECT_EQ(core[0].record.id, 0);
  EXPECT_EQ(core[0].tier, SearchTier::kCore);
  EXPECT_EQ(core[0].places[0].texts, 2);
  EXPECT_EQ(core[0].places[0].terms[0].f, 2);
  const std::vector<SearchTier> all = {SearchTier::kRecall, SearchTier::kArchival,
                                       SearchTier::kCore};
  EXPECT_EQ(Search(view, {.text = "mesh", .tiers = all}).size(), 4U);
  EXPECT_EQ(Search(view, {.text = "mesh", .tiers = all, .tags = {"x"}}).size(), 0U);
  EXPECT_EQ(Search(view, {.text = "mesh", .tiers = all, .since = 0}).size(), 4U);
}

TEST(SearchTest, ThePartsSumUp) {  // MEM-44, MEM-T13
  TestStore store;
  AddExample(store);
  for (const Hit& hit : Search(store.View(), {.text = std::string(kSearchQuery)})) {
    double parts = 0;
    for (const ListPlace& place : hit.places) {
      parts += place.part;
      double terms = 0;
      for (const TermPart& term : place.terms) {
        EXPECT_GT(term.f, 0);
        EXPECT_GT(term.n, 0);
        EXPECT_GT(term.idf, 0);
        terms += term.part;
      }
      EXPECT_NEAR(terms, place.score, 1e-9);
      EXPECT_EQ(place.texts, 4);
      EXPECT_GT(place.length, 0);
    }
    EXPECT_NEAR(parts, hit.score, 1e-9);
  }
}

TEST(SearchTest, OfALongQueryTheRarestTermsCount) {  // MEM-38
  TestStore store;
  for (int text = 0; text < 3; ++text) {
    std::string words = fmt::format("n{} common", text);
    for (int i = 0; i < 40; ++i) {
      if (i % 3 <= text || i >= 32) words += fmt::format(" w{}", i);
    }
    AddText(store, words);
  }
  std::string query = "common ";
  for (int i = 0; i < 2000; ++i) query += fmt::format("absent{} ", i);
  for (int i = 0; i < 40; ++i) query += fmt::format("w{} ", i);
  const std::vector<Hit> hits = Search(store.View(), {.text = query});
  ASSERT_EQ(hits.size(), 3U);
  const std::vector<TermPart>& terms = hits[0].places[0].terms;
  EXPECT_EQ(terms.size(), 32U);
  for (const TermPart& term : terms) EXPECT_NE(term.term, "w39");  // in all texts, and the last
  EXPECT_EQ(terms.front().term, "common");                         // in all texts, but the first
}

TEST(SearchTest, TenThousandQueriesGiveTheSameBytesTwice) {  // MEM-T30
  TestStore store;
  Random random(/*seed=*/4102);
  const auto words = [](Random& from, std::uint64_t count) {
    std::string text;
    for (; count > 0; --count) text += fmt::format("w{} ", from.Below(from.Below(200) + 1));
    return text;
  };
  ASSERT_THAT(store.In("root",
                       [&](BranchTransaction& session) -> Status {
                         for (int i = 0; i < 300; ++i) {
                           Record record{.tier = Tier::kRecall, .at = i / 2 + 1};
                           record.text = words(random, random.Below(12) + 1);
                           DOSSIER_RETURN_IF_ERROR(AddTo(session, record));
                         }
                         return {};
                       }),
              Succeeds());
  const auto run = [&] {
    Random queries(/*seed=*/4103);
    const View view = store.View();
    std::string bytes;
    for (int i = 0; i < 10'000; ++i) {
      bytes += PrintHits(Search(view, {.text = words(queries, queries.Below(4) + 1), .k = 2}));
    }
    return bytes;
  };
  const std::string once = run();
  EXPECT_EQ(run(), once);
}

TEST(SearchTest, AViewIsSearchedByManyThreads) {
  TestStore store;
  AddExample(store);
  const View view = store.View();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ExpectTheExample(Search(view, {.text = std::string(kSearchQuery)}));
      }
    });
  }
}

}  // namespace
}  // namespace dossier::memory
