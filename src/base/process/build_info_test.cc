#include "base/process/build_info.h"

#include <gtest/gtest.h>

#include <charconv>

#include "base/files/file.h"
#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::size_t kMostNotesForTest = 64 << 10;

TEST(BuildIdTest, IsTheNoteThatTheLinkerWrote) {  // REC-85
  const std::string id = BuildId();
  ASSERT_EQ(id.size(), 40u) << "SHA-1, what --build-id means without more";
  std::string note("GNU\0", 4);
  for (std::size_t at = 0; at < id.size(); at += 2) {
    unsigned byte = 0;
    ASSERT_EQ(std::from_chars(id.data() + at, id.data() + at + 2, byte, 16).ec, std::errc());
    note += static_cast<char>(byte);
  }
  const auto program = ReadFile("/proc/self/exe", std::size_t{1} << 30);
  ASSERT_THAT(program, Succeeds());
  EXPECT_NE(program->find(note), std::string::npos);
}

TEST(BuildIdTest, OfAFileIsTheSame) {  // REC-85
  const auto id = BuildIdOf("/proc/self/exe");
  ASSERT_THAT(id, Succeeds());
  EXPECT_EQ(*id, BuildId());
}

// Whatever stands in a file, it is read to an answer or an error.
TEST(BuildIdTest, AFileMayHoldAnything) {
  const TempFolder folder = *TempFolder::Make("build-id");
  const std::string path = folder.path() + "/program";
  const auto of = [&](const std::string& bytes) {
    EXPECT_THAT(WriteFileAtomic(path, bytes, 0600), Succeeds());
    return BuildIdOf(path);
  };
  EXPECT_THAT(BuildIdOf(folder.path() + "/none"), FailsWith(ErrorCode::kNotFound, "none"));
  EXPECT_THAT(of(""), FailsWith(ErrorCode::kDamaged, "no program"));
  EXPECT_THAT(of(std::string(1000, 'x')), FailsWith(ErrorCode::kDamaged, "no program"));
  auto whole = ReadFile("/proc/self/exe", std::size_t{1} << 30);
  ASSERT_THAT(whole, Succeeds());
  whole->resize(4096);  // the headers and the notes, as linkers place them
  ASSERT_EQ(*of(*whole), BuildId());
  Random random(1);
  for (int round = 0; round < 100; ++round) {
    std::string broken = *whole;
    for (int i = 0; i < 3; ++i) {
      broken[random.Below(1200)] = static_cast<char>(random.Below(256));
    }
    const auto id = of(broken);
    EXPECT_LE(id.value_or("").size(), 2 * kMostNotesForTest);
  }
}

}  // namespace

}  // namespace dossier
