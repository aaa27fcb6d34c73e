#include "cli/chat/confirm_command.h"

#include <gtest/gtest.h>

#include <algorithm>

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
}  // namespace dossier::cli
