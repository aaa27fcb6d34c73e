#include "chat/store/repair.h"

#include <gtest/gtest.h>

#include "testing/talk_rig_for_test.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

std::vector<std::string> Repaired(Document* document) {
  const auto done = Repair(*tokens::MakeCharCounter(), document);
  EXPECT_THAT(done, Succeeds());
  EXPECT_THAT(document->Apply(), Succeeds());
  return done ? *done : std::vector<std::string>();
}

// FLT-135: what is repaired reads as if dossier had written it, and a second time nothing is left.
TEST(Repair, WritesTheRecordOfAnEditedContextAnew) {
  TalkRig rig;
  rig.system_text = "A long text of the system.";
  rig.commands = {rig.Command("a")};
  rig.Turn("one");
  EXPECT_TRUE(Repaired(&*rig.file).empty());
  std::string text = rig.Text();
  text.replace(text.find(rig.system_text), rig.system_text.size(), "S");
  rig.Load(text);
  ASSERT_EQ(rig.Read()->edited, Stored::Edited::kYes);
  EXPECT_EQ(Repaired(&*rig.file).size(), 1u);
  rig.Load(rig.Text());
  const Stored stored = *rig.Read();
  EXPECT_EQ(stored.edited, Stored::Edited::kNo);
  EXPECT_TRUE(stored.warnings.empty());
  EXPECT_EQ(SplitSystem(stored).context, BlockText("a", "out of a"));
  EXPECT_EQ(stored.context->commands.size(), 1u);
  EXPECT_TRUE(Repaired(&*rig.file).empty());
}

TEST(Repair, DropsRecordsOfWhatIsGone) {
  auto document = Document::Parse(
      R"({"id": "old", "messages": [{"role": "user", "content": "x"}], "metadata": {"dossier":
      {"turns": [{"n": 1}, {"n": 2}], "compaction": [{"id": 1, "from": 0, "to": 9}]}}})",
      "new");
  ASSERT_THAT(document, Succeeds());
  EXPECT_EQ(Repaired(&*document).size(), 3u);  // the id, a compaction, a turn
  const auto stored = ReadStored(*document);
  ASSERT_THAT(stored, Succeeds());
  EXPECT_EQ(document->id(), "new");
  EXPECT_EQ(stored->turns.size(), 1u);
  EXPECT_TRUE(stored->warnings.empty());
}

TEST(Repair, TakesAwayNoMoreMetadataThanItMust) {
  const std::pair<std::string_view, std::string_view> kBad[] = {
      {R"("context": {"mode": "weird"}, "dossier": {"title": "T", "turns": [{"n": 1}]})",
       "context"},
      {R"("context": {"mode": "none"}, "dossier": {"title": "T", "turns": {}})", "turns"},
      {R"("context": {"mode": "weird"}, "dossier": {"title": "T", "turns": {}})", "both"},
      {R"("dossier": 7)", "dossier"},
  };
  for (const auto& [metadata, what] : kBad) {
    auto document = Document::Parse(
        fmt::format(R"({{"messages": [{{"role": "user", "content": "x"}}], "metadata": {{{}}}}})",
                    metadata),
        "x");
    ASSERT_THAT(document, Succeeds());
    ASSERT_THAT(ReadStored(*document), FailsWith(ErrorCode::kDamaged, "malformed"));
    Repaired(&*document);
    const auto stored = ReadStored(*document);
    ASSERT_THAT(stored, Succeeds()) << what;
    EXPECT_EQ(stored->messages.size(), 1u);
    EXPECT_EQ(stored->title, what == "dossier" ? "" : "T") << what;
    EXPECT_EQ(stored->turns.size(), what == "context" ? 1u : 0u) << what;
    EXPECT_EQ(stored->context.has_value(), what == "turns") << what;
  }
}

}  // namespace

namespace {

using dossier::testing::Succeeds;

Document Legacy(const std::vector<std::pair<std::string, std::string>>& messages) {
  Document document = Document::Make("x", "m", "2026-01-01T00:00:00.000000Z");
  for (const auto& [role, text] : messages) {
    document.AppendMessage(JsonObject{{"role", role}, {"content", text}});
  }
  EXPECT_THAT(document.Apply(), Succeeds());
  return document;
}

Migration Done(Document* document,
               MigrateOptions::Changed changed = MigrateOptions::Changed::kKeep) {
  const auto done = Migrate({.changed = changed}, "2026-02-01T00:00:00.000000Z",
                            *tokens::MakeCharCounter(), document);
  EXPECT_THAT(done, Succeeds());
  EXPECT_THAT(document->Apply(), Succeeds());
  return *done;
}

// CON-27
TEST(Migrate, MovesTheFirstBlocksAndDropsTheirCopies) {
  const std::string a = BlockText("a", "one"), changed = BlockText("a", "two");
  for (const char* system : {"S", ""}) {
    std::vector<std::pair<std::string, std::string>> messages = {{"user", a + "\n\nfirst"},
                                                                 {"assistant", "r"},
                                                                 {"user", a + "\n\nsecond"},
                                                                 {"assistant", "r"},
                                                                 {"user", changed + "\n\nthird"}};
    if (*system) messages.insert(messages.begin(), {"system", system});
    Document document = Legacy(messages);
    const Migration done = Done(&document);
    EXPECT_EQ(done.lines.size(), 3u);
    const Stored stored = *ReadStored(document);
    ASSERT_EQ(stored.messages.size(), 6u);
    EXPECT_EQ(stored.System()->Text(), *system ? "S\n\n" + a : a);
    EXPECT_EQ(stored.messages[1].Text(), "first");
    EXPECT_EQ(stored.messages[3].Text(), "second");
    EXPECT_EQ(stored.messages[5].Text(), changed + "\n\nthird");
    EXPECT_EQ(stored.context->source, "migrated");
    EXPECT_EQ(StateOf(&stored), State::kFrozen);
    EXPECT_EQ(SplitSystem(stored).context, a);
    const std::string text = document.Render().Joined();
    EXPECT_TRUE(Done(&document).lines.empty());
    EXPECT_EQ(document.Render().Joined(), text);
  }
}

// CON-27
TEST(Migrate, DropsChangedCopiesWhenAsked) {
  Document document = Legacy({{"user", BlockText("a", "one") + "\n\nfirst"},
                              {"user", BlockText("a", "two") + "\n\nsecond"}});
  Done(&document, MigrateOptions::Changed::kDrop);
  EXPECT_EQ(ReadStored(document)->messages[2].Text(), "second");
}

// CON-27, CON-B1
TEST(Migrate, DescribesBlocksThatStandWhereTheyBelong) {
  const std::string system = "S\n\n" + BlockText("a", "one");
  Document document = Legacy({{"system", system}, {"user", "u"}});
  EXPECT_EQ(Done(&document).lines.size(), 1u);
  const Stored stored = *ReadStored(document);
  EXPECT_EQ(stored.System()->Text(), system);
  EXPECT_EQ(stored.context->offset, 3u);
  EXPECT_EQ(SplitSystem(stored).context, BlockText("a", "one"));
}

TEST(Migrate, LeavesAPlainConversationAlone) {
  Document document = Legacy({{"user", "u"}, {"assistant", "r"}});
  const std::string before = document.Render().Joined();
  EXPECT_TRUE(Done(&document).lines.empty());
  EXPECT_EQ(document.Render().Joined(), before);
}

}  // namespace
}  // namespace dossier::chat
