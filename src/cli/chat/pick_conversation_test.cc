#include "cli/chat/pick_conversation.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dossier::cli {
namespace {

const std::vector<chat::Listed> kList = {
    {.id = "bug-12", .model = "gpt-4", .title = "Why does the build fail?"},
    {.id = "bug-13", .model = "local", .title = "Another build"},
    {.id = "talk", .model = "gpt-4", .title = "Hello"}};

std::string Picked(std::vector<std::string> lines, std::string* shown = nullptr) {
  std::ostringstream err;
  std::size_t at = 0;
  const auto read = [&]() -> std::optional<std::string> {
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
