#include "memory/transfer/transfer.h"

#include <fmt/format.h>

#include <chrono>

#include "memory/records/connection.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string Export(TestStore& store, const ExportOptions& options = {}) {
  std::string out;
  EXPECT_THAT(ExportStore(*store, options,
                          [&](std::string_view part) -> Status {
                            out += part;
                            return {};
                          }),
              Succeeds());
  return out;
}

const ExportOptions kAll{.scope = ExportScope::kAll};

TEST(LoadTest, LinesBecomeRecordsAndBadOnesAreNamedByPlace) {
  const std::string lines =
      R"({"text": "Ann: I moved to Oslo", "kind": "turn", "thread": "s1", "ref": "a-17", "time": "2026-03-01T10:00:00Z", "tags": ["chat"], "mood": "glad"})"
      "\r\n\n"
      "{\"text\": \"a\", \"x\": }\n"
      "{\"text\": \"\xff\"}\n"
      "{\"kind\": \"turn\"}\n"
      "[1]\n"
      R"({"text": "a", "tags": [1]})"
      "\n"
      R"({"summary": "b", "content": "c"})";
  TestStore store;
  const auto loaded = LoadLines(*store, "root", lines, {});
  ASSERT_THAT(loaded, Succeeds());
  EXPECT_EQ(loaded->added, 2);
  std::vector<std::pair<std::int64_t, std::string>> faults;
  for (const LineFault& fault : loaded->faults) {
    faults.emplace_back(fault.line, fault.message);
    EXPECT_LT(fault.byte, static_cast<std::int64_t>(lines.size()));
  }
  EXPECT_THAT(faults, ElementsAre(Pair(3, HasSubstr("expected")), Pair(4, "not UTF-8"),
                                  Pair(5, HasSubstr("empty_text")), Pair(6, HasSubstr("object")),
                                  Pair(7, HasSubstr("$.tags"))));
  EXPECT_EQ(lines[static_cast<std::size_t>(loaded->faults[0].byte)], '}');
  EXPECT_EQ(lines[static_cast<std::size_t>(loaded->faults[1].byte)], '\xff');
  const auto turn = store.View().Records({.thread = "s1"});
  EXPECT_EQ(turn->front().ref, "a-17");
  EXPECT_EQ(FormatMicrosTime(turn->front().at), "2026-03-01T10:00:00.000000Z");
  EXPECT_EQ(turn->front().meta, (JsonObject{{"mood", "glad"}}));
  EXPECT_EQ(store.View().Records({.kind = "llm_insight"})->front().text, "b\nc");
  EXPECT_EQ(LoadLines(*store, "root", lines, {})->unchanged, 2);
  EXPECT_THAT(LoadLines(*store, "n9", lines, {}), FailsWith(ErrorCode::kNotFound, "n9"));
}

// A store with some of everything.
void Fill(TestStore& store) {
  ASSERT_THAT(store.Set("k", "root"), Succeeds());
  const auto old = store.Add({.text = "old", .tags = {"t"}, .meta = {{"a", JsonArray{1}}}});
  ASSERT_THAT(store->Fork("root", "n1", {.node = "node"}), Succeeds());
  ASSERT_THAT(store.Set("k", "later"), Succeeds());
  ASSERT_THAT(store.Add({.text = "new", .supersedes = old->id}), Succeeds());
  const auto event = store.Add({.tier = Tier::kRecall, .text = "event", .ref = "r"}, "n1");
  const auto summary = store.Add({.tier = Tier::kSummary, .text = "summary"}, "n1");
  const std::int64_t ids[] = {event->id};
  ASSERT_THAT(store.In("n1",
                       [&](BranchTransaction& s) -> Result<int> {
                         DOSSIER_RETURN_IF_ERROR(s.LinkSources(summary->id, ids));
                         DOSSIER_RETURN_IF_ERROR(s.Hide(ids, HideReason::kConsolidated));
                         return 0;
                       }),
              Succeeds());
  ASSERT_THAT(store.Delete("k", "n1"), Succeeds());
  ASSERT_THAT(store.In("root",
                       [](BranchTransaction& s) {
                         return s.SetCore("brief",
                                          {.value = "v", .expires_at = StandingClock::kStart * 2});
                       }),
              Succeeds());
}

// Returns what the branches of a store show.
std::string Shown(TestStore& store) {
  std::string shown;
  const auto branches = store->Branches();
  for (const Branch& branch : *branches) {
    const View view = store.View(branch.name);
    shown += fmt::format("[{} {} {}]", branch.name, branch.parent, branch.node);
    for (const CoreEntry& entry : view.AllCore()) {
      shown += fmt::format(" {}={}/{}", entry.key, entry.value, entry.expires_at.value_or(0));
    }
    const auto records = view.Records({});
    for (const Record& record : *records) {
      shown += fmt::format(" {}({}){}", record.text, fmt::join(record.tags, ","),
                           record.supersedes ? "!" : "");
    }
    shown += fmt::format(" {}", view.Window(9)->size());
  }
  return shown;
}

TEST(TransferTest, AStoreIsTheSameElsewhereAndNothingComesTwice) {  // MEM-T24
  TestStore from;
  Fill(from);
  const std::string exported = Export(from, kAll);
  const auto into_itself = ImportLines(*from, exported, {});
  ASSERT_THAT(into_itself, Succeeds());
  EXPECT_EQ(into_itself->added, 0);
  EXPECT_EQ(into_itself->faults.size(), 0u);

  TestStore to({.new_store_id = std::string(32, 'b')});
  const auto imported = ImportLines(*to, exported, {});
  ASSERT_THAT(imported, Succeeds());
  EXPECT_EQ(imported->faults.size(), 0u);
  EXPECT_THAT(imported->conflicts, ElementsAre());
  EXPECT_EQ(Shown(to), Shown(from));
  EXPECT_EQ(to->Check(CheckMode::kLook), std::vector<std::string>{});
  EXPECT_EQ(ImportLines(*to, exported, {})->added, 0);
  EXPECT_EQ(ImportLines(*to, exported, {})->unchanged, imported->added);
  EXPECT_EQ(ImportLines(*from, Export(to, kAll), {})->added, 0);  // and back

  // Later writes are included, once.
  ASSERT_THAT(from.Set("since", "1", "n1"), Succeeds());
  EXPECT_EQ(ImportLines(*to, Export(from, kAll), {})->added, 1);
  EXPECT_EQ(Shown(to), Shown(from));
}

TEST(TransferTest, BranchesOfAnotherOriginGetItsNameBeside) {  // 5.3
  TestStore from, to({.new_store_id = std::string(32, 'b')});
  Fill(from);
  Fill(to);
  const std::string before = Shown(to);
  const auto imported = ImportLines(*to, Export(from, kAll), {});
  ASSERT_THAT(imported, Succeeds());
  EXPECT_THAT(imported->conflicts,
              ElementsAre(HasSubstr("root@aaaaaaaa"), HasSubstr("n1@aaaaaaaa")));
  EXPECT_TRUE(Shown(to).starts_with(before)) << Shown(to);
  EXPECT_EQ(to.Core("k", "root@aaaaaaaa"), "later");
  EXPECT_EQ(to.View("n1@aaaaaaaa").Records({})->size(), 3u);
  EXPECT_EQ(ImportLines(*to, Export(from, kAll), {})->added, 0);
}

TEST(TransferTest, AViewIsExportedAloneAndForPeople) {
  TestStore store;
  Fill(store);
  TestStore other({.new_store_id = std::string(32, 'b')});
  ASSERT_THAT(ImportLines(*other, Export(store, {.branch = "n1"}), {}), Succeeds());
  EXPECT_EQ(other.View("n1").Records({})->size(), 3u);
  EXPECT_EQ(other.View("n1").Window(9)->size(), 0u);
  const std::string text = Export(store, {.format = ExportFormat::kMarkdown});
  EXPECT_THAT(text, HasSubstr("- k: later\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("old")));
  const auto json = ParseJson(Export(store, {.format = ExportFormat::kJson}));
  EXPECT_EQ(FindString(*json, "schema"), kExportSchema);
}

TEST(TransferTest, WhatAViewLeftOutComesLaterWithoutUndoingIt) {  // MEM-T24
  TestStore from;
  for (const char* compiler : {"gcc", "icpx"}) {
    ASSERT_THAT(from.Set("compiler", compiler), Succeeds());
  }
  ASSERT_THAT(from.Delete("compiler"), Succeeds());
  ASSERT_THAT(from.Set("compiler", "clang"), Succeeds());
  const auto nine = from.Add({.text = "nine"});
  ASSERT_THAT(from.Add({.text = "ten", .supersedes = nine->id}), Succeeds());
  const std::string all = Export(from, kAll);
  TestStore to({.new_store_id = std::string(32, 'b')});
  ASSERT_THAT(ImportLines(*to, Export(from), {}), Succeeds());
  ASSERT_THAT(ImportLines(*to, all, {}), Succeeds());
  EXPECT_EQ(to.Core("compiler"), "clang");
  EXPECT_EQ(Shown(to), Shown(from));
  EXPECT_EQ(to->Check(CheckMode::kLook), std::vector<std::string>{});
  EXPECT_EQ(ImportLines(*to, all, {})->added, 0);
  EXPECT_EQ(ImportLines(*from, Export(to, kAll), {})->added, 0);

  // So it is with an export that is older than what is here.
  ASSERT_THAT(from.Set("compiler", "zig"), Succeeds());
  TestStore newer({.new_store_id = std::string(32, 'd')});
  ASSERT_THAT(ImportLines(*newer, Export(from), {}), Succeeds());
  ASSERT_THAT(ImportLines(*newer, all, {}), Succeeds());
  EXPECT_EQ(Shown(newer), Shown(from));
  EXPECT_EQ(newer->Check(CheckMode::kLook), std::vector<std::string>{});
}

TEST(TransferTest, AnExportIsOneStateOfTheStore) {
  TestStore store;
  Fill(store);
  ASSERT_THAT(store->ReadRows([&](const RowAccess& rows) -> Status {
    const auto count = [&] {
      return ReadInt(rows.connection, "SELECT COUNT(*) FROM records").value_or(std::nullopt);
    };
    const auto before = count();
    EXPECT_THAT(store.Add({.text = "meanwhile"}), Succeeds());
    EXPECT_EQ(count(), before);
    return {};
  }),
              Succeeds());
}

TEST(TransferTest, AKindIsNoHeadingInAnExportForPeople) {
  TestStore store;
  ASSERT_THAT(store.Add({.tier = Tier::kRecall, .kind = "k\n# Forged", .text = "t\n# Forged"}),
              Succeeds());
  const std::string text = Export(store, {.format = ExportFormat::kMarkdown});
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\n# Forged")));
}

TEST(TransferTest, WhatIsNoExportIsRefusedAndBadLinesFailAlone) {
  TestStore store;
  for (const std::string_view text : {"", "{}", "x", "{\"schema\":\"other/1\"}"}) {
    EXPECT_THAT(ImportLines(*store, text, {}), FailsWith(ErrorCode::kDamaged, "no export"));
  }
  TestStore from({.new_store_id = std::string(32, 'c')});
  Fill(from);
  const std::string exported =
      Export(from, kAll) +
      "{\"type\": \"other\"}\n{\"type\": \"core\", \"uid\": \"u\", \"seq\": 99, "
      "\"branch\": \"none\"}\n{\"type\": \"record\", \"uid\": \"v\", \"seq\": 98, \"branch\": "
      "\"root\", \"tier\": \"recall\", \"time\": \"2026-03-01T10:00:00Z\", \"text\": \"\"}\nx\n";
  const auto imported = ImportLines(*store, exported, {});
  ASSERT_THAT(imported, Succeeds());
  EXPECT_EQ(imported->faults.size(), 4u);
  EXPECT_EQ(Shown(store), Shown(from));
}

TEST(TransferTest, ImportedRowsKeepTheRulesOfWrites) {  // MEM-5, MEM-9, MEM-52
  TestStore from({.new_store_id = std::string(32, 'c')});
  Fill(from);
  const auto uid_of = [&](std::string_view text) {
    const std::string exported = Export(from, kAll);
    const std::size_t end = exported.find(text);
    const std::size_t line = exported.rfind('\n', end) + 1;
    return std::string(
        *FindString(*ParseJson(exported.substr(line, exported.find('\n', end) - line)), "uid"));
  };
  ASSERT_THAT(from.Add({.text = "of n1 alone"}, "n1"), Succeeds());
  const std::string time = R"("time": "2026-03-01T10:00:00Z")";
  const std::string exported =
      Export(from, kAll) +
      R"({"type": "core", "uid": "u1", "seq": 90, "branch": "root", "key": "a\nb", "value": "v", )" +
      time + "}\n" +  // a key with a line break
      R"({"type": "hidden", "uid": "u2", "seq": 91, "branch": "root", "reason": "deleted", "record": ")" +
      uid_of("of n1 alone") + "\"}\n" +  // root does not see it
      R"({"type": "record", "uid": "u3", "seq": 92, "branch": "root", "tier": "archival", "text": "t", )" +
      R"("thread": "api_key=x8Kq)"
      R"(2LwZ9vTn4RbY7", )" +
      time + "}\n";
  TestStore store;
  const auto imported = ImportLines(*store, exported, {});
  ASSERT_THAT(imported, Succeeds());
  ASSERT_EQ(imported->faults.size(), 2u);
  EXPECT_THAT(imported->faults[0].message, HasSubstr("bad_key"));
  EXPECT_THAT(imported->faults[1].message, HasSubstr("record"));
  EXPECT_EQ(imported->redacted, 1);
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
}

// The lines of an export that somebody wrote by hand. Those of one write share a uid and a number.
class HandMade {
 public:
  void Add(std::string_view type, Seq write, JsonObject fields) {
    JsonObject line{{"type", type},
                    {"uid", fmt::format("u{}", write)},
                    {"seq", write},
                    {"time", "2026-03-01T10:00:00Z"}};
    for (const auto& [key, value] : fields) line[key] = value;
    text += ToJson(line) + "\n";
  }

  std::string text =
      fmt::format(R"({{"schema":"{}","store_id":"{}"}})", kExportSchema, std::string(32, 'c')) +
      "\n" + R"({"type":"branch","uid":"u0","seq":0,"name":"root",)" +
      R"("time":"2026-03-01T10:00:00Z"})" + "\n";
};

TEST(TransferTest, ARowThatFailsTakesTheBranchOfItsWriteWithIt) {
  HandMade made;
  made.Add("branch", 1, {{"name", "evil"}, {"parent", "root"}, {"fork_seq", 0}});
  made.Add("record", 1, {{"branch", "evil"}, {"tier", "nope"}, {"text", "t"}});
  made.Add("record", 2, {{"branch", "evil"}, {"tier", "archival"}, {"text", "planted"}});
  made.Add("core", 3, {{"branch", "evil"}, {"key", "a"}, {"value", "planted"}});
  TestStore store;
  const auto imported = ImportLines(*store, made.text, {});
  ASSERT_THAT(imported, Succeeds());
  EXPECT_EQ(imported->added, 1);
  EXPECT_EQ(imported->faults.size(), 3u);
  EXPECT_EQ(store->Check(CheckMode::kLook), std::vector<std::string>{});
  ASSERT_THAT(store->Fork("root", "fresh", {}), Succeeds());
  EXPECT_EQ(store.Core("a", "fresh"), "none");
  EXPECT_EQ(store.View("fresh").Records({})->size(), 0u);
}

TEST(TransferTest, WhatWasRenamedIsExportedAndImportedAgain) {  // 5.3
  TestStore first, second({.new_store_id = std::string(32, 'b')}),
      third({.new_store_id = std::string(32, 'c')}), fourth({.new_store_id = std::string(32, 'd')});
  Fill(first);
  Fill(second);
  Fill(fourth);
  ASSERT_THAT(ImportLines(*second, Export(first, kAll), {}), Succeeds());
  const auto imported = ImportLines(*third, Export(second, kAll), {});
  ASSERT_THAT(imported, Succeeds());
  EXPECT_EQ(imported->faults.size(), 0u);
  EXPECT_EQ(third.Core("k", "root@aaaaaaaa"), "later");
  EXPECT_EQ(Shown(third), Shown(second));

  ASSERT_THAT(ImportLines(*fourth, Export(first, kAll), {}), Succeeds());
  const auto again = ImportLines(*second, Export(fourth, kAll), {});
  ASSERT_THAT(again, Succeeds());
  EXPECT_EQ(again->faults.size(), 0u);
  EXPECT_EQ(second.Core("k", "root@dddddddd"), "later");
}

TEST(TransferTest, NamesOfAnotherStoreAreWithoutControlCharacters) {
  TestStore store;
  const std::string id = std::string(24, 'c');
  for (const std::string& wrong : {"\\u001b[31m\\n" + id, id, std::string(32, 'X')}) {
    EXPECT_THAT(
        ImportLines(*store,
                    fmt::format(R"({{"schema":"{}","store_id":"{}"}})", kExportSchema, wrong), {}),
        FailsWith(ErrorCode::kDamaged, "32 hex digits"))
        << wrong;
  }
  HandMade made;
  int write = 0;
  for (const std::string_view name : {"a@cccccccc\n", "a@\x1b[31mccc", "a@ccccccc", "@cccccccc"}) {
    made.Add("branch", ++write, {{"name", name}, {"parent", "root"}, {"fork_seq", 0}});
  }
  EXPECT_EQ(ImportLines(*store, made.text, {})->faults.size(), 4u);
}

// What an export of a view left out is not made good by a later one of all, so a branch that begins
// there would show something else than where it comes from.
TEST(TransferTest, ABranchWhoseBeginningIsLostIsRefused) {  // MEM-3, MEM-T24
  TestStore from;
  ASSERT_THAT(from.Set("a", "0"), Succeeds());
  ASSERT_THAT(from.Set("a", "1"), Succeeds());
  ASSERT_THAT(from->Fork("root", "old", {}), Succeeds());
  ASSERT_THAT(from.Set("a", "2"), Succeeds());
  ASSERT_THAT(from->Fork("root", "new", {}), Succeeds());
  const std::string all = Export(from, kAll);
  TestStore to({.new_store_id = std::string(32, 'b')});
  ASSERT_THAT(ImportLines(*to, Export(from), {}), Succeeds());
  const auto imported = ImportLines(*to, all, {});
  ASSERT_THAT(imported, Succeeds());
  ASSERT_EQ(imported->faults.size(), 1u);
  EXPECT_THAT(imported->faults[0].message,
              HasSubstr("branch \"old\" is not imported: later writes"));
  EXPECT_EQ(to.Core("a", "new"), "2");
  EXPECT_EQ(to->Check(CheckMode::kLook), std::vector<std::string>{});
}

TEST(TransferTest, ABranchThatWouldShowLaterWritesIsRefused) {  // MEM-3, MEM-T24
  TestStore from;
  const auto first = from.Add({.text = "first"});
  ASSERT_THAT(from->Fork("root", "n1", {}), Succeeds());
  ASSERT_THAT(from.Add({.text = "second", .supersedes = first->id}), Succeeds());
  TestStore to({.new_store_id = std::string(32, 'b')});
  ASSERT_THAT(ImportLines(*to, Export(from), {}), Succeeds());
  const auto imported = ImportLines(*to, Export(from, kAll), {});  // "first" comes behind "second"
  ASSERT_THAT(imported, Succeeds());
  ASSERT_EQ(imported->faults.size(), 1u);
  EXPECT_THAT(imported->faults[0].message, HasSubstr("\"n1\" is not imported"));
}

TEST(TransferTest, ManyWritesOfOneKeyAreTakenInLinearTime) {
  HandMade made;
  constexpr Seq kWrites = 20'000;
  for (Seq write = 1; write <= kWrites; ++write) {
    made.Add("core", write,
             {{"branch", "root"}, {"key", "k"}, {"value", fmt::format("{}", write)}});
  }
  TestStore store;
  const auto begin = std::chrono::steady_clock::now();
  const auto imported = ImportLines(*store, made.text, {});
  // Looking at all earlier rows of the key each time takes six times as long.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
  EXPECT_EQ(imported->added, kWrites + 1);
  EXPECT_EQ(store.Core("k"), fmt::format("{}", kWrites));
}

}  // namespace
}  // namespace dossier::memory
