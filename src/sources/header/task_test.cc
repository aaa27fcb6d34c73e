#include "sources/header/task.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "sources/header/note.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;

class TaskFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(root()) / file;
    ASSERT_TRUE(MakeFolders(path.parent_path().string()));
    ASSERT_TRUE(WriteFileAtomic(path.string(), text));
  }
  std::string root() const { return folder_.path(); }
  Result<TaskList> Load(const std::vector<std::string>& sources = {}) {
    return LoadTasks(root(), sources);
  }

 private:
  TempFolder folder_ = *TempFolder::Make("tasks");
};

std::vector<std::string> Ids(const std::vector<Task>& tasks) {
  std::vector<std::string> ids;
  for (const Task& task : tasks) ids.push_back(task.id);
  return ids;
}

TEST_F(TaskFilesTest, TheExampleOfTheSpecIsRead) {  // REP-30
  Write("config/tasks.edn", R"([{:id "fact-001" :summary "Build src/factorial.py" :priority 1
  :targets ["src/factorial.py" "tests/test_factorial.py"] :dependencies []}])");
  const auto list = Load();
  ASSERT_THAT(list, Succeeds());
  ASSERT_EQ(list->tasks.size(), 1u);
  EXPECT_EQ(list->tasks[0], (Task{.id = "fact-001",
                                  .summary = "Build src/factorial.py",
                                  .targets = {"src/factorial.py", "tests/test_factorial.py"},
                                  .priority = 1,
                                  .file = "config/tasks.edn"}));
  EXPECT_TRUE(list->warnings.empty());
}

TEST_F(TaskFilesTest, YamlAndJsonGiveTheSameTasks) {  // A12
  const std::string edn = R"([{:id 2 :summary "s" :target-files "src" :depends-on [1 "b"]
      :acceptance ["x"] :files ["f"] :priority "P3" :cwd "sub"}])";
  const std::string yaml =
      "- {id: 2, summary: s, target_files: src, depends_on: [1, b], acceptance: [x], files: [f],\n"
      "   priority: P3, cwd: sub}\n";
  const std::string json =
      R"([{"id":2,"summary":"s","target_files":"src","depends_on":[1,"b"],"acceptance":["x"],
           "files":["f"],"priority":"P3","cwd":"sub"}])";
  std::vector<Task> tasks;
  for (const auto& [name, text] : {std::pair{"a.edn", edn}, {"a.yaml", yaml}, {"a.json", json}}) {
    Write(name, text);
    const auto list = Load({name});
    ASSERT_THAT(list, Succeeds()) << name;
    ASSERT_EQ(list->tasks.size(), 1u);
    tasks.push_back(list->tasks[0]);
    tasks.back().file.clear();
  }
  EXPECT_EQ(tasks[0], (Task{.id = "2",
                            .summary = "s",
                            .acceptance = {"x"},
                            .files = {"f"},
                            .targets = {"src"},
                            .dependencies = {"1", "b"},
                            .priority = 3,
                            .cwd = "sub"}));
  EXPECT_EQ(tasks[0], tasks[1]);
  EXPECT_EQ(tasks[0], tasks[2]);
}

TEST(PriorityTest, IsReadAsPeopleWriteIt) {  // REP-4, A1
  struct Case {
    Json value;
    std::int64_t priority;
    std::string_view problem;
  };
  const Case kCases[] = {
      {nullptr, 1000, ""},
      {3, 3, ""},
      {-3, -3, ""},
      {"P1", 1, ""},
      {" p2 ", 2, ""},
      {"7", 7, ""},
      {"high", 1000, "\"high\" is no number"},
      {"", 1000, "is no number"},
      {"P", 1000, "is no number"},
      {"99999999999999999999", 1000, "is no number"},
      {JsonArray{1}, 1000, "[1] is no number"},
      {2.5, 2, "priority 2.5 counts as 2"},
  };
  for (const Case& c : kCases) {
    std::string problem;
    EXPECT_EQ(ReadPriority(c.value, &problem), c.priority) << ToJson(c.value);
    EXPECT_NE(problem.find(c.problem), std::string::npos) << problem;
    EXPECT_EQ(problem.empty(), c.problem.empty()) << problem;
  }
}

TEST_F(TaskFilesTest, TasksStandByPriorityThenIdThenPlace) {  // REP-5, A1
  Write("config/tasks.edn",
        R"([{:id :a :priority 5 :summary "s"} {:id 2 :summary "s"} {:id "10" :summary "s"}
            {:id "z" :priority "P1" :summary "s"}
            {:id "b" :priority "low" :summary "s"}])");
  auto list = Load();
  ASSERT_THAT(list, Succeeds());
  std::stable_sort(list->tasks.begin(), list->tasks.end(), StartsBefore);
  EXPECT_THAT(Ids(list->tasks), ElementsAre("z", "a", "10", "2", "b"));
  EXPECT_THAT(list->warnings, ElementsAre("config/tasks.edn:3:22: task 5 (b): priority \"low\" is "
                                          "no number: it counts as 1000"));
}

TEST_F(TaskFilesTest, WhatIsWrongIsNamedWithTaskAndPlace) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"\n{:id 1}", "a.edn:2:1: must be a list of tasks"},
      {"[1]", "a.edn:1:2: task 1: must be a map of keys"},
      {"[{:id \"x\"\n  :targets 5}]",
       "a.edn:2:3: task 1 (x): targets is 5; it must be a list of texts"},
      {"[{:id a :summary s}\n {:id b :summary s\n  #_{:deps 1} :deps [a]}]",
       "a.edn:3:15: task 2 (b): unknown key deps (depends_on?)"},
      {"[{:id a :summary s :depends b}]",
       "a.edn:1:20: task 1 (a): unknown key depends (depends_on?)"},
      {"[{:id a}]", "a.edn:1:3: task 1 (a): has no summary"},
      {"[{:summary s}]", "a.edn:1:2: task 1: has no id"},
      {"[{:id a :summary s :dependencies [b]} {:id b :summary s\n :depends-on a}]",
       "a.edn:1:20: tasks wait for each other: a -> b -> a"},
      {"[{:id [1]}]", "a.edn:1:3: task 1: id is a list; it must be text or a whole number"},
      {"[{:id 1.5}]", "id is 1.5; it must be text or a whole number"},
      {"[{:id \"x\" :summary 7}]", "summary is 7; it must be a text"},
      {"[{:id \"x\" :summary s} {:id :x :summary s}]",
       "a.edn:1:24: task 2 (x): this id stands twice, first in a.edn"},
      {"[{:id", "a.edn:1:2: { is never closed"},
  };
  for (const Case& c : kCases) {
    Write("a.edn", c.text);
    EXPECT_THAT(Load({"a.edn"}), FailsWith(ErrorCode::kConfig, std::string(c.message))) << c.text;
  }
}

TEST_F(TaskFilesTest, AllThatIsWrongIsToldAtOnceInEachForm) {
  Write("a.edn", "[{:id a :deps 1}\n{:id b}\n{:id c :summary s}]");
  EXPECT_THAT(Load({"a.edn"}), FailsWith(ErrorCode::kConfig,
                                         "a.edn:1:9: task 1 (a): unknown key deps (depends_on?)\n"
                                         "a.edn:2:2: task 2 (b): has no summary"));
  Write("a.yaml", "- id: a\n  summary: s\n- id: b\n  sumary: s\n");
  EXPECT_THAT(Load({"a.yaml"}), FailsWith(ErrorCode::kConfig,
                                          "a.yaml:4:3: task 2 (b): unknown key sumary (summary?)"));
  Write("a.json", "[{\"id\": \"a\",\n  \"cwd\": 1}]");
  EXPECT_THAT(Load({"a.json"}), FailsWith(ErrorCode::kConfig, "a.json:2:3: task 1 (a): cwd is 1"));
  Write("tasks/pending/q.edn", "{:summary s\n :after b}");
  EXPECT_THAT(Load(), FailsWith(ErrorCode::kConfig, "tasks/pending/q.edn:2:2: unknown key after"));
}

// The place of each was looked for in the whole file: 20 s here.
TEST_F(TaskFilesTest, OnlyTheFirstPlacesAreLookedFor) {
  std::string wrong_priorities = "[", unnamed = "[";
  for (int i = 0; i < 3'000; ++i) {
    wrong_priorities += fmt::format("{{:id {} :summary s :priority high}}\n", i);
    unnamed += "{:summary s}\n";
  }
  Write("a.edn", wrong_priorities + "]");
  Write("b.edn", unnamed + "]");
  const auto begun = std::chrono::steady_clock::now();
  const auto list = Load({"a.edn"});
  ASSERT_THAT(list, Succeeds());
  ASSERT_EQ(list->warnings.size(), kMaxTaskProblems + 1);
  EXPECT_EQ(list->warnings.back(), "2,980 more priorities are no whole number");
  EXPECT_THAT(Load({"b.edn"}), FailsWith(ErrorCode::kConfig,
                                         "b.edn:20:1: task 20: has no id, a "
                                         "name of its own\nand more"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST_F(TaskFilesTest, TwoDefaultListsAreRefusedByName) {  // REP-30
  Write("config/tasks.edn", "[]");
  Write("config/tasks.json", "[]");
  EXPECT_THAT(Load(), FailsWith(ErrorCode::kConfig,
                                "config/tasks.edn and config/tasks.json are both there"));
}

TEST_F(TaskFilesTest, AFolderQueueHoldsOneTaskAFile) {  // REP-31, A28
  Write("tasks/pending/b.edn", R"({:summary "B"})");
  Write("tasks/pending/a.json", R"({"id":"own","summary":"A"})");
  Write("tasks/pending/c.yaml", "summary: C\n");
  Write("tasks/pending/.hidden.edn", "[");
  Write("tasks/pending/readme.txt", "text");
  Write("tasks/current/d.edn", R"({:summary "D"})");
  Write("tasks/complete/e.edn", R"({:summary "E"})");
  Write("tasks/complete/f.json", R"({"id":"six"})");
  Write("tasks/complete/g.json", "broken");
  const auto list = Load();
  ASSERT_THAT(list, Succeeds());
  EXPECT_THAT(Ids(list->tasks), ElementsAre("own", "b", "c"));
  EXPECT_EQ(list->tasks[1].file, "tasks/pending/b.edn");
  EXPECT_THAT(list->completed, ElementsAre("e", "six", "g"));
}

TEST_F(TaskFilesTest, AMissingQueueIsEmptyAndAMissingListIsNot) {
  EXPECT_TRUE(Load()->tasks.empty());
  EXPECT_TRUE(Load({"work"})->tasks.empty());
  EXPECT_THAT(Load({"work.edn"}), FailsWith(ErrorCode::kConfig, "work.edn: there is no such"));
  EXPECT_THAT(Load({"notes:scratch"}), FailsWith(ErrorCode::kConfig, "notes:proposed_tasks"));
}

TEST_F(TaskFilesTest, AnIdInTwoSourcesIsRefused) {  // REP-30
  Write("config/tasks.edn", R"([{:id "x" :summary s}])");
  Write("tasks/pending/x.edn", "{:summary s}");
  EXPECT_THAT(Load(), FailsWith(ErrorCode::kConfig,
                                "tasks/pending/x.edn:1:1: this id stands "
                                "twice, first in config/tasks.edn"));
}

TEST_F(TaskFilesTest, GreenProposalsAreTasks) {  // REP-30
  Write("agent_notes/proposed_tasks/2026-01-01__p-1__x.md",
        "---\nrank: 4\ntargets: [src, docs]\n---\n\n# Do it\n\nSoon.\n");
  Write("agent_notes/proposed_tasks/2026-01-01__p-2__x.md", "---\nstatus: red\n---\n# No\n");
  Write("agent_notes/proposed_tasks/2026-01-01__p-3__x.md", "---\nstatus: amber\n---\n# No\n");
  Write("agent_notes/scratch/2026-01-01__p-4__x.md", "# No\n");
  const auto list = Load({"notes:proposed_tasks"});
  ASSERT_THAT(list, Succeeds());
  ASSERT_EQ(list->tasks.size(), 1u);
  EXPECT_EQ(list->tasks[0], (Task{.id = "p-1",
                                  .summary = "Do it",
                                  .description = "# Do it\n\nSoon.",
                                  .targets = {"src", "docs"},
                                  .priority = 4,
                                  .file = "agent_notes/proposed_tasks/2026-01-01__p-1__x.md"}));
}

TEST_F(TaskFilesTest, ALongProposalIsReadAsFarAsANoteIs) {  // REP-22, REP-30
  Write("agent_notes/proposed_tasks/2026-01-01__p-1__x.md",
        "# Do it\n" + std::string(2 * kMaxNoteBytes, 'x'));
  const auto list = Load({"notes:proposed_tasks"});
  ASSERT_THAT(list, Succeeds());
  ASSERT_EQ(list->tasks.size(), 1u);
  EXPECT_EQ(list->tasks[0].summary, "Do it");
  EXPECT_EQ(list->tasks[0].description.size(), kMaxNoteBytes);
}

TEST_F(TaskFilesTest, WhatIsNoFileIsNotWaitedFor) {  // section 6
  ASSERT_TRUE(MakeFolders(root() + "/config"));
  ASSERT_EQ(mkfifo((root() + "/config/tasks.edn").c_str(), 0600), 0);
  EXPECT_THAT(Load(), FailsWith(ErrorCode::kConfig, "config/tasks.edn: is no regular file"));
}

TEST(FileNameOfIdTest, KeepsPlainIdsAndMarksChangedOnes) {  // section 5
  EXPECT_EQ(FileNameOfId("fact-001"), "fact-001");
  EXPECT_EQ(FileNameOfId(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_EQ(FileNameOfId("a/b"), "a-b-c14cddc0");
  EXPECT_NE(FileNameOfId("a/b"), FileNameOfId("a:b"));
  EXPECT_EQ(FileNameOfId(std::string(65, 'a')).size(), 64u + 9u);
  for (const std::string id :
       {"", ".", "..", "a..b", ".git", "-x", "x.lock", "x.", "\xff", "ä/ö"}) {
    const std::string name = FileNameOfId(id);
    EXPECT_NE(name, id);
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-"),
              std::string::npos)
        << name;
    EXPECT_FALSE(name.starts_with('.') || name.starts_with('-') || name.ends_with(".lock")) << name;
    EXPECT_EQ(name.find(".."), std::string::npos) << name;
  }
}

Task Depending(std::string id, std::vector<std::string> on, std::int64_t priority = 1000) {
  return {.id = std::move(id),
          .summary = "s",
          .dependencies = std::move(on),
          .priority = priority,
          .file = "t.edn"};
}

std::vector<std::string> Order(const std::vector<Task>& tasks) {
  std::vector<std::string> ids;
  for (const std::size_t index : StartOrder(tasks)) ids.push_back(tasks[index].id);
  return ids;
}

TEST(TaskOrderTest, ATaskStartsAfterItsDependencies) {  // REP-32, A28
  const std::vector<Task> tasks = {Depending("a", {"c"}, 1), Depending("b", {}, 5),
                                   Depending("c", {}, 9), Depending("d", {"a", "b"}, 0),
                                   Depending("e", {"old"}, 3)};
  EXPECT_THAT(CheckDependencies(tasks, {"old"}, ""), Succeeds());
  EXPECT_THAT(Order(tasks), ElementsAre("e", "b", "c", "a", "d"));
}

TEST(TaskOrderTest, CyclesAreShown) {  // REP-32, A28
  EXPECT_THAT(CheckCycles(std::vector{Depending("a", {"b"}), Depending("b", {"c"}),
                                      Depending("c", {"b"}), Depending("d", {"gone"})},
                          ""),
              FailsWith(ErrorCode::kConfig, "t.edn: tasks wait for each other: b -> c -> b"));
  EXPECT_THAT(CheckCycles(std::vector{Depending("a", {"a"})}, ""),
              FailsWith(ErrorCode::kConfig, "a -> a"));
}

TEST_F(TaskFilesTest, UnknownIdsOfDependenciesAreNamedWithTheirPlaces) {  // REP-32, A28
  Write("config/tasks.edn",
        "[{:id fact-001 :summary s}\n {:id b :summary s\n  :depends-on [fact-01 zzz]}]");
  const auto list = Load();
  ASSERT_THAT(list, Succeeds());
  EXPECT_THAT(CheckDependencies(list->tasks, {"zzz"}, root()),
              FailsWith(ErrorCode::kConfig,
                        "config/tasks.edn:2:2: task b depends on fact-01, which "
                        "is no task (fact-001?)"));
}

}  // namespace
}  // namespace dossier::sources
