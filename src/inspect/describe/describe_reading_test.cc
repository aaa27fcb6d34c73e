#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "testing/describe_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::inspect {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;

// The counts by definition, one code point at a time.
struct SlowCounts {
  std::uint64_t chars = 0, utf16_units = 0, lines = 0, longest = 0;
};

SlowCounts CountSlowly(std::string_view text) {
  SlowCounts counts;
  std::uint64_t length = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const char32_t c = utf8::Next(text, &at);
    ++counts.chars;
    counts.utf16_units += c > 0xFFFF ? 2 : 1;
    if (c == '\n' || (c == '\r' && text.substr(at, 1) != "\n")) {
      ++counts.lines;
      length = 0;
    } else if (c != '\r') {
      length += at - start;
      counts.longest = std::max(counts.longest, length);
    }
  }
  if (length > 0) ++counts.lines;
  return counts;
}

TEST(DescribeReadingTest, RandomTextsCountAlikeWithAnyThreadsAndBlocks) {  // INS-6, INS-12, INS-T4
  Random random(53);
  for (int round = 0; round < 1000; ++round) {
    std::string text = random.Utf8(random.Below(800));
    for (std::uint64_t i = random.Below(40); i > 0 && !text.empty(); --i) {
      const std::size_t at = utf8::FloorBoundary(text, random.Below(text.size()));
      text.insert(at, random.Below(2) == 0 ? "\r\n" : random.Below(2) == 0 ? "\n" : "\r");
    }
    std::erase(text, '\0');
    const SlowCounts slow = CountSlowly(text);
    const int threads[] = {1, 2, 8};
    const std::size_t blocks[] = {1, 7, 4096, 262144};
    const Options options{.encoding = EncodingKind::kUtf8,
                          .threads = threads[round % 3],
                          .block_bytes = blocks[round % 4]};
    const Description d = DescribeBytes(text, "a.txt", options);
    ASSERT_EQ(d.counts.chars, slow.chars);
    ASSERT_EQ(d.counts.utf16_units, slow.utf16_units);
    ASSERT_EQ(d.counts.lines, slow.lines) << ::testing::PrintToString(text);
    ASSERT_EQ(d.counts.longest_line_bytes, slow.longest);
  }
}

TEST(DescribeReadingTest, ALargeFileDescribesAlikeWithAnyThreadsAndBlocks) {  // INS-12, INS-T21
  Random random(59);
  std::string text;
  while (text.size() < (9u << 20)) text += random.Utf8(60) + "\r\n";
  text[5 << 20] = '\xFF';
  std::erase(text, '\0');
  auto folder = TempFolder::Make();
  const std::string path = folder->path() + "/big.txt";
  ASSERT_TRUE(WriteFileAtomic(path, text));
  std::string first;
  for (const int threads : {1, 2, 8}) {
    for (const std::size_t block : {std::size_t{65537}, std::size_t{1} << 20}) {
      const auto source = OpenFileSource(path);
      ASSERT_TRUE(source);
      const auto d = Describe(**source, {.threads = threads, .block_bytes = block}, {});
      ASSERT_TRUE(d);
      const std::string json = dossier::ToJson(ToJson(*d));
      if (first.empty()) first = json;
      EXPECT_EQ(json, first) << threads << " threads, blocks of " << block;
    }
  }
  EXPECT_EQ(DescribeText(text, "big.txt", {}).counts.chars, utf8::CodePoints(text));
}

TEST(DescribeReadingTest, AScanLimitMakesBoundsButKeepsTheSize) {  // INS-14
  const std::string text = Repeat("0123456\n", 1000);
  const Description d = DescribeBytes(text, "a.txt", {.max_scan = 4000});
  EXPECT_EQ(d.counts.bytes, 8000u);
  EXPECT_EQ(d.counts.chars, 4000u);
  EXPECT_EQ(d.counts.exactness, Exactness::kBound);
  EXPECT_EQ(NoteCodes(d), "max-scan");
  EXPECT_THAT(RenderHint(d, {}), HasSubstr("Size: ≥ 4,000 chars (8,000 bytes), ≥ 500 lines"));
  const Description lines =
      DescribeBytes(Repeat("{\"a\":12}\n", 1000), "a.ndjson", {.max_scan = 4004});
  EXPECT_EQ(lines.records->records, 444u);
  EXPECT_EQ(lines.records->malformed, 0u);
  EXPECT_EQ(lines.records->exactness, Exactness::kBound);
  // A code point across the limit is not counted, and is no fault.
  EXPECT_EQ(DescribeBytes(Repeat("é", 100), "a", {.max_scan = 51}).encoding.invalid, 0u);
}

TEST(DescribeReadingTest, AFileThatChangesWhileItIsReadIsCalledUnstable) {  // INS-13, INS-T14
  class Changing : public ByteSource {
   public:
    const std::string& name() const override { return name_; }
    std::optional<std::uint64_t> size() const override { return 10; }
    Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
      ++reads_;
      const std::string_view rest =
          std::string_view(text_).substr(std::min<std::size_t>(offset, text_.size()));
      return rest.copy(out.data(), out.size());
    }
    SourceState state() const override { return {.size = 10 + reads_}; }

   private:
    const std::string name_ = "a.txt", text_ = "short";
    mutable std::uint64_t reads_ = 0;
  };
  const auto d = Describe(Changing(), {}, {});
  ASSERT_TRUE(d);
  EXPECT_FALSE(d->stable);
  EXPECT_EQ(d->counts.bytes, 5u);
  EXPECT_EQ(NoteCodes(*d), "unstable");
}

// A file to which something happens when it is read for the second time.
class DisturbedFile : public ByteSource {
 public:
  DisturbedFile(const std::string& path, std::function<void()> disturb)
      : file_(std::move(*OpenFileSource(path))), disturb_(std::move(disturb)) {}
  const std::string& name() const override { return file_->name(); }
  std::optional<std::uint64_t> size() const override { return file_->size(); }
  Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
    if (++reads_ == 2) disturb_();
    return file_->ReadAt(offset, out);
  }
  SourceState state() const override { return file_->state(); }

 private:
  std::unique_ptr<ByteSource> file_;
  std::function<void()> disturb_;
  mutable std::atomic<int> reads_ = 0;
};

TEST(DescribeReadingTest, AFileThatGrowsShrinksOrIsReplacedIsDescribedAsRead) {  // INS-13, INS-T14
  auto folder = TempFolder::Make();
  const std::string rows = "id,name\n" + Repeat("1,Ada\n", 20000);
  const std::string lines = Repeat("{\"a\":1}\n", 20000);
  for (const auto& [name, text] : {std::pair(std::string("a.csv"), rows), {"a.ndjson", lines}}) {
    const std::string path = folder->path() + "/" + name;
    const std::function<void()> disturbances[] = {
        [&] { ASSERT_EQ(truncate(path.c_str(), 100), 0); },
        [&] { ASSERT_EQ(truncate(path.c_str(), 0), 0); },
        [&] { ASSERT_TRUE(WriteFileAtomic(path, text + text)); },  // another file of that name
        [&] {
          UniqueFd fd(open(path.c_str(), O_WRONLY | O_APPEND));
          ASSERT_TRUE(WriteAll(fd.get(), "more\n\n\"and more"));
        },
    };
    for (const auto& disturb : disturbances) {
      ASSERT_TRUE(WriteFileAtomic(path, text));
      const auto d = Describe(DisturbedFile(path, disturb), {.block_bytes = 4096}, {});
      ASSERT_TRUE(d);
      EXPECT_FALSE(d->stable);
      EXPECT_THAT(NoteCodes(*d), HasSubstr("unstable"));
      EXPECT_EQ(*FindInt(ToJson(*d), "bytes"), static_cast<std::int64_t>(d->counts.bytes));
    }
  }
}

TEST(DescribeReadingTest, ADiskErrorInTheMiddleGivesBounds) {  // section 6
  class Failing : public ByteSource {
   public:
    const std::string& name() const override { return name_; }
    std::optional<std::uint64_t> size() const override { return 1u << 20; }
    Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const override {
      if (offset + out.size() > 300000) return MakeError(ErrorCode::kIo, "a: bad at {}", offset);
      std::fill(out.begin(), out.end(), 'x');
      return out.size();
    }

   private:
    const std::string name_ = "a.txt";
  };
  const auto d = Describe(Failing(), {.block_bytes = 65536}, {});
  ASSERT_TRUE(d);
  ASSERT_TRUE(d->read_error);
  EXPECT_EQ(d->counts.exactness, Exactness::kBound);
  EXPECT_EQ(d->counts.chars, 262144u);
}

TEST(DescribeReadingTest, StreamsAndProcFilesAreReadToTheirEnd) {  // INS-16, INS-131
  const auto proc = OpenFileSource("/proc/self/status");
  ASSERT_TRUE(proc);
  EXPECT_GT(Describe(**proc, {}, {})->counts.bytes, 100u);

  const std::string text = Repeat("{\"a\":1}\n", 700000);  // more than is kept in memory
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    static_cast<void>(WriteAll(ends[1], text));
    close(ends[1]);
  });
  const auto stream = StreamSource(ends[0], "a.ndjson");
  const auto d = Describe(*stream, {}, {});
  writer.join();
  close(ends[0]);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->records->records, 700000u);
  EXPECT_EQ(RenderHint(*d, {}), RenderHint(DescribeBytes(text, "a.ndjson"), {}));
}

TEST(DescribeReadingTest, MissingFilesAndDevicesAreNamed) {  // section 6
  auto folder = TempFolder::Make();
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/data2.csv", "x"));
  EXPECT_THAT(
      OpenFileSource(folder->path() + "/data.csv"),
      FailsWith(ErrorCode::kNotFound, "data.csv: no such file or folder; did you mean data2.csv?"));
  EXPECT_THAT(OpenFileSource("/dev/null"),
              FailsWith(ErrorCode::kIsDevice,
                        "/dev/null: not a regular file; pipe it in with - if you mean it"));
}

TEST(DescribeReadingTest, ACancelledDescribeStops) {  // INS-133
  CancelSource cancel;
  cancel.Cancel("test");
  const auto source = MemorySource("text", "a");
  EXPECT_THAT(Describe(*source, {}, cancel.token()), FailsWith(ErrorCode::kCancelled, ""));
  EXPECT_THAT(Describe(*source, {.depth = 9}, {}),
              FailsWith(ErrorCode::kInvalidArgument, "depth 9"));
}

// INS-51, INS-52, INS-53, INS-T5

}  // namespace
}  // namespace dossier::inspect
