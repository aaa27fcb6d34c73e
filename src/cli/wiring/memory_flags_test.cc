#include "cli/wiring/memory_flags.h"

#include <gtest/gtest.h>

#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;

TEST(MemorySetupTest, ADayAloneIsItsBeginOrItsEnd) {
  EXPECT_EQ(*ReadMoment("--since", "1970-01-02", DayEdge::kBegin), 86'400'000'000);
  EXPECT_EQ(*ReadMoment("--until", "1970-01-01", DayEdge::kEnd), 86'399'999'999);
  EXPECT_EQ(*ReadMoment("--since", "1970-01-01T00:00:01Z", DayEdge::kBegin), 1'000'000);
  EXPECT_THAT(ReadMoment("--since", "yesterday", DayEdge::kBegin),
              FailsWith(ErrorCode::kUsage, "--since \"yesterday\" is no time"));
}

}  // namespace
}  // namespace dossier::cli
