#include "ask/reply/extraction.h"

#include <gtest/gtest.h>

#include "ask/reply/code_repair.h"
#include "ask/reply/fences.h"
#include "base/random.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A stand-in for the sandbox's compiler: brackets and strings closed, no prose, no fences.
class TinyCompiler {
 public:
  static bool Compiles(std::string_view code) { return TinyCompiler(code).Run(); }

 private:
  explicit TinyCompiler(std::string_view code) : code_(code) {}

  bool Run() {
    while (at_ < code_.size()) {
      const char c = code_[at_];
      if (c == '"' || c == '\'') {
        if (!String(c)) return false;
        continue;
      }
      if (c == '#') at_ = std::min(code_.find('\n', at_), code_.size());
      if (c == '(' || c == '[') ++depth_;
      if ((c == ')' || c == ']') && --depth_ < 0) return false;
      if (std::string_view("`&;!?").find(c) != std::string_view::npos) return false;
      if (static_cast<unsigned char>(c) >= 0x80) return false;
      plain_ += at_ < code_.size() ? code_[at_++] : '\n';
    }
    return depth_ == 0 && NoProse();
  }

  bool String(char quote) {
    const bool triple = code_.substr(at_).starts_with(std::string(3, quote));
    const std::string end(triple ? 3 : 1, quote);
    const std::size_t close = code_.find(end, at_ + end.size());
    if (close == std::string_view::npos) return false;
    if (!triple && code_.substr(at_, close - at_).find('\n') != std::string_view::npos)
      return false;
    at_ = close + end.size();
    plain_ += '0';
    return true;
  }

  // Two words with only a blank between them are prose, except keywords.
  bool NoProse() const {
    for (const TextLine& line : SplitLines(plain_)) {
      std::string_view previous;
      for (const std::string_view word : Split(line.text, ' ')) {
        const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' || c == ',';
        });
        constexpr std::string_view kKeywords = " for in import from if else not and or return def ";
        const bool keyword = kKeywords.find(fmt::format(" {} ", word)) != std::string_view::npos;
        if (plain && !keyword && !previous.empty()) return false;
        previous = plain && !keyword ? word : std::string_view();
      }
    }
    return true;
  }

  const std::string_view code_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string plain_;
};

Extraction Extract(std::string_view reply, ExtractionOptions options = {}) {
  options.compiles = TinyCompiler::Compiles;
  return ExtractCode(reply, options);
}

std::vector<std::string> Codes(const Extraction& found) {
  std::vector<std::string> codes;
  for (const CodeBlock& block : found.blocks) codes.push_back(block.code);
  return codes;
}

std::string WithLineEnd(std::string_view text, std::string_view end) {
  return ReplaceAll(text, "\n", end);
}

TEST(ExtractionTest, TheExampleInTheHeaderWorks) {
  const Extraction found = Extract("I count.\n```repl\nprint(len(records))\n```\nDone.");
  ASSERT_EQ(found.blocks.size(), 1u);
  EXPECT_EQ(found.blocks[0].code, "print(len(records))");
  EXPECT_EQ(found.blocks[0].tag, "repl");
  EXPECT_EQ(found.text_outside, "I count.\nDone.");
  EXPECT_THAT(found.repairs, IsEmpty());
  EXPECT_EQ(found.feedback, "");
}

TEST(ExtractionTest, EveryTagOfItsDialectRunsAndNoOther) {  // REC-13, REC-A5
  constexpr std::string_view kPython[] = {
      "repl",   "python",    "py",       "python3",           "py3", "ipython", "tool_code",
      "Python", "{.python}", "{python}", "python title=\"x\""};
  constexpr std::string_view kJavaScript[] = {"js", "javascript", "node", "mjs",
                                              "ts", "typescript", "repl", "JS"};
  constexpr std::string_view kNever[] = {"json", "text", "bash", "sh", "csv", "sql", "markdown"};
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    const auto reply = [&](std::string_view tag) {
      return WithLineEnd(fmt::format("```{}\nx = 1\ny = f(x)\n```\n", tag), end);
    };
    for (const std::string_view tag : kPython) {
      EXPECT_THAT(Codes(Extract(reply(tag))), ElementsAre("x = 1\ny = f(x)")) << tag;
    }
    for (const std::string_view tag : kJavaScript) {
      EXPECT_THAT(Codes(Extract(reply(tag), {.dialect = Dialect::kJavaScript})),
                  ElementsAre("x = 1\ny = f(x)"))
          << tag;
    }
    for (const std::string_view tag : kNever) {
      const Extraction found = Extract(reply(tag));
      EXPECT_THAT(found.blocks, IsEmpty()) << tag;
      EXPECT_THAT(found.ignored_tags, ElementsAre(tag));
      EXPECT_THAT(found.feedback, HasSubstr(fmt::format("`{}`", tag)));
    }
    EXPECT_THAT(Extract(reply("js")).blocks, IsEmpty()) << "the other dialect";
    EXPECT_THAT(Extract(reply("python"), {.dialect = Dialect::kJavaScript}).blocks, IsEmpty());
  }
}

TEST(ExtractionTest, FencesAreFoundHoweverTheyAreDrawn) {  // REC-12
  constexpr std::string_view kReplies[] = {
      "```python\na = f(1)\n```",
      "~~~python\na = f(1)\n~~~",
      "````python\na = f(1)\n````",
      "```python\na = f(1)\n`````",
      "```   python  \na = f(1)\n```   ",
      "        ```python\na = f(1)\n        ```",
      "text\n```python\na = f(1)\n```\nmore text",
  };
  for (const std::string_view reply : kReplies) {
    for (const std::string_view end : {"\n", "\r\n", "\r"}) {
      const Extraction found = Extract(WithLineEnd(reply, end));
      EXPECT_THAT(Codes(found), ElementsAre("a = f(1)")) << reply;
      EXPECT_THAT(found.repairs, IsEmpty()) << reply;
    }
  }
  EXPECT_THAT(Codes(Extract("````python\ns = '''\n```\n'''\n````")),
              ElementsAre("s = '''\n```\n'''"));
  EXPECT_THAT(Codes(Extract("~~~python\ns = '''\n```\n'''\n~~~")),
              ElementsAre("s = '''\n```\n'''"));
  EXPECT_THAT(Extract("         ```python\na = f(1)\n```\nno, this is text").blocks, IsEmpty())
      << "nine spaces";
}

TEST(ExtractionTest, ReplBlocksGoBeforeOthersAndTaggedBeforeUntagged) {  // REC-13
  const Extraction repl = Extract("```python\na(1)\n```\n```repl\nb(1)\n```\n```repl\nc(1)\n```");
  EXPECT_THAT(Codes(repl), ElementsAre("b(1)", "c(1)"));
  EXPECT_THAT(repl.ignored_tags, ElementsAre("python"));
  EXPECT_THAT(Codes(Extract("```\na(1)\n```\n```python\nb(1)\n```")), ElementsAre("b(1)"));
  EXPECT_THAT(Codes(Extract("```\na(1)\n```\n```json\n{}\n```")), ElementsAre("a(1)"));
  EXPECT_THAT(Codes(Extract("```python\na(1)\n```\n```py\nb(1)\n```")),
              ElementsAre("a(1)", "b(1)"));
  const Extraction prose = Extract("```\nthis is only text\n```");
  EXPECT_THAT(prose.blocks, IsEmpty());
  EXPECT_THAT(prose.feedback, HasSubstr("without a tag"));
}

struct Row {
  std::string_view name, reply;
  std::vector<std::string> codes;
  std::string_view repair;  // part of one of the repairs; empty: none
};

TEST(ExtractionTest, EveryRowOfTheTableOfTolerances) {  // REC-14, REC-A5
  const Row kRows[] = {
      {"one-line fence", "```python print(1)```", {"print(1)"}, "one-line"},
      {"one-line fence without a tag", "So: \n```print(1)```\n", {"print(1)"}, "one-line"},
      {"closing fence at the end of the last line",
       "```python\nx = 1\nprint(x)```\nThat is it.",
       {"x = 1\nprint(x)"},
       "end of the last line"},
      {"the same before another block",
       "```python\nf(1)```\ntext\n```python\ng(2)\n```",
       {"f(1)", "g(2)"},
       "end of the last line"},
      {"closing fence missing",
       "Let me look:\n```python\nx = 1\nprint(x)",
       {"x = 1\nprint(x)"},
       "closing fence missing"},
      {"closing fence missing before the next",
       "```python\nx = 1\n```python\nprint(x)\n```",
       {"x = 1", "print(x)"},
       "before the next"},
      {"closing fence with a tag", "```python\nf(1)\n```python\n", {"f(1)"}, "with a tag"},
      {"backticks inside a string",
       "```python\ns = '''\n```\nx\n```\n'''\nprint(s)\n```\nDone.",
       {"s = '''\n```\nx\n```\n'''\nprint(s)"},
       "inside a string"},
      {"fence in a fence",
       "```\n```python\nprint(1)\n```\n```\n",
       {"print(1)"},
       "fence in a fence"},
      {"fence in a markdown fence",
       "```markdown\nHere:\n```python\nprint(1)\n```\n```\nend",
       {"print(1)"},
       "fence in a fence"},
      {"fence in a longer fence",
       "````md\nHere:\n```python\nprint(1)\n```\nand\n````\nend",
       {"print(1)"},
       "fence in a fence"},
      {"common indent",
       "1. Try:\n   ```python\n   for x in y:\n       f(x)\n\n   g(1)\n   ```",
       {"for x in y:\n    f(x)\n\ng(1)"},
       "common indent"},
      {"relative indent stays", "```python\nif x:\n    f(x)\n```", {"if x:\n    f(x)"}, ""},
      {"prompts",
       "```python\n>>> x = [\n...   1]\n>>> f(x)\n42\n>>>\n```",
       {"x = [\n  1]\nf(x)\n"},
       "interactive"},
      {"numbered prompts",
       "```python\nIn [1]: x = 1\n\nIn [2]: f(x)\nOut[2]: 42\n```",
       {"x = 1\nf(x)"},
       "interactive"},
      {"<python>", "I run <python>\nprint(1)\n</python> now", {"print(1)"}, "<python>"},
      {"<code>", "<code>print(1)</code>", {"print(1)"}, "<code>"},
      {"[PYTHON]", "[PYTHON]\nprint(1)\n[/PYTHON]", {"print(1)"}, "[python]"},
      {"<|python_tag|>", "<|python_tag|>print(1)<|eom_id|>", {"print(1)"}, "python_tag"},
      {"<tool_call>",
       "<tool_call>\n{\"name\": \"python\", \"arguments\": {\"code\": "
       "\"print(1)\\nf(2)\"}}\n</tool_call>",
       {"print(1)\nf(2)"},
       "tool_call"},
      {"tool call in JSON",
       "{\"name\": \"run\", \"arguments\": \"{\\\"code\\\": \\\"print(1)\\\"}\"}",
       {"print(1)"},
       "tool call in JSON"},
      {"tool call in a JSON fence",
       "```json\n{\"name\": \"python\", \"parameters\": {\"code\": \"print(1)\"}}\n```",
       {"print(1)"},
       "tool call in JSON"},
      {"entities",
       "```python\nif a &lt; b and c &gt; d:\n    f(&quot;x&quot;)\n```",
       {"if a < b and c > d:\n    f(\"x\")"},
       "entities"},
      {"entities that belong to the code",
       "```python\ns = \"&lt;b&gt;\"\n```",
       {"s = \"&lt;b&gt;\""},
       ""},
      {"curly quotes", "```python\nf(“x”, ‘y’)\n```", {"f(\"x\", 'y')"}, "curly"},
      {"no fence",
       "import json\nx = json.loads(context)\nprint(x)",
       {"import json\nx = json.loads(context)\nprint(x)"},
       "without a fence"},
      {"empty block", "```python\n```", {""}, ""},
  };
  for (const Row& row : kRows) {
    for (const std::string_view end : {"\n", "\r\n"}) {
      const Extraction found = Extract(WithLineEnd(row.reply, end));
      EXPECT_EQ(Codes(found), row.codes) << row.name;
      EXPECT_EQ(found.feedback, "") << row.name;
      if (row.repair.empty()) {
        EXPECT_THAT(found.repairs, IsEmpty()) << row.name;
      } else {
        EXPECT_THAT(found.repairs, ::testing::Contains(HasSubstr(std::string(row.repair))))
            << row.name;
      }
    }
  }
}

TEST(ExtractionTest, AReplyThatWasCutRunsOnlyItsWholeBlocks) {  // REC-14
  const Extraction found =
      Extract("```python\nf(1)\n```\n```python\nf(2", {.finish = ReplyFinish::kLength});
  EXPECT_THAT(Codes(found), ElementsAre("f(1)"));
  EXPECT_THAT(found.feedback, HasSubstr("Your reply was cut; write shorter blocks"));
  const Extraction none = Extract("```python\nx = 1", {.finish = ReplyFinish::kLength});
  EXPECT_THAT(none.blocks, IsEmpty());
  EXPECT_THAT(none.feedback, HasSubstr("was cut"));
  EXPECT_THAT(Extract("x = 1\nf(x)", {.finish = ReplyFinish::kLength}).blocks, IsEmpty());
  EXPECT_THAT(Extract("<python>f(1)", {.finish = ReplyFinish::kLength}).feedback,
              HasSubstr("was cut"));
}

TEST(ExtractionTest, ProseAndDataAreNotCode) {  // REC-14
  constexpr std::string_view kReplies[] = {
      "",
      "   \n",
      "The largest package is clang.",
      "I would call llm_query() on each part, then count.",
      "FINAL(42)",
      "FINAL_VAR(total)",
      "x",
      "{\"code\": 7}",
      "{\"code\": \"A12\", \"name\": \"clang\"}",
      "Use <code>records</code> for that.",
      "A fence like ```this is inline``` says nothing.",
      "```python```",
  };
  for (const std::string_view reply : kReplies) {
    EXPECT_THAT(Extract(reply).blocks, IsEmpty()) << reply;
    EXPECT_THAT(ExtractCode(reply, {}).blocks, IsEmpty()) << reply << " without a compiler";
  }
  EXPECT_THAT(Extract("```json\n{\"code\": \"f(1)\"}\n```").blocks, IsEmpty());
}

TEST(ExtractionTest, CodeInThinkingNeverCounts) {  // REC-11
  const Extraction found =
      Extract("<think>\n```python\nf(1)\n```\nFINAL(1)</think>\n```python\nf(2)\n```");
  EXPECT_THAT(Codes(found), ElementsAre("f(2)"));
  EXPECT_THAT(found.thinking, HasSubstr("FINAL(1)"));
  EXPECT_THAT(found.text_outside, Not(HasSubstr("FINAL")));
  const Extraction open = Extract("<think>\nI should\n```python\nf(1)\n```");
  EXPECT_THAT(open.blocks, IsEmpty());
  EXPECT_THAT(open.feedback, HasSubstr("<think>"));
}

TEST(ExtractionTest, WhatIsOutsideHoldsNoCode) {
  const Extraction found =
      Extract("FINAL(1)\n```json\nFINAL(2)\n```\n```\nFINAL(3)\n```\nFINAL(4)");
  EXPECT_EQ(found.text_outside, "FINAL(1)\nFINAL(4)");
  EXPECT_EQ(Extract("x = f(1)\nFINAL(x)").text_outside, "") << "all of it is code";
}

TEST(ExtractionTest, ASmallModelMayUseAnyTagAndProseAroundItsCode) {  // small-models 11
  const ExtractionOptions small{.model = ModelSize::kSmall};
  const Extraction tag = Extract("```code-cell\nx = f(1)\n```", small);
  EXPECT_THAT(Codes(tag), ElementsAre("x = f(1)"));
  EXPECT_THAT(tag.repairs, ElementsAre("tag code-cell taken as code"));
  EXPECT_THAT(Extract("```code-cell\nx = f(1)\n```").blocks, IsEmpty()) << "a large one may not";
  EXPECT_THAT(Extract("```json\nx = f(1)\n```", small).blocks, IsEmpty());

  EXPECT_THAT(Codes(Extract("`print(len(records))`\n", small)), ElementsAre("print(len(records))"));
  EXPECT_THAT(Extract("`FINAL(42)`", small).blocks, IsEmpty());
  EXPECT_THAT(Codes(Extract("python\nprint(1)", small)), ElementsAre("print(1)"));

  const Extraction prose = Extract(
      "To answer this we count the rows:\n\nn = len(records)\nprint(n)\n\nThis prints how many "
      "rows "
      "there are.\n",
      small);
  EXPECT_THAT(Codes(prose), ElementsAre("n = len(records)\nprint(n)"));
  EXPECT_THAT(prose.repairs, ElementsAre("code between prose without a fence"));
  EXPECT_THAT(prose.text_outside, HasSubstr("This prints"));
}

TEST(ExtractionTest, TheCompilerIsAskedOnlyWhereItMatters) {
  int asked = 0;
  const CompileCheck count = [&asked](std::string_view) { return ++asked, false; };
  ExtractCode("```python\nf(1)\n```", {.compiles = count});
  EXPECT_EQ(asked, 0) << "an ordinary block";
  std::string hostile;
  for (int i = 0; i < 500; ++i) hostile += "```python\nf('''\n```\n";
  ExtractCode(hostile, {.compiles = count});
  EXPECT_LE(asked, kMaxCompiles);
}

TEST(ExtractionTest, EqualProgramsHaveEqualKeys) {  // REC-16
  EXPECT_EQ(CodeKey("a\n\nb  "), CodeKey("a\r\nb\n"));
  EXPECT_NE(CodeKey("if a:\n  b"), CodeKey("if a:\nb"));
}

// Random replies from relevant pieces: no crash, nothing from outside the reply, and it contains
// every block that fences delimit.
TEST(ExtractionTest, AnyMixtureOfFencesAndTextIsRead) {
  constexpr std::string_view kPieces[] = {
      "```",     "~~~",         "````",         "python",   "repl",       "json",
      "\n",      "\r\n",        "\r",           "f(1)",     "x = '",      "'''",
      "<think>", "</think>",    "<code>",       "</code>",  " ",          "    ",
      ">>> ",    "... ",        "In [1]: ",     "FINAL(1)", "text",       "{\"code\": \"f(1)\"}",
      "&lt;",    "<tool_call>", "</tool_call>", "[PYTHON]", "<|im_end|>", "\xFF",
      "东"};
  Random random(17);
  for (int round = 0; round < 3000; ++round) {
    std::string reply;
    for (std::uint64_t i = random.Below(30); i > 0; --i) {
      reply += kPieces[random.Below(std::size(kPieces))];
    }
    for (const ModelSize model : {ModelSize::kLarge, ModelSize::kSmall}) {
      for (const ReplyFinish finish : {ReplyFinish::kStop, ReplyFinish::kLength}) {
        const Extraction found = Extract(reply, {.finish = finish, .model = model});
        EXPECT_LE(found.text_outside.size(), reply.size());
        for (const CodeBlock& block : found.blocks) EXPECT_LE(block.code.size(), reply.size());
        if (found.blocks.empty() && finish == ReplyFinish::kStop && found.text_outside.empty() &&
            !found.ignored_tags.empty()) {
          EXPECT_NE(found.feedback, "") << reply;
        }
      }
    }
    const std::string bytes = random.Bytes(random.Below(200));
    ExtractCode(bytes, {});
  }
}

}  // namespace
}  // namespace dossier::ask
