#include "cli/wiring/attachments.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/net/http_listener.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
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

// FLT-48: the content says what a file is, not its name.
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

TEST_F(AttachmentsTest, ThatAreNeitherAreRefusedByName) {
  EXPECT_THAT(Read(Put("x.pdf", "%PDF-1.7\n\x80\x81")),
              FailsWith(ErrorCode::kInvalidArgument, "PDF"));
  EXPECT_THAT(Read(Put("x", std::string_view("a\0b", 3))),
              FailsWith(ErrorCode::kInvalidArgument, "neither text nor an image"));
  EXPECT_THAT(Read("/bin/ls"), FailsWith(ErrorCode::kInvalidArgument, "neither text"));
  EXPECT_THAT(Read(Put("x.docx", std::string("PK\3\4\24\0\0\0\10\0", 10) + std::string(60, 'a'))),
              FailsWith(ErrorCode::kInvalidArgument, "neither text"));
  EXPECT_THAT(Read(temp_.path()), FailsWith(ErrorCode::kInvalidArgument, "folder"));
  EXPECT_THAT(Read(temp_.path() + "/none"), FailsWith(ErrorCode::kNotFound, "none"));
}

// FLT-48: once, up to a size, and never where it leads to.
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
