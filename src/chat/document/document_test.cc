#include "chat/document/document.h"

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "chat/document/stored.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

// A file as written by a Python program: escapes, a foreign key, odd numbers, parts, null content.
constexpr std::string_view kForeign = R"({
  "id": "bug-12",
  "model": "gpt-4",
  "messages": [
    {
      "role": "user",
      "content": "Gr\u00fc\u00dfe",
      "weight": 1.50
    },
    {
      "role": "assistant",
      "content": null,
      "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    },
    {
      "role": "tool",
      "tool_call_id": "c1",
      "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    }
  ],
  "created_at": "2026-11-21T12:47:14.000000Z",
  "updated_at": "2026-11-21T12:47:15.250000Z",
  "metadata": {
    "zeta": 123456789012345678901234567890,
    "alpha": {}
  },
  "mine": [1, 2.0, 3e5]
})";

Document Parsed(std::string_view text) {
  auto document = Document::Parse(std::string(text), "bug-12");
  EXPECT_THAT(document, Succeeds());
  return std::move(*document);
}

// CON-A10: a file that is only read and written is the same file.
TEST(Document, GivesBackWhatItRead) { EXPECT_EQ(Parsed(kForeign).Render().Joined(), kForeign); }

// CON-29, CON-A10, CON-B13
TEST(Document, AppendsWithoutTouchingTheRest) {
  Document document = Parsed(kForeign);
  document.AppendMessage(JsonObject{{"role", "user"}, {"content", "naïve"}});
  document.SetUpdated("2026-11-22T00:00:00.000001Z");
  ASSERT_THAT(document.metadata().Set({"dossier", "version"}, 1), Succeeds());
  const std::string text = document.Render().Joined();
  std::string expected(kForeign);
  expected = ReplaceAll(expected, "    }\n  ],\n",
                        "    },\n    {\n      \"role\": \"user\",\n      \"content\": "
                        "\"na\\u00efve\"\n    }\n  ],\n");
  expected = ReplaceAll(expected, "2026-11-21T12:47:15.250000Z", "2026-11-22T00:00:00.000001Z");
  expected = ReplaceAll(expected, "    \"alpha\": {}\n",
                        "    \"alpha\": {},\n    \"dossier\": {\n      \"version\": 1\n    }\n");
  EXPECT_EQ(text, expected);
}

TEST(Document, WritesTheSixKeysInOrderWithoutAFinalNewline) {
  Document document = Document::Make("bug-12", "gpt-4", "2026-11-21T12:47:14.000000Z");
  document.AppendMessage(JsonObject{{"role", "user"}, {"content", "Hello"}});
  ASSERT_THAT(document.metadata().Set({"total_tokens"}, 1), Succeeds());
  EXPECT_EQ(document.Render().Joined(), R"({
  "id": "bug-12",
  "model": "gpt-4",
  "messages": [
    {
      "role": "user",
      "content": "Hello"
    }
  ],
  "created_at": "2026-11-21T12:47:14.000000Z",
  "updated_at": "2026-11-21T12:47:14.000000Z",
  "metadata": {
    "total_tokens": 1
  }
})");
}

// CON-B14
TEST(Document, NamesWhatIsMalformed) {
  const std::string cut(kForeign.substr(0, 300));
  struct Bad {
    std::string text, reason;
  };
  for (const Bad& bad :
       {Bad{"[]", "not an object"}, Bad{cut, "byte"}, Bad{"", "empty"},
        Bad{R"({"messages": {}})", "messages is not a list"},
        Bad{R"({"messages": [1]})", "messages[0]"}, Bad{R"({"messages": [{}]})", "no role"},
        Bad{R"({"messages": [], "messages": []})", "twice"},
        Bad{R"({"metadata": 1})", "metadata"}}) {
    EXPECT_THAT(Document::Parse(bad.text, "x"),
                FailsWith(ErrorCode::kDamaged, "conversation x is malformed: "));
    EXPECT_THAT(Document::Parse(bad.text, "x"), FailsWith(ErrorCode::kDamaged, bad.reason));
  }
}

// CON-B13
TEST(Document, FillsInWhatAFileLeavesOut) {
  for (const std::string_view text :
       {"{}", R"({"id": "x"})", R"({"messages": []})", R"({"messages": [], "metadata": null})"}) {
    Document document = Parsed(text);
    EXPECT_EQ(document.Render().Joined(), text);
    document.AppendMessage(JsonObject{{"role", "user"}, {"content", "Hi"}});
    document.SetUpdated("2026-11-22T00:00:00.000000Z");
    ASSERT_THAT(document.metadata().Set({"total_tokens"}, 1), Succeeds());
    const Document again = Parsed(document.Render().Joined());
    EXPECT_EQ(again.message_count(), 1u) << text;
    EXPECT_EQ(again.updated_at(), "2026-11-22T00:00:00.000000Z");
    EXPECT_EQ(FindInt(*again.ReadMetadata(), "total_tokens"), 1);
  }
}

// CON-B15
TEST(Document, MovesForeignKeysOnlyWhenAsked) {
  Document document = Parsed(kForeign);
  EXPECT_EQ(document.ForeignKeys(), std::vector<std::string>{"mine"});
  ASSERT_THAT(document.MoveForeignKeys(), Succeeds());
  EXPECT_TRUE(document.ForeignKeys().empty());
  EXPECT_NE(document.Render().Joined().find("\"mine\": [1, 2.0, 3e5]"), std::string::npos);
}

TEST(Document, ErasesAndInsertsMessages) {
  Document document = Parsed(kForeign);
  ASSERT_THAT(document.InsertFirstMessage(JsonObject{{"role", "system"}, {"content", "S"}}),
              Succeeds());
  ASSERT_EQ(document.message_count(), 4u);
  EXPECT_EQ(document.RawMessage(0),
            "{\n      \"role\": \"system\",\n      \"content\": \"S\"\n    }");
  Document other = Parsed(kForeign);
  ASSERT_THAT(other.SetContent(0, "new"), Succeeds());
  EXPECT_NE(other.RawMessage(0).find("\"weight\": 1.50"), std::string_view::npos);
  ASSERT_THAT(other.EraseMessagesFrom(1), Succeeds());
  EXPECT_EQ(other.message_count(), 1u);
  ASSERT_THAT(other.EraseMessagesFrom(0), Succeeds());
  EXPECT_EQ(other.message_count(), 0u);
}

TEST(Document, FormatsTimesWithSixDecimals) {
  const Clock::Wall time{std::chrono::microseconds(1'795'265'234'000'250)};
  EXPECT_EQ(FormatMicros(time), "2026-11-21T12:47:14.000250Z");
}

// CON-B14: what cannot be meant is refused by name, whatever the file says its id is.
TEST(Stored, RefusesMetadataThatCannotBeMeant) {
  const std::pair<std::string_view, std::string> kBad[] = {
      {R"("context": {"mode": "weird"})", "metadata.context.mode is 'weird'"},
      {R"("context": {"mode": "static", "offset": -2})", "metadata.context.offset is -2"},
      {R"("context": {"mode": "static", "length": 18446744073709551615})",
       "metadata.context.length"},
      {R"("context": {"mode": "static", "offset": "1"})", "metadata.context.offset is \"1\""},
      {R"("dossier": {"turns": [{"n": -5}]})", "a turn.n is -5"},
      {R"("dossier": {"turns": {}})", "turns is not a list"},
      {R"("dossier": {"compaction": [{"id": 1, "from": -1, "to": 0}]})", "a compaction.from is -1"},
      {R"("dossier": {"compaction": [{"id": 9223372036854775807}]})", "a compaction.id is 9223"},
  };
  for (const auto& [metadata, reason] : kBad) {
    const Document document = Parsed(fmt::format(
        R"({{"messages": [{{"role": "system", "content": "S"}}], "metadata": {{{}}}}})", metadata));
    EXPECT_THAT(ReadStored(document), FailsWith(ErrorCode::kDamaged, reason)) << metadata;
    EXPECT_THAT(ReadStored(document),
                FailsWith(ErrorCode::kDamaged, "conversation bug-12 is malformed: "));
  }
}

// FLT-135: what only does not fit the messages any more is warned of.
TEST(Stored, LoadsWhatAHandLeft) {
  const std::pair<std::string_view, std::string> kEdited[] = {
      {R"("context": {"mode": "static", "offset": 1, "length": 2})", "was edited"},
      {R"("context": {"mode": "static", "system_sha256": "00"})", "was edited"},
      {R"("dossier": {"compaction": [{"id": 1, "from": 0, "to": 9}]})", "are not there"},
      {R"("dossier": {"compaction": [{"id": 1, "from": 0, "to": 0}]})", "the system message"},
  };
  for (const auto& [metadata, reason] : kEdited) {
    const auto stored = ReadStored(Parsed(
        fmt::format(R"({{"messages": [{{"role": "system", "content": "S"}}], "metadata": {{{}}}}})",
                    metadata)));
    ASSERT_THAT(stored, Succeeds()) << metadata;
    ASSERT_EQ(stored->warnings.size(), 1u) << metadata;
    EXPECT_NE(stored->warnings[0].find(reason), std::string::npos) << stored->warnings[0];
    EXPECT_TRUE(stored->compaction.empty());
    if (stored->context) {
      EXPECT_EQ(stored->context->length, 0u);
    }
  }
}

// CON-B13
TEST(Stored, ATotalThatIsNoCountIsAbsent) {
  for (const std::string_view total : {"null", "-1", "1.5", "\"9\"", "9223372036854775807"}) {
    const auto stored =
        ReadStored(Parsed(fmt::format(R"({{"metadata": {{"total_tokens": {}}}}})", total)));
    ASSERT_THAT(stored, Succeeds()) << total;
    EXPECT_EQ(stored->total_tokens, std::nullopt) << total;
  }
}

// CON-A10
TEST(Stored, ReadsMessagesWordByWord) {
  const auto stored = ReadStored(Parsed(kForeign));
  ASSERT_THAT(stored, Succeeds());
  ASSERT_EQ(stored->messages.size(), 3u);
  EXPECT_EQ(stored->messages[0].Text(), "Grüße");
  EXPECT_TRUE(stored->messages[1].json.at("content").is_null());
  EXPECT_EQ(stored->messages[2].json.at("content").as_array().size(), 2u);
  ASSERT_EQ(stored->warnings.size(), 1u);
  EXPECT_NE(stored->warnings[0].find("'mine'"), std::string::npos);
}

}  // namespace
}  // namespace dossier::chat
