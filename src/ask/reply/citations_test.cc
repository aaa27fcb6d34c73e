#include "ask/reply/citations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

using Holds = Citation::Status;

class CitationsTest : public ::testing::Test {
 protected:
  CitationsTest() {
    auto folder = TempFolder::Make();
    EXPECT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    auto content = store::ContentStore::Open(folder_->path() + "/content");
    EXPECT_TRUE(content);
    content_ = std::move(*content);
    Add("a.txt", "The first line is dry.\nThe second   line\tis wet.\nThird line here.\n");
    Add("b/c.txt", "Nothing of that kind.\nÄpfel und Birnen sind Obst.\n");
    Add("d.txt", "same sentence in both\n");
    Add("e.txt", "Same Sentence in Both\nand more of it\n");
    auto context =
        LoadContext({{.path = folder_->path() + "/in"}}, {.content = content_.get()}, {});
    EXPECT_TRUE(context) << context.error().message;
    context_ = *context;
  }

  void Add(const std::string& name, std::string_view text) {
    const std::string path = folder_->path() + "/in/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(WriteFileAtomic(path, text));
  }

  std::vector<Citation> Check(std::string_view answer) {
    return CheckCitations(answer, *context_, {});
  }

  std::optional<TempFolder> folder_;
  std::unique_ptr<store::ContentStore> content_;
  std::shared_ptr<const ContextSet> context_;  // 0 a.txt, 1 b/c.txt, 2 d.txt, 3 e.txt
};

// Of a quote that stands nowhere; what is no quote is not looked up.
TEST_F(CitationsTest, EveryQuotationMarkIsOne) {  // REC-66
  const std::string_view quoted[] = {
      "“the bank was robbed”",           "„the bank was robbed“",
      "„the bank was robbed”",           "”the bank was robbed”",
      "«the bank was robbed»",           "»the bank was robbed«",
      "»the bank was robbed»",           "‹the bank was robbed›",
      "›the bank was robbed‹",           "‘the bank was robbed’",
      "‚the bank was robbed‘",           "’the bank was robbed’",
      "'the bank was robbed'",           "「the bank was robbed」",
      "『the bank was robbed』",         "＂the bank was robbed＂",
      "｢the bank was robbed｣",           "〝the bank was robbed〟",
      "&quot;the bank was robbed&quot;", "<q>the bank was robbed</q>",
      "``the bank was robbed''",         "<blockquote>the bank was robbed</blockquote>"};
  for (const std::string_view quote : quoted) {
    const auto found = Check(fmt::format("It says {} [a.txt:1].", quote));
    ASSERT_EQ(found.size(), 1U) << quote;
    EXPECT_EQ(found[0].quote, "the bank was robbed");
    EXPECT_EQ(found[0].status, Holds::kNotFound);
    EXPECT_EQ(found[0].ref, "[a.txt:1]");
  }
  for (const std::string_view block :
       {"It says:\n> the bank\n> was robbed [a.txt:1]\nand no more.",
        "> the bank\n> was robbed\n\n[a.txt:1]", "> the bank\n> was robbed\n\nSo it says."}) {
    const auto found = Check(block);
    ASSERT_FALSE(found.empty()) << block;
    EXPECT_EQ(TrimSpace(found[0].quote), "the bank\nwas robbed");
    EXPECT_EQ(found[0].status, Holds::kNotFound);
  }
  const auto whole = Check("‘The dog’s bone isn’t where the cat’s was’ [a.txt:1], it’s said.");
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].quote, "The dog’s bone isn’t where the cat’s was");
  EXPECT_TRUE(Check("The dogs' bones and the cats' milk aren't here, it's said.").empty());
  EXPECT_TRUE(Check("The dogs’ bones and the cats’ milk aren’t here, it’s said.").empty());
  EXPECT_TRUE(Check("a > b and the bank was robbed > c").empty());
}

TEST_F(CitationsTest, AReferenceToLinesIsNoClaim) {  // REC-66
  const auto left = [&](std::string_view answer) { return WithoutReferences(answer, *context_); };
  EXPECT_EQ(left("It is dry [a.txt:1], not wet [c.txt:2-3] [a.txt@0-9]."),
            "It is dry , not wet  .");
  EXPECT_EQ(left("At [12:30] in [z.txt:4]: **3** of Doc 1."),
            "At [12:30] in [z.txt:4]: **3** of Doc 1.");
}

TEST_F(CitationsTest, EachFormOfAReferenceIsReadAndHeld) {  // REC-66, REC-A23
  struct Case {
    std::string_view answer;
    Holds status;
    std::string_view ref, found;
  };
  const Case cases[] = {
      {R"("the second line is wet" [a.txt:2])", Holds::kVerified, "[a.txt:2]", "[a.txt:2]"},
      {R"("the second line is wet" [a.txt:1-2])", Holds::kVerified, "[a.txt:1-2]", "[a.txt:2]"},
      {R"("is dry. The second line" [a.txt:1])", Holds::kVerified, "[a.txt:1]", "[a.txt:1]"},
      {R"("the second line is wet" [a.txt:3])", Holds::kElsewhere, "[a.txt:3]", "[a.txt:2]"},
      {R"("the second line is wet" [a.txt:2-9])", Holds::kOutOfRange, "[a.txt:2-9]", "[a.txt:2]"},
      {R"("the second line is wet" [a.txt@0-60])", Holds::kVerified, "[a.txt@0-60]", "[a.txt:2]"},
      {R"("the second line is wet" [a.txt@0-20])", Holds::kElsewhere, "[a.txt@0-20]", "[a.txt:2]"},
      {R"("Äpfel und birnen" [c.txt:2])", Holds::kVerified, "[c.txt:2]", "[b/c.txt:2]"},
      {R"("Äpfel und Birnen" [b/c.txt@22-60])", Holds::kOutOfRange, "[b/c.txt@22-60]",
       "[b/c.txt:2]"},
      {R"(Doc 0 says: "the first line is dry.")", Holds::kVerified, "Doc 0", "[a.txt:1]"},
      {R"(Doc **1** says: "the first line is dry.")", Holds::kElsewhere, "Doc **1**", "[a.txt:1]"},
      {R"(context[0]: `Third line here.`)", Holds::kVerified, "context[0]", "[a.txt:3]"},
      {R"(**0** has “the first line”)", Holds::kVerified, "**0**", "[a.txt:1]"},
      {R"(Doc 7: "the first line is dry")", Holds::kOutOfRange, "Doc 7", "[a.txt:1]"},
      {R"("the first line is dry" [z.txt:1])", Holds::kOutOfRange, "[z.txt:1]", "[a.txt:1]"},
      {R"("the first line was dry" [a.txt:1])", Holds::kNotFound, "[a.txt:1]", ""},
      {R"(He said "same sentence in both" there.)", Holds::kVerified, "", "[d.txt:1]"},
      {R"(Doc 3: "same sentence in both," and so on)", Holds::kVerified, "Doc 3", "[e.txt:1]"},
  };
  for (const Case& one : cases) {
    const auto found = Check(one.answer);
    ASSERT_EQ(found.size(), 1U) << one.answer;
    EXPECT_EQ(found[0].status, one.status) << one.answer;
    EXPECT_EQ(found[0].ref, one.ref) << one.answer;
    EXPECT_EQ(found[0].found, one.found) << one.answer;
  }
}

TEST_F(CitationsTest, WhatIsNoCitationIsNone) {  // REC-66
  for (const std::string_view answer :
       {"The total is **42**.", "At [12:30] it rained.", "`short` and \"too short\"",
        R"({"the second line is wet": "the first line is dry"})", R"(["the second line is wet"])",
        "```\nprint(\"the second line is wet\")\n```", "5\" by 10\" of paper\n\nand \"no end",
        "\"it began here\n\nand ended there\""}) {
    EXPECT_TRUE(Check(answer).empty()) << answer;
  }
}

TEST_F(CitationsTest, AQuoteGoesWithTheNextReferenceOfItsParagraph) {  // REC-66
  const auto found = Check(
      "First \"the first line is dry\" [a.txt:1], then \"the second line is wet\" [a.txt:1].\n\n"
      "Doc 1 has more. [a.txt:9]");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].status, Holds::kVerified);
  EXPECT_EQ(found[1].status, Holds::kElsewhere);
  EXPECT_EQ(found[2].status, Holds::kInRange);
  EXPECT_EQ(found[2].quote, "");
  EXPECT_EQ(found[3].status, Holds::kOutOfRange);
  EXPECT_EQ(ToJson(found[1].ToJson()),
            R"({"ref":"[a.txt:1]","quote":"the second line is wet","status":"elsewhere",)"
            R"("found":"[a.txt:2]"})");
}

}  // namespace
}  // namespace dossier::ask
