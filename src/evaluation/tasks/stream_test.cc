#include "evaluation/tasks/stream.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace dossier::evaluation {
namespace {

// EVL-2, EVL-A1: the vectors that every implementation has to give.
TEST(StreamTest, DrawsWhatIsWrittenDown) {
  RandomStream plain(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  EXPECT_EQ(plain.Next(), 11520u);
  EXPECT_EQ(plain.Next(), 0u);
  EXPECT_EQ(plain.Next(), 1509978240u);
  EXPECT_EQ(StreamSeed("aggregate", 1, "window/0"), 0xa5ebb23072e78f5aull);
  EXPECT_EQ(RandomStream::For("aggregate", 1, "window/0").Next(), 0x9f2c528724e3336aull);
}

// EVL-2
TEST(StreamTest, ShufflesFromTheLastIndexDown) {
  std::vector<int> numbers(10);
  std::iota(numbers.begin(), numbers.end(), 0);
  RandomStream(1).Shuffle(&numbers);
  EXPECT_EQ(numbers, (std::vector<int>{3, 6, 1, 5, 0, 9, 2, 8, 4, 7}));
}

TEST(StreamTest, SamplesDifferentNumbersBelowTheLimit) {
  RandomStream stream(7);
  const auto sample = stream.Sample(1000, 300);
  EXPECT_EQ(std::set<std::uint32_t>(sample.begin(), sample.end()).size(), 300u);
  EXPECT_LT(*std::max_element(sample.begin(), sample.end()), 1000u);
  EXPECT_EQ(stream.Sample(3, 10).size(), 3u);
}

TEST(StreamTest, WritesUuidsOfVersionFour) {
  RandomStream stream(3);
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = stream.Uuid();
    ASSERT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
  }
}

}  // namespace
}  // namespace dossier::evaluation
