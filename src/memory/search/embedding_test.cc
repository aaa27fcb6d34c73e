#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/files/file.h"
#include "base/random.h"
#include "memory/records/embedder.h"
#include "memory/search/vectors.h"
#include "memory/transfer/transfer.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// A model that knows five words with three meanings and counts its calls.
class WordEmbedder final : public Embedder {
 public:
  const std::string& name() const override { return name_; }
  Result<Vector> Embed(std::string_view text) const override {
    ++asked;
    if (broken) return MakeError(ErrorCode::kDamaged, "the model is damaged");
    static const std::map<std::string, std::size_t, std::less<>> kMeanings = {
        {"dog", 0}, {"beagle", 0}, {"move", 1}, {"relocate", 1}, {"rain", 2}};
    std::vector<float> sum(3, 0.0F);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const auto meaning = kMeanings.find(text.substr(at, end - at));
      if (meaning != kMeanings.end()) sum[meaning->second] += 1;
      at = end + 1;
    }
    return ToVector(sum);
  }

  mutable int asked = 0;
  bool broken = false;

 private:
  const std::string name_ = "words";
};

class EmbeddingTest : public ::testing::Test {
 protected:
  void Add(std::string_view text, std::string_view thread = "", std::string_view branch = "root") {
    ASSERT_THAT(store_.Add({.text = std::string(text), .thread = std::string(thread)}, branch),
                Succeeds());
  }
  Result<std::vector<Hit>> Search(std::string_view query, std::string_view branch = "root") {
    return store_.View(branch).Search({.text = std::string(query)});
  }
  // Returns the texts of the hits with their scores in the model's list.
  std::vector<std::pair<std::string, double>> Nearest(std::string_view query) {
    std::vector<std::pair<std::string, double>> found;
    const auto hits = Search(query);
    EXPECT_THAT(hits, Succeeds());
    for (const Hit& hit : hits ? *hits : std::vector<Hit>()) {
      for (const ListPlace& place : hit.places) {
        if (place.list == "words") found.emplace_back(hit.record.text, place.score);
      }
    }
    return found;
  }
  std::int64_t Rows() {
    std::int64_t rows = -1;
    EXPECT_THAT(store_->ReadRows([&](const RowAccess& access) -> Status {
      DOSSIER_ASSIGN_OR_RETURN(const auto count,
                               ReadInt(access.connection, "SELECT COUNT(*) FROM vectors"));
      rows = *count;
      return {};
    }),
                Succeeds());
    return rows;
  }
  void Use(std::shared_ptr<const Embedder> embedder) {
    store_.options().embedder = std::move(embedder);
    store_.Reopen();
  }

  std::shared_ptr<WordEmbedder> embedder_ = std::make_shared<WordEmbedder>();
  TestStore store_{{.embedder = embedder_}};
};

using VectorScores = std::vector<std::pair<std::string, double>>;

TEST_F(EmbeddingTest, ATextIsFoundByWhatItMeans) {  // MEM-45
  Add("a beagle at last");
  Add("rain all day");
  const auto hits = Search("dog");
  ASSERT_THAT(hits, Succeeds());
  ASSERT_EQ(hits->size(), 1U);
  EXPECT_EQ(hits->front().record.text, "a beagle at last");
  EXPECT_EQ(hits->front().score, 0.05);  // 1.0 / (20 + 0), and no word in common
  EXPECT_EQ(hits->front().places[0].list, "words");
  EXPECT_EQ(hits->front().places[0].score, 1);
  EXPECT_TRUE(hits->front().places[0].terms.empty());
}

TEST_F(EmbeddingTest, WithoutAModelSearchGoesByWords) {  // MEM-45
  Use(nullptr);
  Add("a beagle at last");
  EXPECT_EQ(Search("dog")->size(), 0U);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(EmbeddingTest, ATextIsRankedWithItsNeighbours) {  // MEM-40, MEM-45
  Add("the dog", "s");
  Add("and rain", "s");
  Add("move now", "s");
  // Windows: dog+rain, dog+rain+move, rain+move; their cosine with "dog", plus 1/4 of each own.
  EXPECT_EQ(Nearest("dog"), (VectorScores{{"the dog", 0.765685425}, {"and rain", 0.461880215}}));
}

TEST_F(EmbeddingTest, NeighboursThatTheModelDoesNotKnowTakeNothingAway) {
  Add("hello there", "s");
  Add("the dog", "s");
  Add("hello again", "s");
  EXPECT_EQ(Nearest("beagle"), (VectorScores{{"the dog", 1}}));
}

TEST_F(EmbeddingTest, FiltersAndBranchesHoldForTheListToo) {  // MEM-5, MEM-41
  ASSERT_THAT(store_->Fork("root", "n1", {}), Succeeds());
  ASSERT_THAT(store_->Fork("root", "n2", {}), Succeeds());
  Add("beagle of n1", "", "n1");
  Add("beagle of n2", "", "n2");
  const auto hits = Search("dog", "n1");
  ASSERT_THAT(hits, Succeeds());
  ASSERT_EQ(hits->size(), 1U);
  EXPECT_EQ(hits->front().record.text, "beagle of n1");
  EXPECT_EQ(store_.View("n1").Search({.text = "dog", .tags = {"none"}})->size(), 0U);
}

TEST_F(EmbeddingTest, CoreEntriesAreRankedToo) {
  ASSERT_THAT(store_.Set("pet", "a beagle here"), Succeeds());
  const auto hits = store_.View().Search({.text = "dog", .tiers = {SearchTier::kCore}});
  ASSERT_THAT(hits, Succeeds());
  ASSERT_EQ(hits->size(), 1U);
  EXPECT_EQ(hits->front().record.ref, "pet");
}

TEST_F(EmbeddingTest, VectorsAreStoredOnceATextAndReadFromThere) {
  Add("the dog", "a");
  Add("the dog", "b");
  EXPECT_EQ(Rows(), 1);
  embedder_->asked = 0;
  EXPECT_EQ(Nearest("beagle").size(), 1U);  // the same text and tags: one record
  EXPECT_EQ(embedder_->asked, 1);           // the query
}

TEST_F(EmbeddingTest, TextsFromBeforeTheModelAreFoundAndReadingWritesNothing) {  // MEM-2
  Use(nullptr);
  Add("a beagle at last");
  Use(embedder_);
  EXPECT_EQ(Nearest("dog"), (VectorScores{{"a beagle at last", 1}}));
  EXPECT_EQ(Rows(), 0);
  ASSERT_THAT(store_->Check(CheckMode::kRebuildIndex), Succeeds());
  EXPECT_EQ(Rows(), 1);
  EXPECT_EQ(Nearest("dog"), (VectorScores{{"a beagle at last", 1}}));
}

TEST_F(EmbeddingTest, AStoredVectorOfAnotherSizeIsMadeAnew) {
  Add("a beagle at last");
  ASSERT_THAT(store_->WriteRows([](const RowAccess& access) {
    return memory::Run(access.connection, "UPDATE vectors SET data = x'7f'");
  }),
              Succeeds());
  EXPECT_EQ(Nearest("dog"), (VectorScores{{"a beagle at last", 1}}));
}

TEST_F(EmbeddingTest, WhatIsImportedGetsVectors) {
  Add("a beagle at last");
  std::string exported;
  ASSERT_THAT(ExportStore(*store_, {},
                          [&](std::string_view part) -> Status {
                            exported += part;
                            return {};
                          }),
              Succeeds());
  TestStore other({.embedder = embedder_, .new_store_id = std::string(32, 'b')});
  ASSERT_THAT(ImportLines(*other, exported, {}), Succeeds());
  embedder_->asked = 0;
  EXPECT_EQ(other.View().Search({.text = "dog"})->size(), 1U);
  EXPECT_EQ(embedder_->asked, 1);
}

TEST_F(EmbeddingTest, PruningTakesTheVectorsOfTextsThatAreGone) {  // MEM-7
  Add("a beagle at last");
  ASSERT_THAT(
      store_.In("root", [](BranchTransaction& session) { return session.DeleteArchival(1); }),
      Succeeds());
  Add("rain all day");
  const auto counts = store_->Prune(3, PruneMode::kRemove);
  ASSERT_THAT(counts, Succeeds());
  EXPECT_EQ(Rows(), 1);
}

TEST_F(EmbeddingTest, AModelThatFailsFailsTheWriteAndTheSearch) {
  Add("a beagle at last");
  embedder_->broken = true;
  EXPECT_THAT(store_.Add({.text = "rain"}), FailsWith(ErrorCode::kDamaged, "damaged"));
  EXPECT_THAT(Search("dog"), FailsWith(ErrorCode::kDamaged, "damaged"));
  embedder_->broken = false;
  EXPECT_EQ(store_.View().Counts()->archival, 1);
}

TEST(VectorTest, OnlyTheDirectionIsKept) {
  EXPECT_EQ(ToVector(std::vector<float>{1, -2, 0.5F}), (Vector{64, -127, 32}));
  EXPECT_EQ(ToVector(std::vector<float>{1e30F, -2e30F, 0}), (Vector{64, -127, 0}));
  EXPECT_EQ(ToVector(std::vector<float>{0, 0}), Vector());
  EXPECT_EQ(ToVector(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}), Vector());
  EXPECT_EQ(ToVector(std::vector<float>{1, std::numeric_limits<float>::infinity()}), Vector());
}

TEST(VectorTest, LongVectorsDoNotOverflow) {
  const Vector longest(200'001, 127);
  EXPECT_EQ(Dot(longest, longest), 200'001LL * 127 * 127);
  EXPECT_EQ(Cosine(longest, longest), 1);
}

std::string Half(std::uint16_t bits) {
  return {static_cast<char>(bits & 0xFFU), static_cast<char>(bits >> 8U)};
}

std::string Safetensors(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xFFU);
  return bytes.append(header).append(data);
}

constexpr std::string_view kHeader =
    R"({"__metadata__":{"a":"b"},"e":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}})";

std::string TwoRows() {
  // 1, -2, 0.5; the smallest number, the greatest, 0.
  return Safetensors(kHeader, Half(0x3C00) + Half(0xC000) + Half(0x3800) + Half(0x0001) +
                                  Half(0x7BFF) + Half(0x8000));
}

TEST(TokenTableTest, RowsOfHalfPrecisionNumbersAreAdded) {
  const auto table = TokenTable::Parse(TwoRows());
  ASSERT_THAT(table, Succeeds());
  EXPECT_EQ(table->tokens(), 2U);
  EXPECT_EQ(table->dimensions(), 3U);
  std::vector<float> sum(3, 1.0F);
  table->AddRow(0, sum);
  EXPECT_EQ(sum, (std::vector<float>{2, -1, 1.5F}));
  sum.assign(3, 0.0F);
  table->AddRow(1, sum);
  EXPECT_EQ(sum, (std::vector<float>{0x1p-24F, 65504, 0}));
  table->AddRow(2, sum);  // of another vocabulary: nothing
  EXPECT_EQ(sum[1], 65504);
}

TEST(TokenTableTest, WhatIsNoTableIsRefused) {
  const std::pair<std::string, std::string_view> kCases[] = {
      {"", "too short"},
      {std::string(8, '\xFF'), "header's size"},
      {Safetensors("[]", ""), "no JSON object"},
      {Safetensors("{}", ""), "no tensor"},
      {Safetensors(R"({"a":{},"b":{}})", ""), "more than one"},
      {Safetensors(R"({"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}})", "0000"), "F16"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", "0000"), "shape"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[-1,-2],"data_offsets":[0,4]}})", "0000"),
       "shape"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[4294967296,4294967296],"data_offsets":[0,4]}})",
                   "0000"),
       "shape"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}})", "000"), "size"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[1,2],"data_offsets":[-4,0]}})", "0000"), "size"},
      {Safetensors(R"({"a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,8]}})", "00000000"),
       "size"},
  };
  for (const auto& [bytes, why] : kCases) {
    EXPECT_THAT(TokenTable::Parse(bytes), FailsWith(ErrorCode::kDamaged, std::string(why)));
  }
}

TEST(TokenTableTest, NoDamageReadsOutside) {  // for the sanitizers
  Random random(/*seed=*/45);
  for (int round = 0; round < 5'000; ++round) {
    std::string bytes = TwoRows();
    for (std::uint64_t i = random.Below(4) + 1; i > 0; --i) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    bytes.resize(random.Below(bytes.size() + 1));
    const auto table = TokenTable::Parse(bytes);
    if (!table) continue;
    std::vector<float> sum(table->dimensions());
    for (tokens::TokenId token = 0; token < 4; ++token) table->AddRow(token, sum);
  }
}

// A vocabulary of all bytes, plus "a" and "b".
constexpr int kByteTokens = 256;
std::string Tokenizer() {
  JsonObject vocab;
  for (int byte = 0; byte < kByteTokens; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 2 + byte;
  vocab["a"] = 0;
  vocab["b"] = 1;
  return ToJson(JsonObject{{"model", JsonObject{{"type", "BPE"},
                                                {"byte_fallback", true},
                                                {"vocab", std::move(vocab)},
                                                {"merges", JsonArray{}}}}});
}

MATCHER_P(IsVector, vector, "") { return arg.has_value() && *arg == vector; }

TEST(TokenEmbedderTest, ATextIsTheSumOfItsTokens) {  // MEM-45
  const TempFolder folder = *TempFolder::Make();
  const std::string weights = folder.path() + "/w", tokenizer = folder.path() + "/t.json";
  const auto embedder = MakeTokenEmbedder({.name = "two",
                                           .weights = weights,
                                           .tokenizer = tokenizer,
                                           .paths = {.tables = "", .cache = ""}});
  EXPECT_THAT(embedder->Embed("a"), FailsWith(ErrorCode::kNotFound, weights));
  ASSERT_THAT(WriteFileAtomic(weights, "no weights at all"), Succeeds());
  EXPECT_THAT(embedder->Embed("a"), FailsWith(ErrorCode::kDamaged, weights));
  ASSERT_THAT(WriteFileAtomic(weights, TwoRows()), Succeeds());
  EXPECT_THAT(embedder->Embed("a"), FailsWith(ErrorCode::kNotFound, tokenizer));
  ASSERT_THAT(WriteFileAtomic(tokenizer, Tokenizer()), Succeeds());
  EXPECT_THAT(embedder->Embed("aa"), IsVector(Vector({64, -127, 32})));
  EXPECT_THAT(embedder->Embed("abba"), IsVector(Vector({0, 127, 0})));
  EXPECT_THAT(embedder->Embed("\u00fc"), IsVector(Vector()));  // bytes without a row
  EXPECT_THAT(embedder->Embed(""), IsVector(Vector()));
}

}  // namespace
}  // namespace dossier::memory
