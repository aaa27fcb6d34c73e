#include "research/files/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "research/call/reply_forms.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::optional<std::string>>;

Words Read(std::string_view payload) {
  const std::string_view prefixes[] = {"HYPERPARAM NAME", "DESCRIPTION"};
  return ReadKeywords(payload, prefixes);
}

TEST(KeywordsTest, APrefixStandsAtALinesStartInAnyCase) {  // RSP-7
  EXPECT_THAT(Read("HYPERPARAM NAME: block\nDESCRIPTION: 8 to 64"),
              ElementsAre("block", "8 to 64"));
  EXPECT_THAT(Read("  hyperparam name : block"), ElementsAre("block", std::nullopt));
  EXPECT_THAT(Read("**Hyperparam Name:** block\n**Description**: x"), ElementsAre("block", "x"));
  EXPECT_THAT(Read("the HYPERPARAM NAME: block"), ElementsAre(std::nullopt, std::nullopt));
}

TEST(KeywordsTest, ADescriptionSpansLinesUpToTheNextPrefix) {  // RSP-7
  EXPECT_THAT(Read("DESCRIPTION: one\n\n  two\nHYPERPARAM NAME: n\nthree"),
              ElementsAre("n three", "one two"));
  EXPECT_THAT(Read("DESCRIPTION:\nbelow\nDESCRIPTION: again"), ElementsAre(std::nullopt, "below"));
  EXPECT_THAT(Read(""), ElementsAre(std::nullopt, std::nullopt));
}

TEST(JsonReplyTest, AnObjectStandsAloneOrInAFence) {  // RSP-9
  for (const std::string_view payload :
       {R"({"a": 1})", "```json\n{\"a\": 1}\n```", "Here it is:\n```\n{\"a\": 1}\n```\nDone."}) {
    const auto reply = ReadJsonReply(payload);
    ASSERT_TRUE(reply) << payload;
    EXPECT_EQ(ToJson(reply->value), R"({"a":1})");
    EXPECT_TRUE(reply->warnings.empty());
  }
  EXPECT_THAT(ReadJsonReply("{'a': 1}")->warnings, ElementsAre(HasSubstr("payload_repaired")));
  EXPECT_THAT(ReadJsonReply("{a: 1}"), FailsWith(ErrorCode::kInvalidArgument, "wrong at"));
  EXPECT_THAT(ReadJsonReply("[1]"), FailsWith(ErrorCode::kInvalidArgument, "no object"));
  EXPECT_THAT(ReadJsonReply("```\nnone\n```"),
              FailsWith(ErrorCode::kInvalidArgument, "holds no JSON object"));
  EXPECT_THAT(ReadJsonReply("I would rather talk."),
              FailsWith(ErrorCode::kInvalidArgument, "holds no JSON object"));
}

TEST(JsonReplyTest, ThoughtsStandBeforeTheLastFence) {
  const auto reply = ReadThoughtAndJson("It {seems} fine.\n```json\n{\"Overall\": 5}\n```");
  ASSERT_TRUE(reply);
  EXPECT_EQ(ToJson(reply->value), R"({"Overall":5})");
}

TEST(PythonReplyTest, ThereIsOneScriptBehindAPlan) {
  const auto script = ReadPython("Read all.\n\n```python\nprint(1)\n```\n");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->plan, "Read all.");
  EXPECT_EQ(script->script, "print(1)\n");
  EXPECT_EQ(ReadPython("Plan\n```\nx = 1\n```")->script, "x = 1\n");
  EXPECT_EQ(ReadPython("Run:\n```sh\nls\n```\n```py\nx = 1\n```")->script, "x = 1\n");
  EXPECT_THAT(ReadPython("no code"), FailsWith(ErrorCode::kInvalidArgument, "holds no fences"));
  EXPECT_THAT(ReadPython("```python\na\n```\n```python\nb\n```"),
              FailsWith(ErrorCode::kInvalidArgument, "holds 2 fences of python"));
  EXPECT_THAT(ReadPython("```python\n\n```"), FailsWith(ErrorCode::kInvalidArgument, "is empty"));
}

TEST(LatexReplyTest, ThereIsOneWholeDocument) {
  EXPECT_EQ(*ReadLatex("```latex\n\\begin{document}\n\\end{document}\n```"),
            "\\begin{document}\n\\end{document}\n");
  EXPECT_THAT(ReadLatex("```latex\n\\section{A}\n```"),
              FailsWith(ErrorCode::kInvalidArgument, "holds no \\begin{document}"));
}

TEST(DoneTest, IAmDoneIsSaidWithoutAFence) {
  EXPECT_TRUE(SaysDone("I am done"));
  EXPECT_TRUE(SaysDone("`I am done.`"));
  EXPECT_FALSE(SaysDone("I am not done"));
  EXPECT_FALSE(SaysDone("I am done soon:\n```python\nx\n```"));
}

TEST(ReplyFormsTest, EachFormTakesAGoodReplyAndRefusesABadOne) {  // RSP-T2
  struct Case {
    std::string_view site, good, bad;
    std::string message;
  };
  const Case cases[] = {
      {"phase0_plan", R"({"plan": {}})", "a plan", "holds no JSON object"},
      {"phase1_step", R"({"done": true})", R"({"notes": "x"})", "the JSON has not the fields"},
      {"tuning_idea", "HYPERPARAM NAME: a\nDESCRIPTION: b", "DESCRIPTION: b",
       "no line begins with \"HYPERPARAM NAME:\""},
      {"ablation_idea", "ABLATION NAME: a\nABLATION DESCRIPTION: b",
       "ABLATION NAME:\nABLATION DESCRIPTION: b", "nothing stands behind \"ABLATION NAME:\""},
      {"seed_injection", R"({"files": [{"path": "a", "content": ""}]})", R"({"files": []})",
       "/files"},
      {"execution_review", R"({"is_bug": true, "summary": "s"})", R"({"is_bug": true})", "summary"},
      {"parse_metrics", "Read.\n```python\nx\n```", "```python\nx\n```",
       "there is no plan before the script"},
      {"metrics_extraction",
       R"({"valid_metrics_received": true, "metric_names": [{"metric_name": "t",)"
       R"("lower_is_better": true, "data": [{"dataset_name": "d", "value": 1}]}]})",
       R"({"valid_metrics_received": true, "metric_names": [{"metric_name": "t"}]})",
       "/metric_names/0"},
      {"plot_selection", R"({"selected_plots": ["a.png"]})", R"({"selected_plots": "a.png"})",
       "/selected_plots"},
      {"vlm_analysis",
       R"({"plot_analyses": [], "valid_plots_received": true, "vlm_feedback_summary": ""})",
       R"({"plot_analyses": []})", "valid_plots_received"},
      {"datasets_tested", "REASONING: r\nSUCCESSFULLY_TESTED_DATASETS:", "REASONING: r",
       "SUCCESSFULLY_TESTED_DATASETS"},
      {"node_summary", R"({"findings": "f", "significance": "s"})", R"({"findings": "f"})",
       "significance"},
      {"best_node", R"({"selected_id": "a"})", R"({"reasoning": "r"})", "selected_id"},
      {"stage_completion", R"({"is_complete": false})", R"({"is_complete": "no"})", "/is_complete"},
      {"substage_goal", R"({"name": "n", "goals": ["g"]})", R"({"name": "n"})", "goals"},
      {"stage_progression", R"({"ready_for_next_stage": true})", "{}", "ready_for_next_stage"},
      {"plot_aggregation", "I am done", "done?", "holds no fences of python"},
      {"citations", R"({"Query": ""})", "{}", "Query"},
      {"writeup", "```latex\n\\begin{document}\n```", "I am done", "holds no fences of latex"},
      {"writeup_reflection", "I am done", "fine", "holds no fences of latex"},
      {"review", "Hm.\n```json\n{\"Overall\": 5}\n```", "Accept it.", "holds no JSON object"},
      {"figure_review",
       R"({"Img_description": "", "Img_review": "", "Caption_review": "", "Figrefs_review": ""})",
       R"({"Img_review": ""})", "Caption_review"},
  };
  const auto schemas = ReplySchemas::Load();
  ASSERT_TRUE(schemas) << schemas.error().message;
  for (const Case& c : cases) {
    const CallSite* site = FindCallSite(c.site);
    ASSERT_NE(site, nullptr) << c.site;
    EXPECT_THAT(schemas->Read(*site, c.good), ::dossier::testing::Succeeds()) << c.site;
    EXPECT_THAT(schemas->Read(*site, c.bad), FailsWith(ErrorCode::kInvalidArgument, c.message))
        << c.site;
  }
}

TEST(ReplyFormsTest, EverySchemaThatASiteNamesIsThere) {
  const auto schemas = ReplySchemas::Load();
  ASSERT_TRUE(schemas);
  for (const CallSite& site : CallSites()) {
    EXPECT_EQ(schemas->Of(site) != nullptr, !site.schema.empty()) << site.name;
    EXPECT_EQ(site.tool.empty(), site.reply != PayloadForm::kTool) << site.name;
    EXPECT_EQ(site.keywords.empty(), site.reply != PayloadForm::kKeywords) << site.name;
  }
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;

TEST(RelaxedJsonTest, PythonsLiteralsAreTakenAndToldOf) {  // RSP-9, RSP-T5
  struct Case {
    std::string_view text, json;
  };
  const Case cases[] = {
      {"{'a': True, 'b': False, 'c': None}", R"({"a":true,"b":false,"c":null})"},
      {"{'a': [1, 2,],}", R"({"a":[1,2]})"},
      {"{\"a\": 1, # why\n \"b\": 2}", R"({"a":1,"b":2})"},
      {"{\"a\": 1, // why\n /* and */ \"b\": 2}", R"({"a":1,"b":2})"},
      {"('x', 'y')", R"(["x","y"])"},
      {R"({'a': 'it\'s', 'b': "say \"so\""})", R"({"a":"it's","b":"say \"so\""})"},
      {"{'code': '''int main() {\n  return 0;\n}\n'''}",
       R"({"code":"int main() {\n  return 0;\n}\n"})"},
      {"{\"a\": \"two\nlines\"}", R"({"a":"two\nlines"})"},
      {R"({'a': '\u00e4\x41\U0001F600\ud83d\ude00\q'})", R"({"a":"äA😀😀\\q"})"},
      {"{'a': -1.5e3, 'b': 12}", R"({"a":-1500,"b":12})"},
      {"{'a': 'one \\\nline'}", R"({"a":"one line"})"},
  };
  for (const Case& c : cases) {
    const auto read = ParseRelaxedJson(c.text);
    ASSERT_TRUE(read) << c.text << ": " << read.error().message;
    EXPECT_EQ(ToJson(read->value), ToJson(*ParseJson(c.json))) << c.text;
    EXPECT_EQ(read->repaired, RelaxedJson::Repaired::kYes) << c.text;
  }
}

TEST(RelaxedJsonTest, JsonIsNotRepaired) {
  const auto read = ParseRelaxedJson(R"( {"a": ["\n", 1.5, null]} )");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->repaired, RelaxedJson::Repaired::kNo);
}

TEST(RelaxedJsonTest, AFaultIsNamedWithItsPlace) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "line 1, column 1: expected a value"},
      {"{'a': 1", "expected ',' or '}'"},
      {"{'a' 1}", "line 1, column 6: expected ':'"},
      {"{a: 1}", "expected a name in quotes"},
      {"{'a':\n nonsense}", "line 2, column 2: expected a value; text stands in quotes"},
      {"{'a': 'open", "expected the closing '"},
      {"{'a': 1} x", "expected the end of the text"},
      {"{'a': '\\u12'}", "expected 4 hex digits"},
      {"{'a': 1e999}", "expected a value"},
      {"[/* open", "expected a comment that ends"},
      {std::string(100, '['), "expected at most 64 levels"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(ParseRelaxedJson(c.text), FailsWith(ErrorCode::kInvalidArgument, c.message));
  }
}

TEST(RelaxedJsonTest, WhateverComesEndsAndWhatIsReadIsJson) {
  constexpr std::string_view kPieces[] = {"{", "}", "[", "]", "'", "\"", "\\", ":",  ",",
                                          "#", "/", "*", "a", "1", "\n", "u",  "''", "True"};
  Random random(/*seed=*/3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i) {
      text += kPieces[random.Below(std::size(kPieces))];
    }
    const auto read = ParseRelaxedJson(text);
    if (read) {
      EXPECT_TRUE(ParseJson(ToJson(read->value), 200)) << text;
    }
  }
}

}  // namespace
}  // namespace dossier::research
