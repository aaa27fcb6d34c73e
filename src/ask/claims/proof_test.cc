#include "ask/claims/proof.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

class ProofTest : public ::testing::Test {
 protected:
  ProofTest() {
    auto folder = TempFolder::Make();
    EXPECT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    auto content = store::ContentStore::Open(folder_->path() + "/content");
    EXPECT_TRUE(content);
    content_ = std::move(*content);
  }

  void Load(const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      const std::string path = folder_->path() + "/in/" + name;
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      EXPECT_TRUE(WriteFileAtomic(path, text));
    }
    auto context =
        LoadContext({{.path = folder_->path() + "/in"}}, {.content = content_.get()}, {});
    EXPECT_TRUE(context) << context.error().message;
    context_ = *context;
  }

  std::vector<Proof> Find(std::string_view answer, std::vector<std::string> printed = {}) {
    return FindEvidence({.answer = answer,
                         .question = "Which of the 3 is it?",
                         .context = context_.get(),
                         .printed = printed},
                        {});
  }
  std::string Wrong(std::string_view answer, Demand demand = Demand::kAll,
                    std::vector<std::string> printed = {}) {
    return ComplaintOf(Find(answer, std::move(printed)), demand);
  }

  std::optional<TempFolder> folder_;
  std::unique_ptr<store::ContentStore> content_;
  std::shared_ptr<const ContextSet> context_;
};

// Returns a file of distinct lines, and some equal ones.
std::vector<std::string> Lines(std::size_t count) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string indent(i % 4 * 2, ' ');
    if (i % 10 == 9) {
      lines.push_back(indent + "Nothing happened on this day.");
    } else {
      lines.push_back(fmt::format("{}On day {} the Ship {} carried {}  tons to Port{}.", indent, i,
                                  i * 7 % 101, 1000 + i * 3, i % 13));
    }
  }
  return lines;
}

// REC-A32: 500 quotes of one to three lines, half of them correct and half not: changed by one
// character, in another case, cut inside a word or a number, cited with other lines or with lines
// that contain them twice, or indented differently. No wrong one is accepted, no right one is
// refused.
TEST_F(ProofTest, OfFiveHundredQuotesNoFalseOneIsAccepted) {
  const std::vector<std::string> lines = Lines(2000);
  Load({{"log.txt", Join(lines, "\n") + "\n"}});
  std::mt19937 random(7);
  const auto draw = [&](std::size_t below) { return random() % below; };
  int right = 0, wrong = 0;
  for (int n = 0; n < 500; ++n) {
    std::size_t first = draw(1900);
    while (first % 10 > 5) ++first;  // skip lines that occur often
    const std::size_t count = 1 + draw(3);
    std::vector<std::string> said(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                  lines.begin() + static_cast<std::ptrdiff_t>(first + count));
    std::size_t from = first + 1, to = first + count;  // as an answer counts lines
    bool holds = n % 2 == 0;
    if (holds) {  // white space inside and before the lines may vary
      for (std::string& line : said) line = "   " + ReplaceAll(line, " the ", "  the ");
    } else {
      switch (draw(6)) {
        case 0:  // forged
          said[0][said[0].find("carried ") + 8] ^= 1;
          break;
        case 1:  // another case
          said[0] = ReplaceAll(said[0], "Ship", "ship");
          break;
        case 2:  // cut inside a number, at its end or its start
          said = {draw(2) == 0 ? said[0].substr(0, said[0].find("tons") - 3)
                               : said[0].substr(said[0].find("carried ") + 9)};
          to = from;
          break;
        case 3:  // moved
          from += 5 + draw(20);
          to += 25;
          break;
        case 4:  // twice in the cited lines
          said = {"Nothing happened on this day."};
          to = from + 20;
          break;
        default:  // different indentation
          said = {lines[first], lines[first + 1]};
          said[0] =
              std::string(said[1].find_first_not_of(' '), ' ') + std::string(TrimSpace(said[0]));
          to = first + 2;
      }
    }
    const std::string answer =
        fmt::format("```\n{}\n```\n[log.txt:{}-{}]", Join(said, "\n"), from, to);
    const std::vector<Proof> proofs = Find(answer);
    ASSERT_EQ(proofs.size(), 1) << answer;
    EXPECT_EQ(proofs[0].problem.empty(), holds) << answer << "\n" << proofs[0].problem;
    ++(holds ? right : wrong);
  }
  EXPECT_EQ(right, 250);
  EXPECT_EQ(wrong, 250);
}

TEST_F(ProofTest, AQuoteHoldsOnlyWhereItIsSaidToStandAndOnce) {  // REC-77
  Load({{"a.txt", "one two  three\nfour five six\nfour five six\nseven: -8.5 eight\n"}});
  const std::pair<std::string_view, bool> kCases[] = {
      {R"("one two three" [a.txt:1])", true},
      {R"("One two three" [a.txt:1])", false},    // case is never folded
      {R"("one two three" [a.txt:2])", false},    // elsewhere
      {R"("four five six" [a.txt:2])", true},     // once in its line
      {R"("four five six" [a.txt:2-3])", false},  // twice in its lines
      {R"("two three four" [a.txt:1-2])", true},  // across a line end
      {R"("wo three" [a.txt:1])", false},         // not a whole word
      {R"("seven: -8" [a.txt:4])", false},        // not a whole number
      {R"("8.5 eight" [a.txt:4])", false},        // its sign is missing
      {R"("-8.5 eight" [a.txt:4])", true},
      {R"("one two three" [a.txt:9])", false},  // no such line
      {R"("one two three")", true},             // found without a citation
      {R"("none of it")", false},
  };
  for (const auto& [answer, holds] : kCases) {
    EXPECT_EQ(Wrong(answer, Demand::kHeld).empty(), holds) << answer;
  }
  const auto proofs = Find(R"(It says "one two three" [a.txt:1].)");
  ASSERT_EQ(proofs.size(), 1);
  EXPECT_EQ(ToJson(proofs[0].ToJson()),
            R"({"kind":"quote","claim":"one two three","status":"cited","ref":"[a.txt:1]",)"
            R"("document":"a.txt","bytes":[0,14]})");
  Load({{"b.txt", "It is so. Or not\n"}});
  EXPECT_EQ(Find(R"("It is so." [b.txt:1])")[0].to, 9) << "the full stop is part of the quote";
  EXPECT_EQ(Find(R"("Or not." [b.txt:1])")[0].to, 16) << "and here of the sentence around";
}

TEST_F(ProofTest, EachNumberNeedsEvidence) {  // REC-77
  Load({{"a.txt", "There were 1,204 ships.\nNothing here.\nRate: 0.4567\n"}});
  EXPECT_EQ(Wrong("1204 ships came [a.txt:1]."), "");
  EXPECT_THAT(Wrong("1204 ships came [a.txt:2]."), ::testing::HasSubstr("1204: it stands in no"));
  EXPECT_THAT(Wrong("1204 ships came."), ::testing::HasSubstr("1204"));
  EXPECT_EQ(Wrong("1204 ships came.", Demand::kHeld), "");
  EXPECT_EQ(Wrong("1204 ships came.", Demand::kAll, {"found: 1204"}), "") << "code has shown it";
  EXPECT_EQ(Wrong("The rate is 0.46 [a.txt:3]."), "") << "a rounding";
  EXPECT_NE(Wrong("The rate is 0.47 [a.txt:3]."), "");
  EXPECT_EQ(Wrong("1. The 3 of the question.\n2. No more."), "") << "a list, and what was asked";
  EXPECT_NE(Wrong("1204 ships came.\n\nSee [a.txt:1]."), "") << "cited in another paragraph";
  EXPECT_NE(Wrong(R"({"ships": 1205})", Demand::kAll, {"1204"}), "") << "data makes claims, too";
  EXPECT_EQ(Wrong(R"({"ships": 1204})", Demand::kAll, {"1204"}), "");
}

TEST_F(ProofTest, AFenceIsAQuoteWhereAReferenceGoesWithIt) {  // REC-77
  Load({{"f.py", "def f(x):\n    if x:\n        return 1\n    return 2\n"}});
  const std::string_view whole = "```python\nif x:\n    return 1\nreturn 2\n```\n";
  EXPECT_EQ(Wrong(fmt::format("{}[f.py:2-4]", whole), Demand::kHeld), "");
  EXPECT_EQ(Wrong(fmt::format("[f.py:2-4]\n{}", whole), Demand::kHeld), "");
  EXPECT_EQ(Wrong(fmt::format("As in [f.py:2-4]:\n\n{}", whole), Demand::kHeld), "");
  EXPECT_NE(Wrong(fmt::format("{}[f.py:1-2]", whole), Demand::kHeld), "");
  EXPECT_THAT(Wrong("```python\nif x:\n    return 1\n    return 2\n```\n[f.py:2-4]", Demand::kHeld),
              ::testing::HasSubstr("not indented"));
  EXPECT_EQ(Wrong("Write this:\n```python\nprint(x)\n```", Demand::kHeld), "") << "no quote";
}

}  // namespace
}  // namespace dossier::ask
