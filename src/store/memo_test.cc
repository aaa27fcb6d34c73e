#include "store/memo.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::FailsWith;

class MemoTest : public ::testing::Test {
 protected:
  std::unique_ptr<Memo> Open() { return std::move(*Memo::Open(folder_.path(), *content_)); }
  std::string LinkOf(const std::string& key) const {
    return fmt::format("{}/memo/{}/{}", folder_.path(), key.substr(0, 2), key);
  }

  TempFolder folder_ = *TempFolder::Make("memo");
  std::unique_ptr<ContentStore> content_ = *ContentStore::Open(folder_.path());
  const std::string key_ = Sha256Hex("question");
};

TEST_F(MemoTest, WhatWasPutIsFoundByAnotherProcess) {  // REC-50
  EXPECT_EQ(Open()->Get(key_), std::nullopt);
  ASSERT_TRUE(Open()->Put(key_, "answer"));
  EXPECT_EQ(Open()->Get(key_), "answer");
  EXPECT_EQ(Open()->Get(Sha256Hex("other")), std::nullopt);
}

TEST_F(MemoTest, TheLastPutStands) {  // REC-50: --cache refresh
  const auto memo = Open();
  ASSERT_TRUE(memo->Put(key_, "old"));
  ASSERT_TRUE(memo->Put(key_, "new"));
  EXPECT_EQ(memo->Get(key_), "new");
}

TEST_F(MemoTest, ADamagedOrHalfMadeEntryIsAbsentAndCanBePutAgain) {  // REC-50, contract 6
  const auto memo = Open();
  ASSERT_TRUE(memo->Put(key_, "answer"));
  ASSERT_EQ(unlink(content_->PathOf(Sha256Hex("answer")).c_str()), 0);
  EXPECT_EQ(memo->Get(key_), std::nullopt) << "the body is gone";
  ASSERT_TRUE(memo->Put(key_, "answer"));
  EXPECT_EQ(memo->Get(key_), "answer");
  ASSERT_EQ(unlink(LinkOf(key_).c_str()), 0);
  ASSERT_EQ(symlink("../../../etc/passwd", LinkOf(key_).c_str()), 0);
  EXPECT_EQ(memo->Get(key_), std::nullopt) << "a link that leads elsewhere";
}

TEST_F(MemoTest, ASecretIsNotStored) {  // contract 2
  const auto memo = Open();
  ASSERT_TRUE(memo->Put(key_,
                        "the key is sk-proj-x8Kq2LwZ9vT"
                        "n4RbY7cMd1eQ5"));
  EXPECT_EQ(memo->Get(key_), std::nullopt);
}

TEST_F(MemoTest, AKeyMustBeAHash) {
  EXPECT_THAT(Open()->Put("../x", "answer"), FailsWith(ErrorCode::kInvalidArgument, "../x"));
  EXPECT_EQ(Open()->Get("../x"), std::nullopt);
}

}  // namespace
}  // namespace dossier::store
