#include "agents/engine/builtin_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/policy/approval.h"
#include "base/files/file.h"
#include "model/scripted/scripted.h"
#include "testing/result_matchers.h"

namespace dossier::agents {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The task, followed by the conversation.
class ShortPrompt final : public EnginePrompt {
 public:
  Result<std::string> Text() const override { return std::string("Do it."); }
  Result<assembly::Assembled> Messages(const Reader&, std::span<const assembly::Turn> turns,
                                       std::span<const assembly::ToolSpec> tools) const override {
    assembly::Assembled prompt;
    prompt.messages.tools.assign(tools.begin(), tools.end());
    prompt.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = "Do it."}}});
    prompt.messages.turns.insert(prompt.messages.turns.end(), turns.begin(), turns.end());
    prompt.tokens = 10;
    return prompt;
  }
};

class BuiltinEngineTest : public ::testing::Test {
 protected:
  BuiltinEngineTest() { EXPECT_TRUE(MakeFolders(root_ + "/src")); }

  Result<EngineOutcome> Run(std::string_view rules, Role role = Role::kEngineer,
                            model::LedgerLimits limits = {}) {
    const auto script = model::Script::Parse(rules, "rules.yaml");
    if (!script) return tl::unexpected(script.error());
    model::Ledger ledger(limits, SystemClock());
    const BuiltinEngine engine(
        {.model = {.name = "scripted",
                   .counter = tokens::MakeByteCounter(),
                   .gate = model::Gate::Make(model::MakeScriptedClient(*script, SystemClock()),
                                             {.retries = 0}, SystemClock())},
         .ledger = &ledger});
    const EngineJob job{.role = role,
                        .task = "fact-001",
                        .prompt = &prompt_,
                        .worktree = root_,
                        .folder = root_,
                        .prompt_path = ground_.path() + "/prompt",
                        .out_path = ground_.path() + "/out",
                        .err_path = ground_.path() + "/err",
                        .time_limit = limit_};
    return engine.Run(job, cancel_.token());
  }
  std::string Out() const { return *ReadFile(ground_.path() + "/out"); }

  const TempFolder ground_ = *TempFolder::Make();
  const std::string root_ = ground_.path() + "/tree";
  const ShortPrompt prompt_;
  std::optional<Millis> limit_;
  CancelSource cancel_;
};

TEST_F(BuiltinEngineTest, AModelWritesAndFinishes) {  // REP-54, A32
  const auto outcome = Run(R"(
- {tool_calls: [{name: write_file, arguments: {path: src/a, content: "x\n"}},
                {name: no_such, arguments: {}}], finish: tool_calls}
- {tool_calls: [{name: finish, arguments: {summary: all done}}], finish: tool_calls}
)");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->good()) << outcome->reason;
  EXPECT_EQ(*ReadFile(root_ + "/src/a"), "x\n");
  ASSERT_TRUE(outcome->usage);
  EXPECT_GT(outcome->usage->total.input, 0);
  EXPECT_THAT(Out(), HasSubstr("turn 1: write_file"));
  EXPECT_THAT(Out(), HasSubstr("there is no tool no_such"));
  EXPECT_THAT(Out(), HasSubstr("summary: all done"));
}

TEST_F(BuiltinEngineTest, TheSecondTurnWithoutACallEndsIt) {  // REP-54
  const auto outcome = Run("[I shall, 'Done.', never]");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->good());
  EXPECT_THAT(Out(), HasSubstr("turn 2: says Done."));
  EXPECT_THAT(Out(), Not(HasSubstr("never")));
}

TEST_F(BuiltinEngineTest, FortyTurnsEndIt) {  // REP-54, A32
  const auto outcome =
      Run("[{tool_calls: [{name: list_files, arguments: {}}], finish: tool_calls, times: always}]");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->good());
  EXPECT_EQ(outcome->reason, "the engineer did not end its work in 40 turns");
}

TEST_F(BuiltinEngineTest, AVerdictIsSaidAsAProgramWouldSayIt) {  // REP-41, REP-54
  struct Case {
    std::string arguments;
    Verdict::Kind kind;
  };
  const std::string token = "APPROVED-0123456789abcdef0123456789abcdef";
  const Case kCases[] = {
      {"{verdict: approved, token: " + token + ", comments: fine}", Verdict::Kind::kApproved},
      {"{verdict: approved, comments: fine}", Verdict::Kind::kUnbound},
      {"{verdict: needs_changes, comments: 'FIX: it'}", Verdict::Kind::kNeedsChanges},
      {"{verdict: rejected, comments: no}", Verdict::Kind::kRejected},
  };
  for (const Case& c : kCases) {
    ASSERT_TRUE(RemoveAll(root_ + "/.agent"));
    const auto outcome =
        Run(fmt::format("[{{tool_calls: [{{name: verdict, arguments: {}}}], finish: tool_calls}}]",
                        c.arguments),
            Role::kReviewer);
    ASSERT_TRUE(outcome) << outcome.error().message;
    const Verdict verdict =
        ReadVerdict({.token = token,
                     .exit_code = outcome->exit_code,
                     .review_text = ReadFile(root_ + "/.agent/review.txt").value_or(""),
                     .out = Out()});
    EXPECT_EQ(verdict.kind, c.kind) << c.arguments;
  }
}

TEST_F(BuiltinEngineTest, WhatTheModelSaysApprovesNothingByItself) {  // REP-41
  const std::string token = "APPROVED-0123456789abcdef0123456789abcdef";
  const auto outcome = Run("[\"" + token + "\\n\", \"x\\n" + token + "\"]", Role::kReviewer);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(ReadVerdict({.token = token, .exit_code = 0, .out = Out()}).kind, Verdict::Kind::kNone);
}

TEST_F(BuiltinEngineTest, TimeBudgetAndCancellingEndIt) {  // REP-53, REP-54
  limit_ = Millis(50);
  const auto late = Run("[{reply: x, delay: 60s}]");
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->ExitJson(), Json("timeout"));
  limit_.reset();
  EXPECT_THAT(Run("[x, y]", Role::kEngineer, {.tokens = 5}),
              FailsWith(ErrorCode::kLimit, "tokens"));
  cancel_.Cancel("interrupted");
  const auto stopped = Run("[x]");
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->end, ProcessOutcome::End::kCancelled);
}

}  // namespace
}  // namespace dossier::agents
