#include "base/build_id.h"

#include <gtest/gtest.h>

#include <charconv>

#include "base/file.h"
#include "testing/result_matchers.h"

namespace dossier {
namespace {

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
  ASSERT_THAT(program, ::dossier::testing::Succeeds());
  EXPECT_NE(program->find(note), std::string::npos);
}

}  // namespace
}  // namespace dossier
