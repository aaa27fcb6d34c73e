#include "cli/wiring/prompt_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/files/file.h"
#include "base/net/http_listener.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ready = InputStream::Ready;

// Alternates silence and bytes; time passes only here.
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

namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;
using Strings = std::vector<std::string>;

class AttachmentsTest : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, std::string_view bytes) {
    std::string path = temp_.path() + "/" + name;
    EXPECT_THAT(WriteFileAtomic(path, bytes), Succeeds());
    return path;
  }
  Result<Attachments> Read(const std::string& place, Network network = Network::kAny) {
    return ReadAttachments({place}, network, {});
  }

  TempFolder temp_ = *TempFolder::Make();
};

// FLT-48: the content of a file, not its name, decides what it is.
TEST_F(AttachmentsTest, AreTextsAndImages) {
  const auto text = Read(Put("photo.png", "no photo\n"));
  ASSERT_THAT(text, Succeeds());
  ASSERT_EQ(text->texts.size(), 1u);
  EXPECT_EQ(text->texts[0].text, "no photo\n");
  const auto image = Read(Put("notes.txt", "\x89PNG\r\n\x1a\nrest"));
  ASSERT_THAT(image, Succeeds());
  ASSERT_EQ(image->images.size(), 1u);
  EXPECT_EQ(image->images[0].media_type, "image/png");
  EXPECT_TRUE(image->texts.empty());
  EXPECT_EQ(Read(Put("a", "\xFF\xD8\xFF\xE0"))->images[0].media_type, "image/jpeg");
  EXPECT_EQ(Read(Put("b", "RIFF1234WEBPVP8 "))->images[0].media_type, "image/webp");
}

TEST_F(AttachmentsTest, ComeInAnyEncoding) {
  const std::string_view utf16("\xFF\xFEG\0r\0\xFC\0n\0", 10);
  EXPECT_EQ(Read(Put("a", utf16))->texts[0].text, "Grün");
  EXPECT_EQ(Read(Put("b", "\xEF\xBB\xBFx"))->texts[0].text, "x");
  const auto legacy = Read(Put("c",
                               "Gr\xFC\xDF"
                               "e aus M\xFCnchen, sch\xF6ne Stadt\n"));
  ASSERT_THAT(legacy, Succeeds());
  EXPECT_EQ(legacy->texts[0].text, "Grüße aus München, schöne Stadt\n");
  EXPECT_EQ(legacy->warnings.size(), 1u);
}

TEST_F(AttachmentsTest, AreReadAsInspectReadsThem) {  // FLT-48
  const auto latin = Read(Put("latin.txt", "caf\xE9 na\xEFve\n"));
  ASSERT_THAT(latin, Succeeds());
  EXPECT_EQ(latin->texts[0].text, "café naïve\n");
  EXPECT_THAT(latin->warnings, ::testing::ElementsAre(::testing::HasSubstr("ISO-8859-1")));
  constexpr std::string_view kPacked(
      "\x1F\x8B\x08\x00\x00\x00\x00\x00\x02\x03\x4B\xD4\x49\xE2\x32\xD4\x31\xE2"
      "\x02\x00\x7B\x07\x97\x0A\x08\x00\x00\x00",
      28);
  const auto packed = Read(Put("d.csv.gz", kPacked));
  ASSERT_THAT(packed, Succeeds());
  EXPECT_EQ(packed->texts[0].text, "a,b\n1,2\n");
}

TEST_F(AttachmentsTest, ThatAreNeitherAreRefusedByName) {
  EXPECT_THAT(Read(Put("x.pdf", "%PDF-1.7\n\x80\x81")),
              FailsWith(ErrorCode::kInvalidArgument,
                        "PDF; `pdftotext` makes text of it, and --exec attaches"));
  EXPECT_THAT(Read(Put("x", std::string_view("a\0b", 3))),
              FailsWith(ErrorCode::kInvalidArgument, "neither text nor an image"));
  EXPECT_THAT(Read(Put("d.csv.gz", std::string("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10) + "\xFF\xFE")),
              FailsWith(ErrorCode::kInvalidArgument, "gzip data of which only a part is read"));
  EXPECT_THAT(Read("/bin/ls"), FailsWith(ErrorCode::kInvalidArgument, "neither text"));
  EXPECT_THAT(Read(Put("x.docx", std::string("PK\3\4\24\0\0\0\10\0", 10) + std::string(60, 'a'))),
              FailsWith(ErrorCode::kInvalidArgument, "neither text"));
  EXPECT_THAT(Read(temp_.path()), FailsWith(ErrorCode::kInvalidArgument, "folder"));
  EXPECT_THAT(Read(temp_.path() + "/none"), FailsWith(ErrorCode::kNotFound, "none"));
}

// FLT-48: fetched once, up to a size, without following it to other addresses.
TEST_F(AttachmentsTest, AnAddressIsFetchedUpToASize) {
  int asked = 0;
  const auto listener = HttpListener::Start({}, [&](auto exchange) {
    ++asked;
    const std::string& target = exchange->request().target;
    if (target == "/moved") {
      exchange->Reply({.status = 302, .headers = {{"Location", "http://169.254.0.1/x"}}});
    } else if (target == "/none") {
      exchange->Reply({.status = 404, .body = "no"});
    } else {
      exchange->Reply({.status = 200, .body = std::string(2000, 'a')});
    }
  });
  ASSERT_THAT(listener, Succeeds());
  const std::string base = fmt::format("http://127.0.0.1:{}", (*listener)->port());
  EXPECT_EQ(Read(base + "/page")->texts[0].text.size(), 2000u);
  EXPECT_THAT(FetchAddress(base + "/page", 1000, Network::kAny, {}),
              FailsWith(ErrorCode::kTooLong, "larger than"));
  EXPECT_THAT(Read(base + "/moved"),
              FailsWith(ErrorCode::kNetwork, "leads to http://169.254.0.1/x"));
  EXPECT_THAT(Read(base + "/none"), FailsWith(ErrorCode::kNetwork, "status 404"));
  const int before = asked;
  EXPECT_THAT(Read(base + "/page", Network::kNone), FailsWith(ErrorCode::kNetwork, "--offline"));
  EXPECT_EQ(asked, before);
}

// FLT-141
TEST_F(AttachmentsTest, ALineNamesFilesByAnAt) {
  const std::string a = Put("a.txt", "x"), spaced = Put("b c.txt", "x");
  EXPECT_EQ(MentionedFiles("look at @" + a + ", please"), Strings{a});
  EXPECT_EQ(MentionedFiles("@\"" + spaced + "\" and @" + a), (Strings{spaced, a}));
  EXPECT_EQ(MentionedFiles("what is @https://example.org/x?"), Strings{"https://example.org/x"});
  EXPECT_EQ(MentionedFiles("ann@example.org, @nobody @ and @" + temp_.path()), Strings{});
}

}  // namespace
}  // namespace dossier::cli
