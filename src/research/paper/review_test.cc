#include "research/paper/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/research_rig_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

JsonObject GoodReview() {
  const auto json = ParseJson(R"({"Decision":"reject","Summary":"S","Strengths":["a"],
      "Weaknesses":"one","Originality":2,"Quality":"3: good","Clarity":4,"Significance":1,
      "Questions":[],"Limitations":[],"Ethical Concerns":false,"Soundness":2,"Presentation":3,
      "Contribution":2,"Overall":10,"Confidence":5,"More":1})");
  return json->as_object();
}

TEST(ReadReviewTest, FieldsComeInTheirOrderAndTypes) {  // RSP-44, RSP-T16
  const auto review = ReadReview(GoodReview());
  ASSERT_THAT(review, Succeeds());
  EXPECT_EQ(ToJson(*review),
            R"({"Summary":"S","Strengths":["a"],"Weaknesses":["one"],"Originality":2,"Quality":3,)"
            R"("Clarity":4,"Significance":1,"Questions":[],"Limitations":[],)"
            R"("Ethical Concerns":false,"Soundness":2,"Presentation":3,"Contribution":2,)"
            R"("Overall":10,"Confidence":5,"Decision":"Reject"})");
}

TEST(ReadReviewTest, EverythingOutOfRangeIsToldAtOnce) {  // RSP-44, RSP-T16
  struct Case {
    std::string_view field, value, fault;
  };
  constexpr Case kCases[] = {
      {"Originality", "0", "Originality must be a whole number from 1 to 4"},
      {"Quality", "5", "Quality must be a whole number from 1 to 4"},
      {"Overall", "11", "Overall must be a whole number from 1 to 10"},
      {"Overall", "2.5", "Overall must be"},
      {"Overall", "\"high\"", "Overall must be"},
      {"Confidence", "6", "Confidence must be a whole number from 1 to 5"},
      {"Decision", "\"Maybe\"", "Decision must be Accept or Reject"},
      {"Ethical Concerns", "\"no\"", "Ethical Concerns must be true or false"},
      {"Summary", "[]", "Summary must be a text"},
      {"Strengths", "7", "Strengths must be a list"},
  };
  for (const Case& c : kCases) {
    JsonObject review = GoodReview();
    review[c.field] = *ParseJson(c.value);
    review.erase("Soundness");
    EXPECT_THAT(ReadReview(review), FailsWith(ErrorCode::kInvalidArgument, std::string(c.fault)));
    EXPECT_THAT(ReadReview(review), FailsWith(ErrorCode::kInvalidArgument, "Soundness is missing"));
  }
}

TEST(MeanScoresTest, AreRoundedAndTakeOnlyThoseInRange) {  // RSP-44, RSP-T16
  std::vector<Json> reviews;
  for (const int overall : {3, 4, 99}) {
    JsonObject review = GoodReview();
    review["Overall"] = overall;
    review["Quality"] = overall == 99 ? 1 : 4;
    reviews.emplace_back(std::move(review));
  }
  const JsonObject mean = WithMeanScores(GoodReview(), reviews);
  EXPECT_EQ(FindInt(mean, "Overall"), 4);  // 3.5 up
  EXPECT_EQ(FindInt(mean, "Quality"), 3);  // 4, 4, 1
  EXPECT_EQ(FindString(mean, "Decision"), "reject");
}

constexpr std::string_view kReviewedPaper = R"(\documentclass{article}\begin{document}
\begin{abstract}Short.\end{abstract}
See \ref{f}.

\begin{figure}\includegraphics{a.png}\caption{A}\label{f}\end{figure}
\begin{figure}\includegraphics{a.png}\includegraphics{b.png}\caption{B}\end{figure}
\end{document})";

class ReviewTest : public ::testing::Test {
 protected:
  ReviewTest() {
    rig_.Write("paper/paper.tex", kReviewedPaper);
    rig_.Write("figures/a.png", TinyPng(4));
    rig_.Write("figures/b.png", TinyPng(5));
    rig_.Write("figures/c.png", TinyPng(5));
    rig_.script->On("command -v *");  // no LaTeX
  }
  Reviewed Make() {
    auto reviewed = ReviewPaper(rig_.services, rig_.results, {});
    EXPECT_THAT(reviewed, Succeeds());
    return reviewed ? *reviewed : Reviewed();
  }
  static std::string FigureReply(std::string_view review) {
    return fmt::format(R"({{"Img_description":"d","Img_review":"{}","Caption_review":"c",)"
                       R"("Figrefs_review":"f"}})",
                       review);
  }
  ResearchRig rig_;
};

TEST_F(ReviewTest, ABadReviewIsRefusedWithWhatIsWrongAndAGoodOneKept) {  // RSP-44
  JsonObject bad = GoodReview();
  bad["Overall"] = 0;
  rig_.caller.Reply("review", ToJson(bad));
  rig_.caller.Reply("review", ToJson(GoodReview()));
  const Reviewed done = Make();
  ASSERT_TRUE(done.review);
  EXPECT_THAT(rig_.caller.refusals, ElementsAre(HasSubstr("Overall must be")));
  EXPECT_EQ(FindInt(rig_.ReadJson("paper/review.json"), "Overall"), 10);
}

TEST_F(ReviewTest, AnEnsembleEndsInAMetaReviewWithMeanScores) {  // RSP-44, RSP-T16
  rig_.config.review_ensemble = 2;
  rig_.config.review_bias = "strict";
  for (const int overall : {2, 4}) {
    JsonObject review = GoodReview();
    review["Overall"] = overall;
    rig_.caller.Reply(fmt::format("review_{}", overall / 2), ToJson(review));
  }
  JsonObject meta = GoodReview();
  meta["Summary"] = "Both agree.";
  rig_.caller.Reply("meta_review", ToJson(meta));
  const Reviewed done = Make();
  ASSERT_TRUE(done.review);
  EXPECT_EQ(FindString(*done.review, "Summary"), "Both agree.");
  EXPECT_EQ(FindInt(*done.review, "Overall"), 3);
  EXPECT_THAT(rig_.caller.requests[0].variables.at("bias"), HasSubstr("lower score"));
  const OwnSection* examples = rig_.caller.Section("review", "examples");
  ASSERT_NE(examples, nullptr);
  EXPECT_EQ(examples->value.as_array().size(), 1U);
}

TEST_F(ReviewTest, TheExamplesAreReviewsThemselves) {  // RSP-44
  rig_.caller.Reply("review", ToJson(GoodReview()));
  Make();
  const OwnSection* examples = rig_.caller.Section("review", "examples");
  ASSERT_NE(examples, nullptr);
  for (const Json& example : examples->value.as_array()) {
    EXPECT_THAT(ReadReview(*Find(example, "review")), Succeeds());
  }
}

TEST_F(ReviewTest, AFigureMayBeRemovedAndDuplicatesAreListed) {  // RSP-44, RSP-T16
  rig_.caller.Reply("figure_review_1", FigureReply("REMOVE_IMAGE: says nothing"));
  rig_.caller.Reply("figure_review_2", FigureReply("again"));
  rig_.caller.Reply("figure_review_3", FigureReply("clear"));
  const Reviewed done = Make();
  EXPECT_THAT(done.removed, ElementsAre("a.png"));
  const std::string tex = rig_.Read("paper/paper.tex");
  EXPECT_THAT(tex, Not(HasSubstr("a.png")));
  EXPECT_THAT(tex, HasSubstr("b.png"));
  const Json all = rig_.ReadJson("paper/figure_review.json");
  EXPECT_EQ(ToJson(*Find(all, "removed")), R"(["a.png"])");
  EXPECT_THAT(ToJson(*Find(all, "duplicates")), HasSubstr(R"(["b.png","c.png"])"));
  EXPECT_THAT(ToJson(*Find(all, "duplicates")), HasSubstr(R"(["a.png","a.png"])"));
  EXPECT_EQ(Find(all, "figures")->as_array().size(), 3U);
}

TEST_F(ReviewTest, AFigureStaysIfThePaperDoesNotCompileWithoutIt) {  // RSP-44
  ResearchRig rig;
  rig.Write("paper/paper.tex", kReviewedPaper);
  rig.Write("figures/a.png", TinyPng());
  rig.script->On("command -v *").Says("latexmk\n");
  rig.script->On("latexmk *").Fails(12, "! Undefined control sequence.\n");
  rig.caller.Reply("figure_review_1", FigureReply("REMOVE_IMAGE: no"));
  const auto done = ReviewPaper(rig.services, rig.results, {});
  ASSERT_THAT(done, Succeeds());
  EXPECT_TRUE(done->removed.empty());
  EXPECT_EQ(rig.Read("paper/paper.tex"), kReviewedPaper);
  EXPECT_THAT(done->warnings, Contains(HasSubstr("does not compile without a.png")));
}

TEST_F(ReviewTest, WithoutAVisionModelFiguresAreNotReviewed) {  // RSP-44
  rig_.services.vision = Services::Vision::kNo;
  EXPECT_THAT(Make().warnings, Contains(HasSubstr("figure_review: skipped")));
  EXPECT_EQ(rig_.caller.Count("figure_review"), 0U);
  EXPECT_TRUE(rig_.Has("paper/figure_review.json"));
}

}  // namespace
}  // namespace dossier::research
