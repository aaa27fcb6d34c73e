#include "chat/turn/chat.h"

#include <gtest/gtest.h>

#include "chat/turn/resume.h"
#include "store/content.h"
#include "testing/chat_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using Strings = std::vector<std::string>;

DeclaredCommand Command(const std::string& name) {
  return {.name = name, .command = "run " + name};
}

TEST(ChatTest, CommandsRunBeforeTheRequestAndTheReplyIsSaved) {  // CON-10, CON-N1
  ChatRig rig;
  rig.commands = {Command("a")};
  rig.answers = {{.text = "Hi"}};
  const TurnOutcome outcome = rig.Send("Hello");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.text, "Hi");
  EXPECT_EQ(rig.shown, "Hi");
  EXPECT_EQ(rig.trace, (Strings{"commands", "request"}));
  EXPECT_EQ(rig.Saved(), (Strings{"system: S\n\nblock of a", "user: Hello", "assistant: Hi"}));
}

TEST(ChatTest, WhatFailsBeforeTheReplySavesNothing) {  // CON-N11, CON-N16, CON-N17
  struct Case {
    std::string_view what;
    ErrorCode code;
    int exit;
    Strings trace;
    std::string_view name;
  };
  const Case cases[] = {
      {"model", ErrorCode::kAuth, 5, {}, "auth"},
      {"commands", ErrorCode::kContextCommand, 14, {"commands"}, "context_command_failed"},
      {"commands", ErrorCode::kConfig, 3, {"commands"}, "config"},
      {"reply", ErrorCode::kRateLimited, 6, {"commands", "request"}, "rate_limited"},
  };
  for (const Case& c : cases) {
    ChatRig rig;
    rig.commands = {Command("a")};
    const Error error{c.code, "broken"};
    if (c.what == "model") rig.model_error = error;
    if (c.what == "commands") rig.gather_error = error;
    if (c.what == "reply") rig.answers = {{.error = error}};
    const TurnOutcome outcome = rig.Send("Hello");
    EXPECT_EQ(outcome.exit, c.exit) << c.what;
    EXPECT_EQ(ErrorName(outcome.error->code), c.name) << c.what;
    EXPECT_EQ(rig.trace, c.trace) << c.what;
    EXPECT_FALSE(rig.Read()) << c.what;
  }
}

TEST(ChatTest, AnEmptyReplyIsAnErrorAndNotSaved) {  // section 6
  ChatRig rig;
  rig.answers = {{.text = "", .finish = model::Finish::kLength}};
  const TurnOutcome outcome = rig.Send("Hello");
  EXPECT_EQ(outcome.exit, 8);
  EXPECT_EQ(outcome.error->message, "the model returned no text (finish reason length)");
  EXPECT_FALSE(rig.Read());
}

TEST(ChatTest, AReplyThatBreaksOffIsKeptAndAskedAgain) {  // CON-31
  const Error broken{ErrorCode::kNetwork, "the connection broke"};
  for (const bool by_finish : {false, true}) {
    ChatRig rig;
    rig.commands = {Command("a")};
    ListedClient::Answer half{.text = "Half a "};
    if (by_finish) half.finish = model::Finish::kCut;
    if (!by_finish) half.error = broken;
    rig.answers = {half};
    const TurnOutcome outcome = rig.Send("Hello");
    EXPECT_EQ(outcome.exit, 13);
    EXPECT_EQ(outcome.text, "Half a ");
    ASSERT_EQ(rig.Saved().back(), "assistant: Half a ");
    EXPECT_EQ(rig.Read()->turns.back().reply, TurnRecord::Reply::kIncomplete);

    rig.trace.clear();
    rig.answers = {{.text = "Whole"}};
    TurnRequest again = rig.Request("");
    again.resume = TurnRequest::Resume::kYes;
    EXPECT_EQ(rig.Send(again).exit, 0);
    EXPECT_EQ(rig.trace, Strings{"request"}) << "no command runs again";
    EXPECT_EQ(rig.Saved(), (Strings{"system: S\n\nblock of a", "user: Hello", "assistant: Whole"}));
    EXPECT_EQ(rig.Send(again).exit, 4) << "the last turn is complete";
  }
}

TEST(ChatTest, CancelledWithTextIsKeptAndWithoutIsNot) {  // CON-31, CON-N19
  for (const bool text : {false, true}) {
    ChatRig rig;
    rig.answers = {{.text = text ? "Half" : "",
                    .error = Error{ErrorCode::kCancelled, "cancelled: interrupted"},
                    .before = [&rig] { rig.cancel.Cancel("interrupted"); }}};
    const TurnOutcome outcome = rig.Send("Hello");
    EXPECT_EQ(outcome.exit, 130);
    EXPECT_EQ(rig.Read().has_value(), text);
  }
}

TEST(ChatTest, ATurnThatDiedBeforeItsReplyGoesOnWithTheSameContext) {  // CON-M4, CON-A5
  ChatRig rig;
  rig.commands = {Command("a")};
  rig.answers = {{.error = Error{ErrorCode::kNetwork, "the host is away"}}};
  EXPECT_EQ(rig.Send("Hello").exit, 8);
  EXPECT_FALSE(rig.Read());
  rig.trace.clear();
  rig.answers = {{.text = "Hi"}};
  TurnRequest again = rig.Request("");
  again.resume = TurnRequest::Resume::kYes;
  EXPECT_EQ(rig.Send(again).exit, 0);
  EXPECT_EQ(rig.trace, Strings{"request"});
  EXPECT_EQ(rig.Saved(), (Strings{"system: S\n\nblock of a", "user: Hello", "assistant: Hi"}));
}

TEST(ChatTest, AReplyThatCouldNotBeSavedIsGivenAndRecoveredWithoutAnotherCall) {  // CON-29, CON-A5
  ChatRig rig;
  const std::string folder = rig.store.folder();
  rig.answers = {{.text = "Hi", .before = [&] {
                    std::filesystem::remove_all(folder);
                    std::ofstream(folder) << "a file";
                  }}};
  const TurnOutcome outcome = rig.Send("Hello");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(outcome.text, "Hi");
  ASSERT_TRUE(outcome.error);

  std::filesystem::remove(folder);
  rig.trace.clear();
  TurnRequest again = rig.Request("");
  again.resume = TurnRequest::Resume::kYes;
  const TurnOutcome recovered = rig.Send(again);
  EXPECT_EQ(recovered.exit, 0) << (recovered.error ? recovered.error->message : "");
  EXPECT_EQ(rig.trace, Strings{});
  EXPECT_EQ(rig.Saved(), (Strings{"system: S", "user: Hello", "assistant: Hi"}));
}

TEST(ChatTest, ADryRunSendsAndSavesNothing) {  // CON-A13
  ChatRig rig;
  rig.commands = {Command("a")};
  TurnRequest request = rig.Request("Hello");
  request.action = TurnRequest::Action::kPlan;
  const TurnOutcome outcome = rig.Send(request);
  EXPECT_EQ(outcome.wire, "wire");
  EXPECT_EQ(rig.trace, Strings{"commands"});
  EXPECT_FALSE(std::filesystem::exists(rig.store.folder()));
  EXPECT_TRUE(rig.journal->List(std::nullopt, 10)->empty());
}

TEST(ChatTest, ToolsRunInOrderAndTheAnswerIsSaved) {  // CON-33, CON-37, CON-38, CON-N20
  for (const bool full : {false, true}) {
    ChatRig rig;
    rig.agent = true;
    rig.answers = {rig.Calls({"one", "rm"}), rig.Calls({"two"}), {.text = "Done"}};
    TurnRequest request = rig.Request("Look");
    if (full) request.tool_history = TurnRequest::ToolHistory::kFull;
    const TurnOutcome outcome = rig.Send(request);
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(rig.trace,
              (Strings{"commands", "request", "tool one", "request", "tool two", "request"}));
    const auto& turns = rig.client->requests[1].messages.turns;
    EXPECT_EQ(turns.back().blocks.back().text, "refused: rm is not allowed");
    EXPECT_EQ(outcome.tools.size(), 3u);
    const Stored stored = *rig.Read();
    EXPECT_EQ(stored.messages.size(), full ? 8u : 3u);
    EXPECT_EQ(stored.messages.back().Text(), "Done");
    EXPECT_EQ(stored.turns.back().tools.get_array().size(), 3u);
  }
}

TEST(ChatTest, AtTheLimitOpenCallsAreAnsweredAndTheModelIsAskedOnceMore) {  // CON-37, CON-D11
  ChatRig rig;
  rig.agent = true;
  rig.answers = {rig.Calls({"one", "two", "three"}), {.text = "So far"}};
  TurnRequest request = rig.Request("Look");
  request.tool_limits.commands = 2;
  const TurnOutcome outcome = rig.Send(request);
  EXPECT_EQ(outcome.exit, 10);
  EXPECT_EQ(outcome.text, "So far");
  const model::Request& last = rig.client->requests.back();
  EXPECT_EQ(last.tool_use, model::Request::ToolUse::kNone);
  EXPECT_EQ(last.messages.turns.back().blocks.back().text, "not run: limit of 2 commands reached");
}

TEST(ChatTest, RefusalsInARowEndTheTools) {  // CON-37, CON-D10
  ChatRig rig;
  rig.agent = true;
  rig.answers = {rig.Calls({"rm1", "one", "rm2", "rm3", "two"}), {.text = "Enough"}};
  TurnRequest request = rig.Request("Look");
  request.tool_limits.refusals = 2;
  EXPECT_EQ(rig.Send(request).exit, 10);
  EXPECT_EQ(rig.trace, (Strings{"commands", "request", "tool one", "request"}));
}

TEST(ChatTest, APersonDecides) {  // CON-38
  struct Case {
    Consent consent;
    int exit;
    Strings ran;
  };
  const Case cases[] = {
      {Consent::kYes, 0, {"tool one"}}, {Consent::kNo, 0, {}}, {Consent::kQuit, 12, {}}};
  for (const Case& c : cases) {
    ChatRig rig;
    rig.agent = true;
    rig.confirm = [&](const Judged&) { return c.consent; };
    rig.answers = {rig.Calls({"one"}), {.text = "Done"}};
    EXPECT_EQ(rig.Send("Look").exit, c.exit);
    Strings ran;
    for (const std::string& step : rig.trace) {
      if (step.starts_with("tool")) ran.push_back(step);
    }
    EXPECT_EQ(ran, c.ran);
    EXPECT_EQ(rig.Read().has_value(), c.exit == 0);
  }
}

TEST(ChatTest, AMissingLayerOfTheSandboxEndsTheTurn) {  // CON-36
  ChatRig rig;
  rig.agent = true;
  rig.tool_error = Error{ErrorCode::kUnavailable, "landlock is missing"};
  rig.answers = {rig.Calls({"one"})};
  EXPECT_EQ(rig.Send("Look").exit, 12);
  EXPECT_FALSE(rig.Read());
}

TEST(ChatTest, AnInvalidReplyIsRepairedOrRefused) {  // CON-41
  const auto schema =
      model::JsonSchema::Compile(JsonObject{{"type", "object"}, {"required", JsonArray{"n"}}});
  ASSERT_THAT(schema, dossier::testing::Succeeds());
  struct Case {
    Strings replies;
    int rounds, exit;
    std::string text;
  };
  const Case cases[] = {
      {{"```json\n{\"n\":1}\n```"}, 0, 0, "{\"n\":1}"},
      {{"no json", "{\"n\":2}"}, 1, 0, "{\"n\":2}"},
      {{"{}", "{}"}, 1, 11, ""},
      {{"{}"}, 0, 11, ""},
  };
  for (const Case& c : cases) {
    ChatRig rig;
    for (const std::string& reply : c.replies) rig.answers.push_back({.text = reply});
    TurnRequest request = rig.Request("Count");
    request.schema = &*schema;
    request.repair_rounds = c.rounds;
    const TurnOutcome outcome = rig.Send(request);
    EXPECT_EQ(outcome.exit, c.exit) << c.replies.front();
    EXPECT_EQ(outcome.text, c.text);
    EXPECT_EQ(rig.shown, "") << "nothing is streamed before it is valid";
    EXPECT_EQ(rig.client->requests.size(), c.replies.size());
    EXPECT_EQ(outcome.usage.input, static_cast<std::int64_t>(10 * c.replies.size()));
    EXPECT_EQ(rig.Read().has_value(), c.exit == 0);
    EXPECT_EQ(outcome.violations.empty(), c.exit == 0);
    if (c.exit == 0) {
      EXPECT_EQ(rig.Saved().back(), "assistant: " + c.text);
    }
  }
}

TEST(ChatTest, ALongHistoryIsSummarizedBeforeTheCall) {  // CON-43, CON-45
  ChatRig rig;
  const std::string filler(2000, 'x');
  for (int turn = 0; turn < 5; ++turn) {
    rig.answers = {{.text = "answer"}};
    ASSERT_EQ(rig.Send("question " + filler).exit, 0);
  }
  rig.answers = {{.text = "A summary."}, {.text = "Hi"}};
  TurnRequest request = rig.Request("Go on");
  request.compaction.hard_tokens = 5'000;
  request.compaction.summary_tokens = 100;
  const TurnOutcome outcome = rig.Send(request);
  ASSERT_EQ(outcome.exit, 0) << outcome.error->message;
  ASSERT_EQ(rig.client->requests.size(), 2u) << ::testing::PrintToString(outcome.warnings);
  EXPECT_EQ(rig.client->requests[0].purpose, model::Purpose::kCompact);
  EXPECT_TRUE(outcome.compaction.is_object());
  EXPECT_EQ(rig.Read()->compaction.size(), 1u);
  EXPECT_EQ(rig.Read()->messages.size(), 13u);
}

TEST(ChatTest, TheJournalTellsTheTurn) {  // M4
  ChatRig rig;
  rig.answers = {{.text = "Hi"}};
  const TurnOutcome outcome = rig.Send("Hello");
  const auto events = rig.journal->Events(outcome.run);
  ASSERT_THAT(events, dossier::testing::Succeeds());
  Strings types;
  for (const store::Event& event : *events) types.push_back(event.type);
  EXPECT_EQ(types, (Strings{"run.started", "context.ready", "request.sent", "reply.received",
                            "answer.accepted", "turn.saved", "run.finished"}));
  EXPECT_EQ(rig.Read()->turns.back().run, outcome.run);
}

// FLT-142: what may have run is not run again unless that is asked for.
TEST(ChatTest, ATurnThatEndedWhileCommandsRanRunsThemOnlyOnRequest) {
  ChatRig rig;
  rig.commands = {Command("a"), Command("b")};
  rig.gather_error = Error{ErrorCode::kCancelled, "killed"};
  EXPECT_EQ(rig.Send("Hello").exit, 130);
  rig.gather_error.reset();
  rig.trace.clear();
  rig.answers = {{.text = "Hi"}};
  TurnRequest again = rig.Request("");
  again.resume = TurnRequest::Resume::kYes;
  const TurnOutcome refused = rig.Send(again);
  EXPECT_EQ(refused.exit, 1);
  EXPECT_NE(refused.error->message.find("(a, b)"), std::string::npos);
  EXPECT_NE(refused.error->message.find("--refresh-context"), std::string::npos);
  EXPECT_TRUE(rig.trace.empty());
  again.options.refresh = TurnOptions::Refresh::kYes;
  EXPECT_EQ(rig.Send(again).exit, 0);
  EXPECT_EQ(rig.trace, (Strings{"commands", "request"}));
  EXPECT_EQ(rig.Saved().back(), "assistant: Hi");
}

TEST(ChatTest, TheJournalKnowsWhichFolderAConversationIsIn) {  // M4, 3.4
  ChatRig one, other;
  one.answers = other.answers = {{.text = "Hi"}};
  const std::string mine = one.Send("Hello").run;
  other.journal = one.journal;
  const std::string theirs = other.Send("Hello").run;
  ASSERT_NE(mine, theirs);
  EXPECT_EQ(*RunsOf(*one.journal, {.folder = one.store.folder(), .id = "talk"}), Strings{mine});
  EXPECT_EQ(FindInterrupted(*one.journal, {.folder = other.store.folder(), .id = "talk"})->run,
            theirs);
}

TEST(ChatTest, ARefreshKeepsTheTextThatItReplaces) {  // CON-M5
  ChatRig rig;
  rig.commands = {Command("a")};
  rig.answers = {{.text = "Hi"}};
  ASSERT_EQ(rig.Send("Hello").exit, 0);
  const std::string before = rig.Read()->context->sha256;
  rig.commands = {Command("b")};
  TurnRequest request = rig.Request("And now?");
  request.options.refresh = TurnOptions::Refresh::kYes;
  ASSERT_EQ(rig.Send(request).exit, 0);
  EXPECT_EQ(rig.Saved().front(), "system: S\n\nblock of b");
  const Json history = rig.Read()->context->history;
  ASSERT_EQ(history.as_array().size(), 1u);
  EXPECT_EQ(FindString(history.as_array()[0], "sha256"), before);
  const auto content = *store::ContentStore::Open(rig.content_folder());
  EXPECT_EQ(content->Get(before), "block of a");
}

TEST(ChatTest, WhatADeletedConversationLeftGoesWithTheLastThatNamesIt) {  // 3.4
  ChatRig rig;
  rig.commands = {Command("a")};
  rig.answers = {{.text = "Hi"}};
  const std::string run = rig.Send("a private question").run;
  const std::string context = rig.Read()->context->sha256;
  rig.commands = {Command("b")};
  TurnRequest request = rig.Request("And now?");
  request.options.refresh = TurnOptions::Refresh::kYes;
  ASSERT_EQ(rig.Send(request).exit, 0);
  ASSERT_THAT(rig.store.Fork("talk", std::nullopt, "copy", {}), dossier::testing::Succeeds());
  const auto content = *store::ContentStore::Open(rig.content_folder());
  const ForgetParts parts{
      .store = rig.store, .journal = rig.journal.get(), .content_folder = rig.content_folder()};
  const auto prompt = [&] { return ToJson(Json(rig.journal->Events(run)->front().data)); };
  for (const std::string id : {"copy", "talk"}) {  // the fork first, then its origin
    EXPECT_THAT(prompt(), ::testing::HasSubstr("a private question"));
    EXPECT_TRUE(content->Has(context));
    ASSERT_THAT(ForgetTraces(parts, std::vector{id}), dossier::testing::Succeeds());
    ASSERT_THAT(rig.store.Delete(id, {}), dossier::testing::Succeeds());
  }
  EXPECT_THAT(prompt(), ::testing::Not(::testing::HasSubstr("private")));
  EXPECT_FALSE(content->Has(context));
}

}  // namespace
}  // namespace dossier::chat
