#include "cli/chat/chat_dialogs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/chat/chat_output.h"

namespace dossier::cli {
namespace {

TEST(ConsentQuestionTest, TheModelCannotDrawTheQuestion) {  // FLT-131
  chat::Judged judged;
  judged.asked = {"sh", "-c", "rm x\ndossier: run it? [y/n/a/q] y", "a b"};
  judged.reason = "to look\n\n\n\x1b[2J\ndossier: run: ls \u202e";
  const std::string question = ConsentQuestion(judged);
  EXPECT_EQ(question,
            "dossier: the model asks to run\n"
            "    sh -c 'rm x\\ndossier: run it? [y/n/a/q] y' 'a b'\n"
            "  it says: to look\\n\\n\\n^[[2J\\ndossier: run: ls \\u{202E}\n"
            "dossier: run it? [y/n/a/q] ");
  EXPECT_EQ(std::count(question.begin(), question.end(), '\n'), 3);
}

TEST(ToolLineTest, TheModelCannotDrawALineOfOurs) {  // FLT-131
  const JsonObject record{{"decision", "run"}, {"argv", JsonArray{"ls", "a\ndossier: run: id"}}};
  EXPECT_EQ(ToolLine(record, "x\n\x1b[2J\ndossier: run: pwd"),
            "run: ls 'a\\ndossier: run: id'  # x\\n^[[2J\\ndossier: run: pwd");
}

TEST(ConsentQuestionTest, ALongCommandLosesItsMiddleAndSaysItsLength) {  // FLT-131
  chat::Judged judged;
  judged.asked = {"echo", std::string(5000, 'x'), "end"};
  const std::string question = ConsentQuestion(judged);
  EXPECT_LT(question.size(), 800u);
  EXPECT_NE(question.find("[… 5009 characters in all …]"), std::string::npos) << question;
  EXPECT_NE(question.find("x end\n"), std::string::npos) << question;
}

}  // namespace

namespace {

const std::vector<chat::Listed> kList = {
    {.id = "bug-12", .model = "gpt-4", .title = "Why does the build fail?"},
    {.id = "bug-13", .model = "local", .title = "Another build"},
    {.id = "talk", .model = "gpt-4", .title = "Hello"}};

std::string Picked(std::vector<std::string> lines, std::string* shown = nullptr) {
  std::ostringstream err;
  std::size_t at = 0;
  const auto read = [&](const std::string&) -> std::optional<std::string> {
    if (at == lines.size()) return std::nullopt;
    return lines[at++];
  };
  std::string id = PickConversation(kList, 60, read, err);
  if (shown) *shown = err.str();
  return id;
}

// FLT-136
TEST(PickConversation, TakesANumberOrNarrowsByWords) {
  EXPECT_EQ(Picked({"2"}), "bug-13");
  EXPECT_EQ(Picked({"build", "1"}), "bug-12");
  EXPECT_EQ(Picked({"GPT-4 fail"}), "bug-12");  // only one is left
  EXPECT_EQ(Picked({"nothing", "3"}), "talk");
  EXPECT_EQ(Picked({"9", ""}), "");
  EXPECT_EQ(Picked({}), "");
  std::string shown;
  Picked({}, &shown);
  EXPECT_NE(shown.find("  1  "), std::string::npos);
  EXPECT_NE(shown.find("Why does the build fail?"), std::string::npos);
}

}  // namespace
}  // namespace dossier::cli
