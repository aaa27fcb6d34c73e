#include "assembly/fit/fit.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

const tokens::Counter& Chars() {
  static const std::shared_ptr<const tokens::Counter> counter = tokens::MakeCharCounter();
  return *counter;
}

// A part with all that FitTo looks at.
struct TestPart {
  LayoutSection rule;
  Part part;

  TestPart(Fit fit, std::string body) {
    rule.name = "notes";
    rule.fit = fit;
    part.rule = &rule;
    part.body = std::move(body);
    part.frame.name = "notes";
  }
  TestPart(const TestPart&) = delete;

  std::optional<Fitted> To(std::int64_t grant, std::int64_t per_message = 0) {
    const FitContext context{Chars(), per_message};
    part.full = *FitFull(part, context);
    Fitted* const texts[] = {&part.full};
    if (!part.full.text.empty()) Measure(texts, context);
    return FitTo(part, grant, context);
  }
  std::string TextTo(std::int64_t grant) {
    const auto fitted = To(grant);
    return fitted ? fitted->text : "(nothing)";
  }
};

constexpr std::string_view kTen = "l0\nl1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9";

TEST(FitTest, LinesAreKeptFromTheStartTheEndOrBoth) {  // ASM-41, ASM-45
  struct Case {
    Fit fit;
    std::int64_t grant;
    std::string_view text;
  };
  constexpr Case kCases[] = {
      {Fit::kHead, 29, kTen},  // all of it
      {Fit::kWhole, 28, "(nothing)"},
      {Fit::kHead, 20, "(nothing)"},
      {Fit::kMiddle, 28, "(nothing)"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(TestPart(c.fit, std::string(kTen)).TextTo(c.grant), c.text) << c.grant;
  }
  std::string body;
  for (int i = 0; i < 10; ++i) body += fmt::format("{}line {:02}", i ? "\n" : "", i);
  EXPECT_EQ(TestPart(Fit::kHead, body).TextTo(58),
            "line 00\nline 01\nline 02\n[left out: 7 of 10 lines of notes]");
  EXPECT_EQ(TestPart(Fit::kTail, body).TextTo(58),
            "[left out: 7 of 10 lines of notes]\nline 07\nline 08\nline 09");
  EXPECT_EQ(TestPart(Fit::kMiddle, body).TextTo(66),
            "line 00\nline 01\n[left out: 6 of 10 lines of notes]\nline 08\nline 09");
  TestPart mostly_head(Fit::kMiddle, body);
  mostly_head.rule.keep_ratio = 0.75;
  EXPECT_EQ(mostly_head.TextTo(66),
            "line 00\nline 01\nline 02\n[left out: 6 of 10 lines of notes]\nline 09");
}

TEST(FitTest, ALineLargerThanTheGrantIsCutAtACodePoint) {  // ASM-41
  std::string body;
  for (int i = 0; i < 100; ++i) body += "é";
  EXPECT_EQ(TestPart(Fit::kHead, body).TextTo(42), "ééééé\n[left out: 95 of 100 chars of notes]");
  EXPECT_EQ(TestPart(Fit::kTail, body).TextTo(42), "[left out: 95 of 100 chars of notes]\nééééé");
  EXPECT_EQ(TestPart(Fit::kMiddle, body).TextTo(42),
            "éé\n[left out: 96 of 100 chars of notes]\néé");
}

// 50 lines of every kind, one of them huge.
std::string MixedLines() {
  Random random(/*seed=*/21);
  std::string body;
  for (int i = 0; i < 50; ++i) {
    if (i > 0) body += '\n';
    if (i == 20) body += std::string(10'000, 'w');
    if (i % 4 == 0) body += "数据の行 👩‍👩‍👧‍👦";
    if (i % 4 == 1) body += std::string(random.Below(30), 'x');
    if (i % 4 == 2) body += "naïve `code` {x}";
  }
  return body;
}

TEST(FitTest, EveryGrantIsKeptAndLargerGrantsNeverKeepLess) {  // ASM-T3, ASM-41, ASM-45
  const std::string body = MixedLines();
  for (const Fit fit : {Fit::kHead, Fit::kTail, Fit::kMiddle}) {
    TestPart part(fit, body);
    part.part.frame = {.fence = FenceKind::kTag, .name = "notes"};
    std::int64_t before = 0;
    for (std::int64_t grant = 1; grant < 11'500; grant += grant < 700 ? 1 : 97) {
      const auto fitted = part.To(grant);
      if (!fitted) {
        EXPECT_LT(grant, 70);
        continue;
      }
      ASSERT_LE(fitted->tokens, grant);
      ASSERT_TRUE(utf8::IsValid(fitted->text));
      ASSERT_TRUE(fitted->text.starts_with("<notes>\n") && fitted->text.ends_with("\n</notes>"));
      ASSERT_EQ(fitted->left_out.has_value(), fitted->tokens < part.part.full.tokens);
      if (fitted->left_out) {
        EXPECT_NE(fitted->text.find(Marker(*fitted->left_out, "notes")), std::string::npos);
        EXPECT_GT(fitted->left_out->count, 0);
      }
      if (fitted->left_out && fitted->left_out->unit == "lines" && fit != Fit::kMiddle) {
        EXPECT_GE(fitted->tokens, before) << grant;
        before = fitted->tokens;
      }
    }
  }
}

TEST(FitTest, ItemsGoByPriorityThenFromTheEndAndTheRestKeepTheirOrder) {  // ASM-42
  TestPart part(Fit::kItems, "aaaaaaaa\nbbbbbbbb\ncccccccc\ndddddddd\neeeeeeee");
  part.part.items = {"aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "eeeeeeee"};
  EXPECT_EQ(part.TextTo(44), part.part.body);
  EXPECT_EQ(part.TextTo(43), "aaaaaaaa\n[left out: 4 of 5 items of notes]");
  part.part.item_priorities = {0.1, 0.9, 0.5};
  EXPECT_EQ(part.TextTo(43), "[left out: 4 of 5 items of notes]\nbbbbbbbb");
  EXPECT_EQ(part.TextTo(40), "(nothing)");
}

TEST(FitTest, TheFirstAlternativeThatFitsIsTaken) {  // ASM-44
  TestPart part(Fit::kFirstOf, std::string(100, 'f'));
  part.rule.alternatives = {"full", "outline", "names", "omitted"};
  part.part.alternatives = {{"outline", "an outline"}, {"names", "names"}};
  EXPECT_EQ(part.TextTo(100), part.part.body);
  EXPECT_EQ(part.TextTo(99), "an outline");
  EXPECT_EQ(part.TextTo(9), "names");
  EXPECT_EQ(part.TextTo(4), "(nothing)");
}

std::vector<Turn> EngineTurns(int count) {
  std::vector<Turn> turns;
  for (int i = 0; i < count; ++i) {
    turns.push_back(Says(Role::kAssistant, fmt::format("reply {:03} {}", i, std::string(40, 'r'))));
    turns.push_back(Says(Role::kUser, fmt::format("output {:03} {}", i, std::string(40, 'o'))));
  }
  return turns;
}

TEST(FitHistoryTest, TheOldestExchangesGoAndAMarkerSaysSo) {  // ASM-43, ASM-45
  TestPart part(Fit::kHistory, "");
  part.part.turns = EngineTurns(10);  // 101 characters an exchange
  const auto fitted = part.To(500);
  ASSERT_TRUE(fitted);
  EXPECT_LE(fitted->tokens, 500);
  EXPECT_EQ(fitted->turns.front().role, Role::kUser);
  EXPECT_EQ(fitted->turns.front().Text(), "[left out: 12 of 18 turns of notes]");
  EXPECT_EQ(fitted->turns[1].Text().substr(0, 9), "reply 006");
  EXPECT_EQ(fitted->turns.back().Text().substr(0, 10), "output 009");
}

TEST(FitHistoryTest, TheCutPointHoldsWhileTheHistoryGrows) {  // ASM-43, ASM-T4
  std::vector<std::string> first_kept;
  for (int count = 20; count <= 60; ++count) {
    TestPart part(Fit::kHistory, "");
    part.part.turns = EngineTurns(count);
    const auto fitted = part.To(2000);
    ASSERT_TRUE(fitted);
    first_kept.push_back(fitted->turns[0].Text() + fitted->turns[1].Text());
  }
  std::size_t moves = 0;
  for (std::size_t i = 1; i < first_kept.size(); ++i) moves += first_kept[i] != first_kept[i - 1];
  EXPECT_LE(moves, 12u);  // 40 exchanges of 101 characters, 400 freed by each cut
  EXPECT_GE(moves, 8u);
}

TEST(FitHistoryTest, TheLastTurnsAndSummariesAlwaysStay) {  // ASM-43
  TestPart part(Fit::kHistory, "");
  part.part.turns = EngineTurns(10);
  Turn summary = Says(Role::kUser, "Summary of before.");
  summary.blocks[0].section = "summary";
  part.part.turns.insert(part.part.turns.begin(), summary);
  (void)part.To(1);  // measures the whole
  const std::int64_t least = LeastGrant(part.part, {Chars(), 0});
  for (std::int64_t grant = 1; grant < 1200; ++grant) {
    const auto fitted = part.To(grant);
    if (!fitted) {
      EXPECT_LT(grant, least);
      continue;
    }
    EXPECT_LE(fitted->tokens, grant);
    EXPECT_EQ(fitted->turns[0].blocks[0].text, "Summary of before.");
    EXPECT_EQ(fitted->turns.back().Text().substr(0, 10), "output 009");
    EXPECT_EQ(fitted->turns[fitted->turns.size() - 4].Text().substr(0, 9), "reply 008");
  }
  EXPECT_TRUE(part.To(least));
}

// Forty turns of an agent: a question now and then, parallel calls, results.
std::vector<Turn> AgentTurns() {
  std::vector<Turn> turns;
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 0) {
      turns.push_back(Says(Role::kUser, fmt::format("question {}", i)));
      continue;
    }
    Turn call{Role::kAssistant, {}}, result{Role::kTool, {}};
    for (int k = 0; k <= i % 3; ++k) {
      const std::string id = fmt::format("{}-{}", i, k);
      call.blocks.push_back({.type = Block::Type::kToolCall, .call_id = id, .tool_name = "look"});
      result.blocks.push_back(
          {.type = Block::Type::kToolResult, .text = "found " + id, .call_id = id});
    }
    turns.push_back(std::move(call));
    turns.push_back(std::move(result));
  }
  return turns;
}

std::vector<std::string> Ids(const Turn& turn) {
  std::vector<std::string> ids;
  for (const Block& block : turn.blocks) {
    if (block.type != Block::Type::kText) ids.push_back(block.call_id);
  }
  return ids;
}

TEST(FitHistoryTest, ACallAndItsResultsStayOrGoTogetherAtEveryBudget) {  // ASM-83, ASM-T4
  TestPart part(Fit::kHistory, "");
  part.part.turns = AgentTurns();
  int fitting = 0;
  for (std::int64_t grant = 1; grant < 1800; grant += 3) {
    const auto fitted = part.To(grant, /*per_message=*/4);
    if (!fitted) continue;
    ++fitting;
    ASSERT_LE(fitted->tokens, grant);
    for (std::size_t i = 0; i < fitted->turns.size(); ++i) {
      const bool calls = fitted->turns[i].role == Role::kAssistant;
      if (calls) {
        ASSERT_LT(i + 1, fitted->turns.size());
        EXPECT_EQ(Ids(fitted->turns[i]), Ids(fitted->turns[i + 1]));
      }
      if (fitted->turns[i].role == Role::kTool) {
        ASSERT_GT(i, 0u);
        EXPECT_EQ(fitted->turns[i - 1].role, Role::kAssistant);
      }
    }
  }
  EXPECT_GT(fitting, 300);
}

}  // namespace
}  // namespace dossier::assembly
