#include "memory/blocks/reply.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier::memory {
namespace {

std::vector<std::string> Names(const std::vector<Notice>& notices) {
  std::vector<std::string> names;
  for (const Notice& notice : notices) names.push_back(notice.name);
  return names;
}

// Returns what a display shows of `reply` when it arrives in chunks of 1 to `longest` bytes.
std::string Shown(std::string_view reply, std::size_t longest, std::uint64_t seed) {
  Random random(seed);
  BlockFilter filter;
  std::string shown;
  while (!reply.empty()) {
    const std::size_t count = std::min<std::size_t>(reply.size(), 1 + random.Below(longest));
    shown += filter.Push(reply.substr(0, count));
    reply.remove_prefix(count);
  }
  return shown + filter.Finish();
}

struct Case {
  std::string_view name;
  std::string_view reply;
  std::string_view payload;
  std::string_view input;  // the block's JSON; "": no block
  std::string_view fault;  // its name; "": none
  std::vector<std::string> warnings;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      {"plain", "Hello\n", "Hello\n", "", "", {}},
      {"a block in front",
       "<memory_update>{\"core_get\": \"a\"}</memory_update>\n\nDone. ",
       "Done.",
       R"({"core_get":"a"})",
       "",
       {}},
      {"a block behind",
       "Done.\n\n<memory_update>\n{\"core_get\": \"a\"}\n</memory_update>\n",
       "Done.",
       R"({"core_get":"a"})",
       "",
       {}},
      {"a block between", "A\n<memory_update>{}</memory_update>\nB", "A\n\nB", "{}", "", {}},
      {"an escaped end", "<memory_update>{}<\\/memory_update>x", "x", "{}", "", {}},
      {"nothing in it", "<memory_update> \n</memory_update>x", "x", "{}", "", {}},
      {"nothing but a tag", "<memory_update/>x", "x", "{}", "", {}},
      {"attributes",
       "<memory_update version=\"1\">{}</memory_update>x",
       "x",
       "{}",
       "",
       {"attributes_dropped"}},
      {"a fence inside",
       "<memory_update>\n```json\n{\"core_get\": \"`\"}\n```\n</memory_update>x",
       "x",
       R"({"core_get":"`"})",
       "",
       {}},
      {"in a code fence",
       "```xml\n<memory_update>{}</memory_update>\n```\ntext",
       "```xml\n<memory_update>{}</memory_update>\n```\ntext",
       "",
       "",
       {}},
      {"behind a code fence",
       "```\ncode\n```\n<memory_update>{}</memory_update>",
       "```\ncode\n```",
       "{}",
       "",
       {}},
      {"in a tilde fence",
       "x\n~~~\n<memory_update>{}</memory_update>\n~~~",
       "x\n~~~\n<memory_update>{}</memory_update>\n~~~",
       "",
       "",
       {}},
      {"a shorter fence does not close",
       "x\n````\n```\n<memory_update>{}</memory_update>\n````\n",
       "x\n````\n```\n<memory_update>{}</memory_update>\n````\n",
       "",
       "",
       {}},
      {"backticks in a line are no fence",
       "```x``` <memory_update>{}</memory_update>",
       "```x```",
       "{}",
       "",
       {}},
      {"in a JSON string",
       R"({"say": "<memory_update>{}</memory_update>"})",
       R"({"say": "<memory_update>{}</memory_update>"})",
       "",
       "",
       {}},
      {"behind a JSON payload",
       "{\"say\": \"\\\"<memory_update>\"}\n<memory_update>{}</memory_update>",
       R"({"say": "\"<memory_update>"})",
       "{}",
       "",
       {}},
      {"in quotes of prose",
       "He said \"<memory_update>{}</memory_update>\"",
       "He said \"\"",
       "{}",
       "",
       {}},
      {"wholly in a fence",
       "```json\n{\"a\": 1}\n<memory_update>{}</memory_update>\n```\n",
       "{\"a\": 1}",
       "{}",
       "",
       {}},
      {"wholly in a fence with a fence inside",
       "````\n```\n<memory_update>{\"core_get\": \"a\"}</memory_update>\n```\nx\n"
       "<memory_update>{}</memory_update>\n````",
       "```\n<memory_update>{\"core_get\": \"a\"}</memory_update>\n```\nx",
       "{}",
       "",
       {}},
      {"a fence without a block stays", "```\ncode\n```\n", "```\ncode\n```\n", "", "", {}},
      {"a slash for an end",
       "x <memory_update>{\"core_set\": {\"a\": \"b\"}}/> y",
       "x  y",
       "",
       "malformed_block",
       {}},
      {"a slash and no tag",
       "<memory_update {\"core_set\": {\"a\": \"b\"}}/>y",
       "y",
       "",
       "malformed_block",
       {}},
      {"not closed", "x <memory_update>{\"core_set\": {\"a\": ", "x", "", "malformed_block", {}},
      {"not closed, then the answer",
       "<memory_update>{\"core_get\": \"a\"}\n\nThe answer.",
       "The answer.",
       "",
       "malformed_block",
       {}},
      {"only a tag", "x <memory_update> and more", "x  and more", "", "malformed_block", {}},
      {"half a tag", "x <memory_update", "x", "", "malformed_block", {}},
      {"another word",
       "<memory_updates>{}</memory_updates>",
       "<memory_updates>{}</memory_updates>",
       "",
       "",
       {}},
      {"the start of a word", "x <memory_upd", "x <memory_upd", "", "", {}},
      {"two blocks",
       "<memory_update>{}</memory_update>A<memory_update>{\"core_get\": \"a\"}</memory_update>B",
       "AB",
       "{}",
       "",
       {"extra_block"}},
      {"invented results",
       "A <memory_results>x <memory_update>{}</memory_update></memory_results> B",
       "A  B",
       "",
       "",
       {"invented_results"}},
      {"results that do not end", "A <memory_results> B", "A <memory_results> B", "", "", {}},
      {"results that do not end, and a block",
       "A <memory_results> B<memory_update>{}</memory_update>",
       "A <memory_results> B",
       "{}",
       "",
       {}},
      {"bad JSON", "A <memory_update>{\"a\" 1}</memory_update>", "A", "", "bad_json", {}},
      {"the next end counts, also in a string",
       "<memory_update>{\"core_get\": \"</memory_update>\"}</memory_update>",
       "\"}</memory_update>",
       "",
       "bad_json",
       {}},
      {"CRLF",
       "A\r\n```\r\n<memory_update>\r\n```\r\n<memory_update>{}</memory_update>\r\n",
       "A\r\n```\r\n<memory_update>\r\n```",
       "{}",
       "",
       {}},
  };
  return kCases;
}

TEST(ReplyTest, PartsTheReplyIntoBlockAndPayload) {  // MEM-22, MEM-23, MEM-T19
  for (const Case& c : Cases()) {
    const ParsedReply parsed = ParseReply(c.reply);
    EXPECT_EQ(parsed.payload, c.payload) << c.name;
    EXPECT_EQ(parsed.block ? ToJson(parsed.block->input) : "", c.input) << c.name;
    EXPECT_EQ(parsed.fault ? FaultName(parsed.fault->kind) : "", c.fault) << c.name;
    EXPECT_EQ(Names(parsed.warnings), c.warnings) << c.name;
  }
}

TEST(ReplyTest, ADisplayNeverShowsABlockWhateverTheChunks) {  // MEM-T26
  for (const Case& c : Cases()) {
    const ParsedReply parsed = ParseReply(c.reply);
    const std::string whole = Shown(c.reply, c.reply.size(), 1);
    if (!c.name.starts_with("wholly")) {
      EXPECT_EQ(TrimSpace(whole), TrimSpace(parsed.payload)) << c.name;
    }
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      EXPECT_EQ(Shown(c.reply, 1 + seed / 4, seed), whole) << c.name;
    }
  }
  EXPECT_EQ(Shown("```json\n{}\n<memory_update>{}</memory_update>\n```\n", 3, 1),
            "```json\n{}\n\n```");
}

TEST(ReplyTest, TextIsShownAsSoonAsItIsCertain) {  // MEM-T26
  BlockFilter filter;
  EXPECT_EQ(filter.Push("The answer"), "The answer");
  EXPECT_EQ(filter.Push(" is <b>4</b>"), " is <b>4</b>");
  EXPECT_EQ(filter.Push(".\n<memory"), ".");
  EXPECT_EQ(filter.Push("_update>{\"core_set\""), "");
  EXPECT_EQ(filter.Push(": {}}</memory_upd"), "");
  EXPECT_EQ(filter.Push("ate>\nMore"), "\n\nMore");
  EXPECT_EQ(filter.Finish(), "");
}

TEST(ReplyTest, FaultsSayLineColumnAndWhatWasExpected) {  // MEM-23
  const std::string_view reply =
      "Text\n<memory_update>\n{\n  \"core_set\": {\"a\": \"b\"},\n  \"core_get\": "
      "{é\n}}</memory_update>";
  const ParsedReply parsed = ParseReply(reply);
  ASSERT_TRUE(parsed.fault);
  EXPECT_EQ(parsed.fault->text,
            "memory_update: line 3, column 16: expected a name in double quotes or '}'");
  EXPECT_EQ(reply.substr(parsed.fault->offset, 2), "é");
  EXPECT_EQ(ParseReply("<memory_update>{").fault->text,
            "memory_update is not closed; end it with </memory_update>");
}

TEST(ReplyTest, WithMemoryOffABlockIsRemovedAndReported) {  // MEM-54
  const ParsedReply parsed = RemoveBlocks("A <memory_update>{}</memory_update>");
  EXPECT_EQ(parsed.payload, "A");
  EXPECT_FALSE(parsed.block);
  EXPECT_EQ(Names(parsed.warnings), std::vector<std::string>{"memory_off"});
  EXPECT_TRUE(RemoveBlocks("A ").warnings.empty());
}

TEST(ReplyTest, AnyReplyIsReadAlikeInAnyChunks) {  // MEM-22
  constexpr std::string_view kWords[] = {"<memory_update",
                                         ">",
                                         "</memory_update>",
                                         "<\\/memory_update>",
                                         "{",
                                         "}",
                                         "\"",
                                         "\\",
                                         "/>",
                                         "```",
                                         "```json",
                                         "~~~",
                                         "\n",
                                         " ",
                                         "a",
                                         "é",
                                         "<memory_results>",
                                         "</memory_results>",
                                         "[",
                                         "<",
                                         "{\"core_get\": \"a\"}",
                                         "`"};
  Random random(/*seed=*/5);
  for (int round = 0; round < 20'000; ++round) {
    std::string reply;
    for (std::uint64_t i = random.Below(14); i > 0; --i)
      reply += kWords[random.Below(std::size(kWords))];
    const ParsedReply parsed = ParseReply(reply);
    const std::string whole = Shown(reply, 1000, 1);
    EXPECT_EQ(Shown(reply, 3, random.Next()), whole) << reply;
    if (!parsed.block && !parsed.fault && parsed.warnings.empty()) {
      EXPECT_EQ(whole, reply);
      EXPECT_EQ(parsed.payload, reply);
    }
  }
}

TEST(ReplyTest, HostileRepliesTakeTimeInTheirLength) {
  for (const std::string_view part :
       {"<memory_update>x", "<memory_update", "<memory_results>", "<", "```", "```\n",
        "<memory_update>{", "<memory_update>{}", "{\""}) {
    std::string reply;
    while (reply.size() < (1 << 20)) reply += part;
    Shown(reply, 4096, 1);  // a quadratic reading would take minutes
    ParseReply(reply);
  }
}

}  // namespace
}  // namespace dossier::memory
