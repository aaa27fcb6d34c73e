#include "store/content.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::store {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

class ContentStoreTest : public ::testing::Test {
 protected:
  TempFolder folder_ = *TempFolder::Make("content");
  std::unique_ptr<ContentStore> store_ = *ContentStore::Open(folder_.path() + "/store");
};

TEST_F(ContentStoreTest, GivesBackWhatWasPutByItsHash) {
  Random random(7);
  for (const std::string& bytes :
       {std::string(), std::string("abc"), std::string("a\0b", 3), random.Bytes(300'000)}) {
    auto sha256 = store_->Put(bytes);
    ASSERT_THAT(sha256, Succeeds());
    EXPECT_TRUE(store_->Has(*sha256));
    EXPECT_EQ(*store_->Get(*sha256), bytes);
    EXPECT_EQ(*store_->Put(bytes), *sha256) << "a second time";
  }
  EXPECT_EQ(*store_->Put("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(ContentStoreTest, FoldersArePrivateAndBodiesReadOnly) {
  const std::string sha256 = *store_->Put("secret");
  const std::string path = store_->PathOf(sha256);
  EXPECT_EQ(path, folder_.path() + "/store/objects/" + sha256.substr(0, 2) + "/" + sha256);
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0400u);
  for (const char* part : {"", "/objects", "/incoming"}) {
    ASSERT_EQ(stat((folder_.path() + "/store" + part).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0700u) << part;
  }
}

TEST_F(ContentStoreTest, AnUnknownOrMalformedHashIsNotFoundAndIsNoPath) {
  const std::string absent(64, 'a');
  EXPECT_THAT(store_->Get(absent), FailsWith(ErrorCode::kNotFound, absent));
  for (const std::string bad : {"", "abc", "../../../../etc/passwd"}) {
    EXPECT_THAT(store_->Get(bad), FailsWith(ErrorCode::kNotFound, "is not the hash"));
    EXPECT_FALSE(store_->Has(bad));
    EXPECT_EQ(store_->PathOf(bad), "");
  }
}

TEST_F(ContentStoreTest, AChangedBodyIsFoundOutAndAShortOneIsStoredAgain) {
  const std::string sha256 = *store_->Put("twelve bytes");
  const std::string path = store_->PathOf(sha256);
  ASSERT_THAT(WriteFileAtomic(path, "twelve bytez"), Succeeds());
  EXPECT_THAT(store_->Get(sha256), FailsWith(ErrorCode::kDamaged, path));
  ASSERT_THAT(WriteFileAtomic(path, "twelve"), Succeeds());  // as after a power cut
  EXPECT_EQ(*store_->Put("twelve bytes"), sha256);
  EXPECT_EQ(*store_->Get(sha256), "twelve bytes");
}

TEST_F(ContentStoreTest, ManyThreadsMayPutTheSameBodies) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const std::string bytes = fmt::format("body {}", i);
        auto sha256 = store_->Put(bytes);
        if (!sha256 || store_->Get(*sha256) != bytes) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(ContentStoreTest, AFullDiskNamesPathAndMissingBytesAndLeavesNothingHalfMade) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // the limit holds for a process, so a process of its own has it
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    auto stored = store_->Put(std::string(1500, 'x'));
    const bool told = !stored && stored.error().code == ErrorCode::kIo &&
                      stored.error().message.find("/objects/") != std::string::npos &&
                      stored.error().message.find("500 of 1500 bytes") != std::string::npos;
    const bool goes_on = store_->Put("small").has_value();
    _exit(told && goes_on ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rmdir((folder_.path() + "/store/incoming").c_str()), 0) << "a temporary file is left";
}

TEST_F(ContentStoreTest, OldLeftOversGoAndYoungOnesStay) {
  const std::string incoming = folder_.path() + "/store/incoming/";
  for (const char* name : {"old", "young"}) {
    ASSERT_THAT(WriteFileAtomic(incoming + name, "half"), Succeeds());
  }
  const timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  ASSERT_EQ(utimensat(AT_FDCWD, (incoming + "old").c_str(), long_ago, 0), 0);
  ASSERT_THAT(ContentStore::Open(folder_.path() + "/store"), Succeeds());
  EXPECT_FALSE(Exists(incoming + "old"));
  EXPECT_TRUE(Exists(incoming + "young"));
}

}  // namespace

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
