#include "evaluation/run/questions.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "evaluation/run/proxy.h"
#include "evaluation/run/systems.h"
#include "evaluation/stub/stub.h"
#include "testing/result_matchers.h"

namespace dossier::evaluation {
namespace {

using ::dossier::testing::FailsWith;

TEST(QuestionsTest, ATaskComesBackFromItsLine) {  // EVL-71
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/a.txt", "text\n"));
  const auto set = ParseQuestions(
      R"([{question: "Q?", contexts: [a.txt], gold: 12, scorer: near, tolerance: 0.5, tags: [x]}])",
      QuestionsForm::kYaml, "q.yml", folder->path(), {});
  ASSERT_TRUE(set) << set.error().message;
  const auto again = AskedTaskFromJson(AskedTaskToJson(set->tasks[0]));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(ToJson(AskedTaskToJson(*again)), ToJson(AskedTaskToJson(set->tasks[0])));
  EXPECT_EQ(again->task.window, "context-1");
  EXPECT_EQ(ToJson(again->task.gold), R"(["12"])");
}

TEST(QuestionsTest, QuestionsOverTheSameFilesShareAWindow) {  // EVL-70
  const auto folder = TempFolder::Make();
  for (const char* name : {"/a.txt", "/b.txt"}) {
    ASSERT_TRUE(WriteFileAtomic(folder->path() + name, name));
  }
  const auto set = ParseQuestions(
      "- {question: 1, contexts: a.txt}\n- {question: 2, contexts: b.txt}\n"
      "- {question: 3, contexts: [a.txt]}\n- {question: 4, contexts: '*.txt'}\n",
      QuestionsForm::kYaml, "q.yml", folder->path(), {});
  ASSERT_TRUE(set) << set.error().message;
  std::vector<std::string> windows;
  for (const AskedTask& one : set->tasks) windows.push_back(one.task.window);
  EXPECT_EQ(windows,
            (std::vector<std::string>{"context-1", "context-2", "context-1", "context-3"}));
}

TEST(QuestionsTest, AProgramWithoutItsScorerIsRefused) {
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/a.txt", "text\n"));
  const auto load = [&](std::string_view more) {
    return ParseQuestions(
        fmt::format("- {{question: 1, contexts: a.txt, gold: a, command: [x]{}}}\n", more),
        QuestionsForm::kYaml, "q.yml", folder->path(), {});
  };
  EXPECT_THAT(load(""), FailsWith(ErrorCode::kConfig, "needs `scorer: command`"));
  EXPECT_THAT(load(", scorer: exact"), FailsWith(ErrorCode::kConfig, "needs `scorer: command`"));
  EXPECT_TRUE(load(", scorer: command"));
}

TEST(QuestionsTest, AnEmptyGoldIsRefusedWithItsPlace) {  // EVL-51
  const auto folder = TempFolder::Make();
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/a.txt", "text\n"));
  const auto load = [&](std::string_view gold) {
    return ParseQuestions(fmt::format("- {{question: 1, contexts: a.txt, gold: {}}}\n", gold),
                          QuestionsForm::kYaml, "q.yml", folder->path(), {});
  };
  for (const char* empty : {"''", "' '", "[yes, '']"}) {
    EXPECT_THAT(load(empty), FailsWith(ErrorCode::kConfig, "q.yml:1: the gold is empty")) << empty;
  }
  EXPECT_TRUE(load("[yes, ja]"));
}

TEST(QuestionsTest, ContextsLieInTheFoldersOfTheQuestions) {  // EVL-73
  const auto folder = TempFolder::Make();
  const std::string own = folder->path() + "/own", outside = folder->path() + "/outside.txt";
  ASSERT_TRUE(MakeFolders(own + "/keys"));
  for (const std::string& path : {own + "/a.txt", own + "/.env", own + "/keys/id_rsa", outside}) {
    ASSERT_TRUE(WriteFileAtomic(path, "text\n"));
  }
  std::filesystem::create_symlink(outside, own + "/link.txt");
  const auto load = [&](const std::string& context, const std::vector<std::string>& named = {}) {
    return ParseQuestions("- {question: 1, contexts: ['" + context + "']}\n", QuestionsForm::kYaml,
                          "q.yml", own, {}, ContextsWanted::kOfAll, named);
  };
  for (const std::string& context :
       {std::string("../outside.txt"), outside, std::string("../*.txt"), std::string("link.txt"),
        std::string("/etc/*")}) {
    EXPECT_THAT(load(context), FailsWith(ErrorCode::kRefused, "--contexts-from")) << context;
  }
  EXPECT_THAT(load(".env"), FailsWith(ErrorCode::kRefused, "a secret file"));
  for (const std::string& named : {outside, folder->path() + "/"}) {
    EXPECT_TRUE(load("../outside.txt", {named})) << named;
    EXPECT_TRUE(load("link.txt", {named})) << named;
  }
  EXPECT_TRUE(load(".env", {own + "/.env"}));
  EXPECT_THAT(load(".env", {own}), FailsWith(ErrorCode::kRefused, "a secret file"));

  const auto all = load("**");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->tasks[0].files, std::vector<std::string>{own + "/a.txt"});
  EXPECT_EQ(all->left_out, std::vector<std::string>{own + "/keys/id_rsa"});
}

TEST(QuestionsTest, ContextsAreTextForEveryArmAlike) {  // EVL-74
  const auto folder = TempFolder::Make();
  // No NUL and valid UTF-8, as the heads of many are.
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/a.pdf", "%PDF-1.4\n1 0 obj\n<< >>\nendobj\n"));
  ASSERT_TRUE(WriteFileAtomic(folder->path() + "/b.txt", "caf\xe9 au lait, voil\xe0\n"));
  const auto load = [&](std::string_view context) {
    return ParseQuestions(fmt::format("- {{question: Q, contexts: '{}'}}\n", context),
                          QuestionsForm::kYaml, "q.yml", folder->path(), {});
  };
  for (const std::string_view context : {"a.pdf", "*"}) {
    EXPECT_THAT(load(context),
                FailsWith(ErrorCode::kDamaged, "q.yml:1: " + folder->path() + "/a.pdf: a binary"));
  }
  const auto text = load("b.txt");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*DirectPrompt(text->tasks[0]), "café au lait, voilà\n\nQ");
}

TEST(SystemsTest, WordsAreFilledOnceAndNeverReadAgain) {  // EVL-61
  const auto words = FillWords({"a{question}b", "{contexts}", "x{contexts}", "{none}", "{"},
                               {{"question", "{model}{contexts}"}, {"model", "M"}}, {"c 1", "c2"});
  EXPECT_EQ(words, (std::vector<std::string>{"a{model}{contexts}b", "c 1", "c2", "xc 1 c2",
                                             "{none}", "{"}));
}

TEST(SystemsTest, TheMiddleIsCutAndItsEndsStay) {  // EVL-60
  const auto count = [](std::string_view text) { return static_cast<std::int64_t>(text.size()); };
  const std::string prompt = std::string(500, 'a') + std::string(500, 'b');
  EXPECT_EQ(CutMiddle(prompt, 1000, count), prompt);
  const std::string cut = CutMiddle(prompt, 101, count);
  EXPECT_LE(count(cut), 101);
  EXPECT_GE(count(cut), 95);
  EXPECT_TRUE(cut.starts_with("aaaa") && cut.ends_with("bbbb")) << cut;
}

TEST(ProxyTest, ABodyGetsOnlyWhatItLeavesOut) {  // EVL-63
  const QuestionRules rules{.temperature = 0.5, .seed = 7, .max_tokens = 9};
  bool added = false;
  EXPECT_EQ(CompleteBody(R"({"model": "m",  "seed":1})", rules, "", &added),
            R"({"temperature":0.5,"max_tokens":9,"model": "m",  "seed":1})");
  EXPECT_FALSE(added);
  EXPECT_EQ(CompleteBody(R"({"messages":[],"stream":true})", {}, "", &added),
            R"({"stream_options":{"include_usage":true},"messages":[],"stream":true})");
  EXPECT_TRUE(added);
  EXPECT_EQ(CompleteBody("{}", {.seed = 1}, "", &added), R"({"seed":1})");
  EXPECT_EQ(CompleteBody("no json", rules, "", &added), "no json");
  EXPECT_EQ(CompleteBody(R"({"messages":[{"content":"a"},{"content":"b"}]})", {}, "R\n", &added),
            R"({"messages":[{"content":"R\na"},{"content":"b"}]})");
}

TEST(StubTest, TextsAreFoundWithTheirNumbers) {  // EVL-76
  const auto table = StubTable::Parse(
      "{\"text\":\"The bus was late\",\"label\":\"travel\"}\n"
      "{\"text\":\"The bus was late again\",\"label\":\"food\"}\n",
      "t");
  ASSERT_TRUE(table) << table.error().message;
  const StubFinder finder(*table);
  const auto items =
      finder.Find("[3] The bus was late again\n12. x || The bus was late.\nThe bus was late");
  ASSERT_EQ(items.size(), 3);
  EXPECT_EQ(items[0].text, "The bus was late again");
  EXPECT_EQ(items[0].number, 3);
  EXPECT_EQ(items[1].number, 12);
  EXPECT_EQ(items[2].number, 0);
  EXPECT_THAT(StubTable::Parse("{\"text\":\"short\",\"label\":\"x\"}", "t"),
              FailsWith(ErrorCode::kConfig, "t:1"));
}

TEST(StubTest, AHashDecidesWhatIsWrong) {  // EVL-75
  const std::vector<std::string> labels = {"a", "b", "c"};
  int wrong = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = "text " + std::to_string(i);
    const auto said = StubLabel(labels, text, "b", {.share = 0.1});
    EXPECT_EQ(said, StubLabel(labels, text, "b", {.share = 0.1}));
    wrong += said == "b" ? 0 : 1;
    if (said != "b") {
      EXPECT_EQ(said, StubLabel(labels, text, "b", {.share = 0.5})) << "wrong stays wrong";
    }
    EXPECT_NE(StubLabel(labels, text, "b", {.share = 1}), "b");
  }
  EXPECT_NEAR(wrong, 1000, 100);
}

}  // namespace
}  // namespace dossier::evaluation
