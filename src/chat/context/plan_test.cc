#include "chat/context/plan.h"

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "chat/turn/chat.h"
#include "testing/talk_rig_for_test.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

int Count(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A file of another program: `messages` as JSON, without metadata.
std::string Legacy(const std::string& messages) {
  return R"({"id": "talk", "model": "gpt-4", "messages": )" + messages + "}";
}

struct Creation {
  const char* system;
  bool commands;
  const char* expected;  // the system message; "" for none
};

// CON-N1, CON-N2, CON-N3, CON-N4
TEST(NewConversation, SystemMessageIsTextAndBlocks) {
  const std::string block = BlockText("a", "out of a");
  const std::string both = "Be brief.\n\n" + block;
  for (const Creation& given :
       {Creation{"Be brief.", true, both.c_str()}, Creation{"Be brief.", false, "Be brief."},
        Creation{"", true, block.c_str()}, Creation{"", false, ""}}) {
    TalkRig rig;
    rig.system_text = given.system;
    if (given.commands) rig.commands = {rig.Command("a")};
    rig.Turn("Hello");
    EXPECT_EQ(rig.requests[0].SystemText(), given.expected);
    EXPECT_EQ(rig.LastUser(), "Hello");
    const Stored stored = *rig.Read();
    EXPECT_EQ(stored.System() ? stored.System()->Text() : "", given.expected);
    EXPECT_EQ(stored.messages.size(), *given.expected ? 3u : 2u);
  }
}

// CON-N5, CON-N6, CON-N7, CON-N9, CON-N10, CON-T4
TEST(NewConversation, FreezesItsContextOnce) {
  TalkRig rig;
  rig.system_text = "Be brief.";
  rig.commands = {rig.Command("b"), rig.Command("a"), rig.Exec("CLI Command 1")};
  rig.Turn("turn 1");
  rig.commands.pop_back();  // --exec is given once
  for (int i = 2; i <= 5; ++i) rig.Turn("turn " + std::to_string(i));
  EXPECT_EQ(rig.runs["a"], 1);
  EXPECT_EQ(rig.runs["b"], 1);
  const std::string system = rig.requests[0].SystemText();
  for (const auto& request : rig.requests) EXPECT_EQ(request.SystemText(), system);
  EXPECT_LT(system.find("Context: b"), system.find("Context: a"));
  EXPECT_LT(system.find("Context: a"), system.find("Context: CLI Command 1"));
  EXPECT_EQ(Count(rig.Text(), "--- Context: a ---"), 1);
  const Stored stored = *rig.Read();
  for (const StoredMessage& message : stored.messages) {
    if (message.role != "user") continue;
    EXPECT_EQ(message.Text().find("---"), std::string::npos);
  }
}

// CON-N12, CON-N13, CON-N14, CON-N15, CON-M1
TEST(NewConversation, RemembersFailedCommands) {
  TalkRig rig;
  rig.commands = {rig.Command("warns"), rig.Command("ignored"), rig.Command("works"),
                  rig.Command("silent")};
  rig.commands[1].on_failure = "ignore";
  rig.fails = {{"warns", 1}, {"ignored", 1}};
  rig.outputs["silent"] = "";
  rig.Turn("1");
  rig.Turn("2");
  EXPECT_EQ(rig.requests[1].SystemText(), ErrorBlock("warns", "Command exited with code 1") +
                                              "\n\n" + BlockText("works", "out of works") + "\n\n" +
                                              BlockText("silent", "(no output)"));
  for (const auto& [name, runs] : rig.runs) EXPECT_EQ(runs, 1) << name;
  TalkRig silent;
  silent.commands = {silent.Command("ignored")};
  silent.commands[0].on_failure = "ignore";
  silent.fails = {{"ignored", 1}};
  silent.Turn("1");
  silent.Turn("2");
  EXPECT_EQ(silent.runs["ignored"], 1);
  const Stored stored = *silent.Read();
  EXPECT_EQ(stored.context->mode, ContextRecord::Mode::kStatic);
  EXPECT_EQ(stored.context->commands.at(0).outcome, "exit");
  EXPECT_FALSE(stored.System());
}

// CON-N18
TEST(ReadOnly, NeedsAConversation) {
  TalkRig rig;
  rig.options.store = TurnOptions::Store::kReadOnly;
  EXPECT_THAT(rig.TryTurn("Hello"),
              FailsWith(ErrorCode::kUsage, "--read-only requires --conversation"));
}

// CON-N20: the steps of an agent follow system, context and history.
TEST(AgentMode, SendsSystemContextAndHistory) {
  TalkRig rig;
  rig.commands = {rig.Command("a")};
  rig.system_text = "S";
  rig.Turn("1");
  const Stored stored = *rig.Read();
  TurnInput input{.commands = rig.commands, .prompt = "2", .model = "gpt-4", .now = "now"};
  assembly::Block call{
      .type = assembly::Block::Type::kToolCall, .call_id = "c1", .tool_name = "run_command"};
  assembly::Block result{
      .type = assembly::Block::Type::kToolResult, .text = "out", .call_id = "c1"};
  input.steps = {{assembly::Role::kAssistant, {call}}, {assembly::Role::kTool, {result}}};
  input.tools = {{.name = "run_command"}};
  const auto plan = PlanTurn(input, &stored, {}, rig.layout, rig.capability, *rig.counter);
  ASSERT_THAT(plan, Succeeds());
  const assembly::Messages& sent = plan->request.messages;
  EXPECT_EQ(sent.SystemText(), rig.requests[0].SystemText());
  ASSERT_GE(sent.turns.size(), 5u);
  EXPECT_EQ(sent.turns[0].Text(), "1");
  EXPECT_EQ(sent.turns[2].Text(), "2");
  EXPECT_EQ(sent.turns[4].role, assembly::Role::kTool);
  EXPECT_EQ(sent.tools.size(), 1u);
}

struct OldFile {
  const char* messages;
  const char* metadata;
  State state;
};

// CON-B1, CON-B10, CON-B11, CON-B12, CON-B13, CON-K4
TEST(StateOf, FollowsMetadataFirst) {
  const char* frozen =
      R"([{"role":"system","content":"S\n\n--- Context: x ---\no\n--- End Context ---"}])";
  for (const OldFile& old :
       {OldFile{frozen, "{}", State::kLegacyFrozen},
        OldFile{
            R"([{"role":"system","content":"--- Context Error: x ---\ne\n--- End Context ---"}])",
            "{}", State::kLegacyFrozen},
        OldFile{R"([{"role":"system","content":"--- Context: x ---\no"}])", "{}",
                State::kLegacyBare},
        OldFile{R"([{"role":"system","content":"--- End Context ---\n--- Context: x ---"}])", "{}",
                State::kLegacyBare},
        OldFile{R"([{"role":"user","content":"--- Context: x ---\no\n--- End Context ---"}])", "{}",
                State::kLegacyBare},
        OldFile{"[]", "{}", State::kLegacyBare},
        OldFile{frozen, R"({"context": {"mode": "none"}})", State::kNoCommands},
        OldFile{frozen, R"({"context": {"mode": "disabled"}})", State::kDisabled},
        OldFile{"[]", R"({"context": {"mode": "static"}})", State::kFrozen}}) {
    const auto document = Document::Parse(
        std::string(R"({"messages": )") + old.messages + R"(, "metadata": )" + old.metadata + "}",
        "x");
    ASSERT_THAT(document, Succeeds());
    const auto stored = ReadStored(*document);
    ASSERT_THAT(stored, Succeeds());
    EXPECT_EQ(StateOf(&*stored), old.state) << old.messages << old.metadata;
  }
  EXPECT_EQ(StateOf(nullptr), State::kNew);
}

// CON-B1, CON-B2, CON-B3
TEST(OldFile, SendsTheStoredContextWhateverTheConfigurationSays) {
  TalkRig rig;
  rig.Load(Legacy(
      R"([{"role":"system","content":"Old\n\n--- Context: x ---\no\n--- End Context ---"}])"));
  rig.system_text = "New text";
  rig.Turn("1");
  rig.commands = {rig.Command("x")};
  rig.Turn("2");
  EXPECT_TRUE(rig.runs.empty());
  for (const auto& request : rig.requests) {
    EXPECT_EQ(request.SystemText(), "Old\n\n--- Context: x ---\no\n--- End Context ---");
  }
}

// CON-B4
TEST(OldFile, GetsNoSystemMessageFromTheConfiguration) {
  TalkRig rig;
  rig.Load(Legacy(R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])"));
  rig.system_text = "Configured";
  rig.Turn("c");
  EXPECT_EQ(rig.requests[0].SystemText(), "Configured");
  const Stored stored = *rig.Read();
  ASSERT_EQ(stored.messages.size(), 4u);
  EXPECT_EQ(stored.messages[2].Text(), "c");
  EXPECT_FALSE(stored.System());
}

// CON-B5, CON-B6, CON-B7, CON-11
TEST(OldFile, WithoutContextGetsBlocksInRequestsOnly) {
  const std::string old = BlockText("old", "kept");
  TalkRig rig;
  rig.Load(Legacy("[" + ToJson(JsonObject{{"role", "system"}, {"content", "S"}}) + "," +
                  ToJson(JsonObject{{"role", "user"}, {"content", old + "\n\nfirst"}}) + "," +
                  ToJson(JsonObject{{"role", "assistant"}, {"content", "b"}}) + "]"));
  rig.commands = {rig.Command("x")};
  const TurnPlan first = rig.Turn("c");
  ASSERT_TRUE(first.hint);
  EXPECT_NE(first.hint->find("dossier context refresh talk"), std::string::npos);
  EXPECT_FALSE(rig.Turn("d").hint);  // once
  EXPECT_EQ(rig.runs["x"], 2);
  EXPECT_EQ(rig.LastUser(), BlockText("x", "out of x") + "\n\nd");
  EXPECT_EQ(rig.requests[1].turns[0].Text(), old + "\n\nfirst");
  EXPECT_EQ(rig.requests[1].turns[2].Text(), "c");
  EXPECT_EQ(rig.requests[1].SystemText(), "S");
  EXPECT_EQ(Count(rig.Text(), "Context: x"), 0);
  EXPECT_EQ(Count(rig.Text(), "Context: old"), 1);
}

// CON-B8
TEST(OldFile, WithNothingConfiguredGetsNothing) {
  TalkRig rig;
  rig.Load(Legacy(R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])"));
  EXPECT_FALSE(rig.Turn("c").hint);
  EXPECT_EQ(rig.requests[0].SystemText(), "");
  EXPECT_EQ(rig.requests[0].turns.size(), 3u);
  EXPECT_EQ(rig.LastUser(), "c");
}

// CON-B9
TEST(OldFile, ReadOnlySavesNothing) {
  TalkRig rig;
  rig.Load(Legacy(R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])"));
  rig.commands = {rig.Command("x")};
  rig.system_text = "S";
  rig.options.store = TurnOptions::Store::kReadOnly;
  const std::string before = rig.Text();
  EXPECT_EQ(rig.Turn("c").save.kind, TurnSave::Kind::kNothing);
  EXPECT_EQ(rig.Text(), before);
}

// CON-B16, CON-Y7
TEST(Stateless, PutsBlocksBeforeThePrompt) {
  for (const auto compat : {TurnOptions::Compat::kNo, TurnOptions::Compat::kYes}) {
    TalkRig rig;
    rig.options = {.kind = TurnOptions::Kind::kStateless, .compat = compat};
    rig.system_text = "S";
    rig.commands = {rig.Dynamic("d"), rig.Command("a"), rig.Exec("e")};
    EXPECT_EQ(rig.Turn("ask").save.kind, TurnSave::Kind::kNothing);
    const std::string user = BlockText("d", "out of d") + "\n\n" + BlockText("a", "out of a") +
                             "\n\n" + BlockText("e", "out of e") + "\n\nask";
    const bool one = compat == TurnOptions::Compat::kYes;
    EXPECT_EQ(rig.requests[0].SystemText(), one ? "" : "S");
    EXPECT_EQ(rig.requests[0].turns.size(), 1u);
    EXPECT_EQ(rig.LastUser(), one ? "S\n\n" + user : user);
  }
}

// CON-B17, CON-11
TEST(Continuation, WithoutCommandsStaysWithoutThem) {
  TalkRig rig;
  rig.commands = {rig.Command("a"), rig.Exec("e")};
  rig.options.config_commands = TurnOptions::ConfigCommands::kSkip;
  rig.Turn("1");
  EXPECT_EQ(rig.requests[0].SystemText(), BlockText("e", "out of e"));
  EXPECT_EQ(rig.Read()->context->mode, ContextRecord::Mode::kDisabled);
  rig.options = {};
  rig.commands.pop_back();
  EXPECT_TRUE(rig.Turn("2").hint);
  EXPECT_FALSE(rig.Turn("3").hint);
  EXPECT_EQ(rig.runs["a"], 0);
  rig.options.refresh = TurnOptions::Refresh::kYes;
  rig.Turn("4");
  EXPECT_EQ(rig.runs["a"], 1);
  EXPECT_EQ(rig.Read()->context->mode, ContextRecord::Mode::kStatic);
  EXPECT_EQ(rig.requests.back().SystemText(),
            BlockText("a", "out of a") + "\n\n" + BlockText("e", "out of e"));
}

// CON-B18
TEST(Continuation, SavesALaterExecInItsMessage) {
  TalkRig rig;
  rig.commands = {rig.Command("a")};
  rig.Turn("1");
  const std::string system = rig.requests[0].SystemText();
  rig.commands.push_back(rig.Exec("e"));
  rig.Turn("2");
  const std::string expected = BlockText("e", "out of e") + "\n\n2";
  EXPECT_EQ(rig.LastUser(), expected);
  EXPECT_EQ(rig.Read()->messages[3].Text(), expected);
  EXPECT_EQ(rig.requests[1].SystemText(), system);
  EXPECT_EQ(rig.runs["a"], 1);
}

// CON-M5
TEST(Refresh, ReplacesTheContextAndKeepsItsHash) {
  TalkRig rig;
  rig.system_text = "S";
  rig.commands = {rig.Command("a"), rig.Command("b"), rig.Command("c")};
  rig.Turn("1");
  const std::string old_hash = rig.Read()->context->sha256;
  rig.outputs["a"] = "other";
  rig.commands = {rig.Command("a"), rig.Command("b"), rig.Command("d")};
  const Stored before = *rig.Read();
  const ContextNeed need{.run = {0, 1, 2}};
  const Refreshed refreshed =
      Refresh(before, rig.commands, rig.Run(need), "2026-11-22T00:00:00.000000Z", *rig.counter);
  std::string changes;
  for (const BlockChange& change : refreshed.changes)
    changes += change.name + ":" + change.what + " ";
  EXPECT_EQ(changes, "a:changed b:same d:new c:gone ");
  rig.options.refresh = TurnOptions::Refresh::kYes;
  const TurnPlan plan = rig.Turn("2");
  EXPECT_FALSE(plan.warnings.empty());
  const Stored after = *rig.Read();
  EXPECT_EQ(after.System()->Text(), refreshed.frozen.system);
  ASSERT_EQ(after.context->history.as_array().size(), 1u);
  EXPECT_EQ(FindString(after.context->history.at(0), "sha256"), old_hash);
  EXPECT_EQ(after.context->source, "refreshed");
  EXPECT_TRUE(rig.Turn("3").warnings.empty()) << "nothing changed, so the prefix is not lost";
  EXPECT_EQ(rig.Read()->context->history.as_array().size(), 1u);
}

// CON-Y1, CON-Y2, CON-Y3, CON-Y4, CON-Y5, CON-Y10
TEST(Dynamic, RunsEveryTurnAndIsNotSaved) {
  TalkRig rig;
  rig.commands = {rig.Dynamic("d"), rig.Command("s")};
  rig.Turn("1");
  EXPECT_EQ(rig.LastUser(), BlockText("d", "out of d") + "\n\n1");
  EXPECT_EQ(rig.requests[0].SystemText(), BlockText("s", "out of s"));
  rig.Turn("2");
  EXPECT_EQ(rig.runs["d"], 2);
  EXPECT_EQ(rig.runs["s"], 1);
  EXPECT_EQ(rig.requests[1].turns[0].Text(), "1");
  EXPECT_EQ(rig.LastUser(), BlockText("d", "out of d") + "\n\n2");
  EXPECT_EQ(Count(rig.Text(), "Context: d"), 0);
  EXPECT_EQ(FindString(rig.Read()->turns[1].dynamic.at(0), "sha256"),
            Sha256Hex(BlockText("d", "out of d")));
  TalkRig only;
  only.commands = {only.Dynamic("d")};
  only.Turn("1");
  EXPECT_FALSE(only.Read()->System());
  EXPECT_EQ(only.Read()->context->mode, ContextRecord::Mode::kStatic);
}

// CON-Y3
TEST(Dynamic, IsSavedIfItPersists) {
  TalkRig rig;
  rig.commands = {rig.Dynamic("d")};
  rig.commands[0].persist = DeclaredCommand::Persist::kYes;
  rig.Turn("1");
  EXPECT_EQ(rig.Read()->messages[0].Text(), BlockText("d", "out of d") + "\n\n1");
}

// CON-Y8
TEST(Dynamic, NotesARepeat) {
  TalkRig rig;
  rig.commands = {rig.Dynamic("d")};
  rig.commands[0].unchanged = DeclaredCommand::Unchanged::kNote;
  EXPECT_THAT(rig.TryTurn("1"), FailsWith(ErrorCode::kConfig, "persist: true"));
  rig.commands[0].persist = DeclaredCommand::Persist::kYes;
  rig.Turn("1");
  rig.Turn("2");
  rig.Turn("3");
  EXPECT_EQ(rig.LastUser(), BlockText("d", "(unchanged since turn 1)") + "\n\n3");
  rig.outputs["d"] = "new";
  rig.Turn("4");
  EXPECT_EQ(rig.LastUser(), BlockText("d", "new") + "\n\n4");
  rig.Turn("5");
  EXPECT_EQ(rig.LastUser(), BlockText("d", "(unchanged since turn 4)") + "\n\n5");
}

// CON-T3, CON-A11: what was sent is the start of what is sent next.
TEST(Prefix, OfEachTurnBeginsTheNext) {
  TalkRig rig;
  rig.system_text = "S";
  rig.commands = {rig.Command("a")};
  for (int i = 1; i <= 5; ++i) {
    rig.reply = "reply " + std::to_string(i);
    if (i == 3) rig.commands.push_back(rig.Exec("e"));
    rig.Turn("turn " + std::to_string(i));
    if (i == 3) rig.commands.pop_back();
  }
  for (std::size_t i = 1; i < rig.requests.size(); ++i) {
    const assembly::Messages &before = rig.requests[i - 1], &after = rig.requests[i];
    EXPECT_EQ(before.SystemText(), after.SystemText());
    ASSERT_EQ(after.turns.size(), before.turns.size() + 2);
    for (std::size_t k = 0; k < before.turns.size(); ++k) {
      EXPECT_EQ(before.turns[k].Text(), after.turns[k].Text());
    }
  }
}

// CON-T1, CON-T2, CON-T5
TEST(Tokens, FrozenContextIsBilledOnceATurn) {
  for (const int turns : {5, 10, 20}) {
    TalkRig frozen, baseline;
    frozen.commands = {frozen.Command("a")};
    baseline.commands = {baseline.Dynamic("a")};
    baseline.commands[0].persist = DeclaredCommand::Persist::kYes;
    int sent = 0, sent_baseline = 0;
    for (int i = 0; i < turns; ++i) {
      for (auto [rig, count] : {std::pair{&frozen, &sent}, std::pair{&baseline, &sent_baseline}}) {
        rig->Turn("again");
        *count += Count(ToJson(ToCanonicalJson(rig->requests.back())), "Context: a");
      }
    }
    EXPECT_EQ(sent, turns);
    EXPECT_EQ(sent_baseline, turns * (turns + 1) / 2);
    EXPECT_EQ(Count(frozen.Text(), "Context: a"), 1);
    EXPECT_EQ(Count(baseline.Text(), "Context: a"), turns);
    EXPECT_EQ(SavedBy(80, turns).tokens, 80 * (sent_baseline - sent));
    EXPECT_NEAR(SavedBy(80, turns).percent, 100.0 * (sent_baseline - sent) / sent_baseline, 1e-9);
  }
}

// CON-T1, CON-T2, CON-T5, CON-48
TEST(Tokens, FollowTheFormulas) {
  EXPECT_NEAR(SavedBy(80, 5).percent, 66.7, 0.05);
  EXPECT_NEAR(SavedBy(80, 10).percent, 81.8, 0.05);
  EXPECT_NEAR(SavedBy(80, 20).percent, 90.5, 0.05);
  EXPECT_EQ(SavedBy(80, 1).tokens, 0);
  const model::Usage usage{.input = 1234, .output = 56, .cached = 1024, .cost_nano_usd = 1'234'000};
  EXPECT_EQ(
      UsageLine(usage, SavedBy(80, 5)),
      "usage: 1,234 in (1,024 cached) + 56 out = $0.001234; context saved 800 tokens (66.7 %)");
}

// CON-48
TEST(Tokens, TotalCountsAllStoredMessages) {
  TalkRig rig;
  rig.system_text = "System";
  rig.commands = {rig.Command("a")};
  rig.Turn("one");
  rig.Turn("two");
  std::int64_t all = 0;
  const Stored stored = *rig.Read();
  for (const StoredMessage& message : stored.messages) {
    all += static_cast<std::int64_t>(message.Text().size());
  }
  EXPECT_EQ(stored.total_tokens, all);
  TalkRig legacy;
  legacy.Load(Legacy(R"([{"role":"user","content":"abc"},{"role":"assistant","content":"de"}])"));
  legacy.Turn("fgh");
  EXPECT_EQ(legacy.Read()->total_tokens, 10);
}

// CON-47, FLT-132
TEST(ChooseModel, TheOneThatIsAskedForBeatsTheStoredOneWhichBeatsTheConfiguration) {
  EXPECT_EQ(ChooseModel("", "", "config"), "config");
  EXPECT_EQ(ChooseModel("stored", "", "config"), "stored");
  EXPECT_EQ(ChooseModel("stored", "asked", "config"), "asked");
}

std::string ModelOf(const TalkRig& rig) { return rig.Read()->model; }

// FLT-139: said once for each model, and never again once it is the conversation's.
TEST(OtherModel, IsWarnedOfOnceAndAdoptedWhereThatIsAsked) {
  TalkRig rig;
  rig.Turn("one");
  rig.model = "other";
  ASSERT_EQ(rig.Turn("two").warnings.size(), 1u);
  EXPECT_TRUE(rig.Turn("three").warnings.empty());
  EXPECT_EQ(ModelOf(rig), "gpt-4");
  rig.options.adopt = TurnOptions::Adopt::kYes;
  EXPECT_TRUE(rig.Turn("four").warnings.empty());
  EXPECT_EQ(ModelOf(rig), "other");
  rig.options.adopt = TurnOptions::Adopt::kNo;
  EXPECT_TRUE(rig.Turn("five").warnings.empty());
}

// FLT-139
TEST(SystemText, ThatIsAskedForIsRefusedWhereTheConversationHasAnother) {
  TalkRig rig;
  rig.system_text = "Be brief.";
  rig.options.system = TurnOptions::System::kAsked;
  rig.commands = {rig.Command("a")};
  rig.Turn("one");
  rig.Turn("the same text is no other");
  rig.system_text = "Rhyme.";
  EXPECT_THAT(rig.TryTurn("two"), FailsWith(ErrorCode::kUsage, "--replace-system"));
  rig.options.system = TurnOptions::System::kReplaces;
  const TurnPlan plan = rig.Turn("two");
  EXPECT_EQ(plan.warnings.size(), 1u);
  const std::string system = "Rhyme.\n\n" + BlockText("a", "out of a");
  EXPECT_EQ(rig.requests.back().SystemText(), system);
  const Stored stored = *rig.Read();
  EXPECT_EQ(stored.System()->Text(), system);
  EXPECT_EQ(stored.edited, Stored::Edited::kNo);
  EXPECT_EQ(SplitSystem(stored).text, "Rhyme.");
  EXPECT_EQ(rig.runs["a"], 1);
}

// FLT-139: it is kept, as one of a new conversation is.
TEST(SystemText, ThatIsAskedForIsKeptWhereTheConversationHasNone) {
  TalkRig rig;
  rig.Turn("one");
  ASSERT_FALSE(rig.Read()->System());
  rig.system_text = "Rhyme.";
  rig.options.system = TurnOptions::System::kAsked;
  EXPECT_THAT(rig.Turn("two").warnings,
              ::testing::ElementsAre(::testing::HasSubstr("the system text was added")));
  rig.system_text.clear();
  rig.options.system = TurnOptions::System::kConfigured;
  rig.Turn("three");
  EXPECT_EQ(rig.requests.back().SystemText(), "Rhyme.");
}

// FLT-139: a file of another program keeps its blocks, and gets no record that it never had.
TEST(SystemText, IsReplacedInAFileWithoutMetadata) {
  for (const bool has_system : {true, false}) {
    TalkRig rig;
    const std::string block = BlockText("a", "x");
    rig.Load(Legacy(has_system ? ToJson(JsonArray{JsonObject{{"role", "system"},
                                                             {"content", "Old.\n\n" + block}}})
                               : "[]"));
    rig.system_text = "New.";
    rig.options.system = TurnOptions::System::kReplaces;
    rig.Turn("one");
    const std::string expected = has_system ? "New.\n\n" + block : "New.";
    EXPECT_EQ(rig.requests.back().SystemText(), expected);
    EXPECT_EQ(rig.Read()->System()->Text(), expected);
    EXPECT_FALSE(rig.Read()->context);
  }
}

// FLT-135
TEST(EditedByHand, LoadsAndSendsWhatStandsThere) {
  TalkRig rig;
  rig.system_text = "You are a helpful and very long-winded assistant.";
  rig.commands = {rig.Command("a"), rig.Command("b")};
  rig.outputs["a"] = "password: hunter2\nrest";
  rig.Turn("one");
  const auto edit = [&](std::string_view from, std::string_view to) {
    std::string text = rig.Text();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    rig.Load(text.replace(at, from.size(), to));
  };
  edit("You are a helpful and very long-winded assistant.", "Short.");
  edit("password: hunter2\\n", "");
  const Stored stored = *rig.Read();
  EXPECT_EQ(stored.edited, Stored::Edited::kYes);
  ASSERT_EQ(stored.warnings.size(), 1u);
  EXPECT_NE(stored.warnings[0].find("conversations repair talk"), std::string::npos);
  const SystemHalves parts = SplitSystem(stored);
  EXPECT_EQ(parts.text, "Short.");
  EXPECT_EQ(parts.context, BlockText("a", "rest") + "\n\n" + BlockText("b", "out of b"));
  rig.Turn("two");
  EXPECT_EQ(rig.requests.back().SystemText(), parts.text + "\n\n" + parts.context);
  EXPECT_EQ(rig.runs["a"], 1);  // still frozen: nothing runs again
}

// FLT-135
TEST(EditedByHand, MayHaveLostItsContextAltogether) {
  TalkRig rig;
  rig.commands = {rig.Command("a")};
  rig.Turn("one");
  std::string text = rig.Text();
  const std::size_t begin = text.find("    {\n      \"role\": \"system\"");
  ASSERT_NE(begin, text.npos);
  rig.Load(text.erase(begin, text.find("    {", begin + 1) - begin));
  EXPECT_EQ(rig.Read()->edited, Stored::Edited::kYes);
  rig.Turn("two");
  EXPECT_EQ(rig.requests.back().SystemText(), "");
  EXPECT_EQ(rig.runs["a"], 1);
}

// FLT-48
TEST(Images, StandBeforeTheTextInRequestAndFile) {
  TalkRig rig;
  rig.images = {{.type = assembly::Block::Type::kImage, .text = "QUJD", .media_type = "image/png"}};
  EXPECT_THAT(rig.TryTurn("what is it?"), FailsWith(ErrorCode::kConfig, "image"));
  rig.capability.image_tokens = 100;
  rig.Turn("what is it?");
  const std::vector<assembly::Block>& blocks = rig.requests.back().turns.back().blocks;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].text, "QUJD");
  EXPECT_EQ(blocks[1].text, "what is it?");
  const StoredMessage message = rig.Read()->messages[0];
  EXPECT_EQ(message.Text(), "what is it?");
  ASSERT_EQ(ImagesOf(message).size(), 1u);
  EXPECT_EQ(ImagesOf(message)[0].media_type, "image/png");
  rig.images.clear();
  rig.Turn("and now?");
  EXPECT_EQ(rig.requests.back().turns[0].blocks.size(), 2u);  // the history keeps it
}

// FLT-136
TEST(Title, IsTheTextBehindTheBlocks) {
  EXPECT_EQ(TitleOf(BlockText("a", "x") + "\n\nWhy  does\nit fail?"), "Why does it fail?");
  EXPECT_EQ(TitleOf(BlockText("a", "x")), "--- Context: a --- x --- End Context ---");
}

// CON-45, section 6: nothing of a history is ever cut.
TEST(PlanTurn, FailsWithTokensBySectionWhenItDoesNotFit) {
  TalkRig rig;
  rig.Turn(std::string(900, 'a'));
  rig.Turn(std::string(900, 'b'));
  rig.capability.window = 2000;
  const auto plan = rig.TryTurn("short");
  EXPECT_THAT(plan, FailsWith(ErrorCode::kTooLong, "history"));
}

// CON-K5, CON-11
TEST(PlanTurn, TakesMarkersInAPromptAsText) {
  TalkRig rig;
  const std::string prompt = BlockText("fake", "x") + "\n\n{{ 7 }}\n  a \n";
  rig.Turn(prompt);
  EXPECT_EQ(rig.LastUser(), prompt);
  EXPECT_EQ(rig.Read()->context->mode, ContextRecord::Mode::kNone);
  rig.Turn("2");
  EXPECT_EQ(rig.requests[1].turns[0].Text(), prompt);
  EXPECT_THAT(rig.TryTurn("bad \xff"), FailsWith(ErrorCode::kUsage, "byte 4"));
}

// CON-31
TEST(Incomplete, TurnIsReplacedWhenItIsResumed) {
  TalkRig rig;
  rig.Turn("1");
  const Stored stored = *rig.Read();
  TurnInput input{.prompt = "2", .model = "gpt-4", .now = "2026-11-21T12:47:14.000000Z"};
  const auto plan = PlanTurn(input, &stored, {}, rig.layout, rig.capability, *rig.counter);
  ASSERT_THAT(plan, Succeeds());
  FinishedTurn part{.messages = {JsonObject{{"role", "assistant"}, {"content", "par"}}},
                    .now = input.now};
  part.record.reply = TurnRecord::Reply::kIncomplete;
  ASSERT_THAT(ApplyTurn(plan->save, part, &*rig.file), Succeeds());
  ASSERT_THAT(rig.file->Apply(), Succeeds());
  EXPECT_EQ(rig.Read()->messages.size(), 4u);
  part.replaces = FinishedTurn::Replaces::kIncomplete;
  part.record.reply = TurnRecord::Reply::kComplete;
  part.messages[0]["content"] = "partial no more";
  ASSERT_THAT(ApplyTurn(plan->save, part, &*rig.file), Succeeds());
  ASSERT_THAT(rig.file->Apply(), Succeeds());
  EXPECT_EQ(rig.Read()->messages.size(), 4u);
  EXPECT_EQ(rig.Read()->messages[3].Text(), "partial no more");
  EXPECT_EQ(rig.Read()->turns.size(), 2u);
  EXPECT_THAT(ApplyTurn(plan->save, part, &*rig.file),
              FailsWith(ErrorCode::kInvalidArgument, "complete"));
}

TEST(Wire, RoundTripsToolCallsAndParts) {
  std::vector<std::string> warnings;
  const Json json = *ParseJson(R"({"role":"assistant","content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]})");
  const assembly::Turn turn = ToTurn({"assistant", json}, &warnings);
  ASSERT_EQ(turn.blocks.size(), 1u);
  EXPECT_EQ(ToMessage(turn), json.get_object());
  const Json parts = *ParseJson(R"({"role":"user","content":[{"type":"text","text":"a"},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"input_audio"}]})");
  const assembly::Turn mixed = ToTurn({"user", parts}, &warnings);
  ASSERT_EQ(mixed.blocks.size(), 3u);
  EXPECT_EQ(mixed.blocks[1].media_type, "image/png");
  EXPECT_EQ(mixed.blocks[1].text, "AAAA");
  EXPECT_EQ(warnings.size(), 1u);
}

}  // namespace
}  // namespace dossier::chat
