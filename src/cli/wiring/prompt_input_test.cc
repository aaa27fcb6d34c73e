#include "cli/wiring/prompt_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ready = InputStream::Ready;

// Silence and bytes in turn; time passes only here.
class ScriptedStream final : public InputStream {
 public:
  struct Step {
    Millis silence{0};
    std::string bytes;  // "": the end
  };
  explicit ScriptedStream(std::deque<Step> steps) : steps_(std::move(steps)) {}

  bool terminal = false, closed = false;
  int waits = 0;

  bool IsTerminal() const override { return terminal; }
  Result<Ready> Wait(std::optional<Millis> limit, const CancelToken&) override {
    ++waits;
    if (closed) return Ready::kClosed;
    Step& step = steps_.front();
    if (!limit || step.silence <= *limit) return Ready::kYes;
    step.silence -= *limit;
    return Ready::kNo;
  }
  Result<std::string> Read() override {
    std::string bytes = steps_.front().bytes;
    if (!bytes.empty()) steps_.pop_front();
    return bytes;
  }

 private:
  std::deque<Step> steps_;
};

struct Read {
  Result<PromptInput> input;
  std::vector<std::string> warnings;
};

Read ReadFrom(const PromptRequest& request, ScriptedStream& in) {
  Read read{.input = PromptInput()};
  read.input = ReadPromptInput(request, in,
                               [&](std::string_view text) { read.warnings.emplace_back(text); });
  return read;
}

TEST(PromptInputTest, PromptAndStdinJoinWithOneLineEndLess) {  // CON-6, A6
  struct Case {
    std::optional<std::string> prompt;
    std::string bytes, text;
  };
  const Case cases[] = {
      {"PROMPT", "  a \n\n", "PROMPT\n  a \n"},
      {"PROMPT", "a\r\n", "PROMPT\na"},
      {"PROMPT", "", "PROMPT"},
      {"PROMPT", "\n", "PROMPT"},
      {std::nullopt, "a\nb\n", "a\nb"},
      {"-", "a", "a"},
      {std::nullopt, "", ""},
      {"PROMPT", "a\r", "PROMPT\na\r"},
  };
  for (const Case& c : cases) {
    ScriptedStream in({{Millis(0), c.bytes}, {Millis(0), ""}});
    const Read read = ReadFrom({.prompt = c.prompt}, in);
    ASSERT_TRUE(read.input) << read.input.error().message;
    EXPECT_EQ(read.input->text, c.text);
    EXPECT_THAT(read.warnings, IsEmpty());
  }
}

TEST(PromptInputTest, CompatStripsBothEnds) {  // section 4.13
  ScriptedStream in({{Millis(0), " \n a \n\n"}, {Millis(0), ""}});
  EXPECT_EQ(ReadFrom({.trim = PromptRequest::Trim::kBothEnds}, in).input->text, "a");
}

TEST(PromptInputTest, ATerminalIsReadOnlyWhenNamed) {  // CON-6
  ScriptedStream in({{Millis(0), "typed\n"}, {Millis(0), ""}});
  in.terminal = true;
  EXPECT_EQ(ReadFrom({.prompt = "P"}, in).input->text, "P");
  EXPECT_EQ(ReadFrom({}, in).input->from, PromptInput::From::kNothing);
  EXPECT_EQ(in.waits, 0);
  EXPECT_EQ(ReadFrom({.prompt = "-"}, in).input->text, "typed");
}

TEST(PromptInputTest, NoStdinMeansNever) {  // CON-6
  ScriptedStream in({{Millis(0), "x"}, {Millis(0), ""}});
  const auto read = ReadFrom({.prompt = "P", .stdin_use = PromptRequest::Stdin::kNever}, in);
  EXPECT_EQ(read.input->text, "P");
  EXPECT_EQ(in.waits, 0);
}

TEST(PromptInputTest, ASilentPipeWarnsOnceAndTimesOut) {  // CON-6, A6
  ScriptedStream slow({{Millis(5000), "late"}, {Millis(3000), ""}});
  const Read late = ReadFrom({.prompt = "P"}, slow);
  EXPECT_EQ(late.input->text, "P\nlate");
  EXPECT_THAT(late.warnings, ElementsAre(HasSubstr("waiting for stdin")));

  ScriptedStream silent({{Millis(60'001), "too late"}, {Millis(0), ""}});
  const Read dead = ReadFrom({.prompt = "P"}, silent);
  EXPECT_THAT(dead.input, FailsWith(ErrorCode::kTimeout, "60000 ms"));
  EXPECT_THAT(dead.warnings, ElementsAre(HasSubstr("waiting for stdin")));

  ScriptedStream soon({{Millis(1001), "x"}, {Millis(0), ""}});
  EXPECT_THAT(ReadFrom({.prompt = "P", .timeout = Millis(1000)}, soon).input,
              FailsWith(ErrorCode::kTimeout, "1000 ms"));

  ScriptedStream patient({{Millis(100'000'000), "x"}, {Millis(0), ""}});
  const Read waited = ReadFrom({}, patient);
  EXPECT_EQ(waited.input->text, "x") << "without a prompt it waits for ever";
  EXPECT_THAT(waited.warnings, IsEmpty());
  ScriptedStream forever({{Millis(100'000'000), "x"}, {Millis(0), ""}});
  EXPECT_EQ(ReadFrom({.prompt = "P", .timeout = Millis(0)}, forever).input->text, "P\nx");
}

TEST(PromptInputTest, AClosedStdinIsNone) {  // CON-6
  ScriptedStream in({});
  in.closed = true;
  EXPECT_EQ(ReadFrom({.prompt = "P"}, in).input->text, "P");
}

TEST(PromptInputTest, BytesThatAreNotUtf8AreRefusedWithTheirOffset) {  // section 6
  ScriptedStream in({{Millis(0), "ab\xffz"}, {Millis(0), ""}});
  EXPECT_THAT(ReadFrom({.prompt = "P"}, in).input,
              FailsWith(ErrorCode::kUsage, "stdin is not UTF-8: byte 2"));
  EXPECT_THAT(ReadFrom({.prompt = "é\xc3"}, in).input,
              FailsWith(ErrorCode::kUsage, "the prompt is not UTF-8: byte 2"));
}

}  // namespace
}  // namespace dossier::cli
