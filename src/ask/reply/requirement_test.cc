#include "ask/reply/requirement.h"

#include <gtest/gtest.h>

namespace dossier::ask {
namespace {

Requirement Sum() {
  auto schema = model::JsonSchema::Compile(*ParseJson(
      R"({"type":"object","required":["sum"],"properties":{"sum":{"type":"integer"}}})"));
  return RequireSchema(*schema);
}

std::string Complaint(const Requirement& requirement, FoundAnswer* answer) {
  auto complaint = requirement.complaint(answer, {});
  return complaint ? *complaint : "error: " + complaint.error().message;
}

TEST(RequirementTest, AValueOrATextThatFitsBecomesOneLineOfJson) {  // REC-64
  struct Case {
    FoundAnswer answer;
    std::string_view complaint;
  };
  const Case cases[] = {
      {{.text = "{'sum': 4}", .value = Json(JsonObject{{"sum", 4}})}, ""},
      {{.text = "{\"sum\": 4}"}, ""},
      {{.text = "```json\n{\"sum\": 4}\n```"}, ""},
      {{.text = "{\"sum\": 4}", .value = Json("{\"sum\": 4}")}, ""},
      {{.text = "4", .value = Json(4)}, "It does not fit the schema:\n- the value: is 4, which is"},
      {{.text = "It is 4."}, "It does not fit the schema:\n- the reply: is not JSON"},
      {{.text = "{\"sum\": 4.5}"}, "It does not fit the schema:\n- /sum: is 4.5"},
  };
  for (Case one : cases) {
    const std::string said = Complaint(Sum(), &one.answer);
    EXPECT_TRUE(said.starts_with(one.complaint)) << said;
    EXPECT_EQ(said.empty(), one.complaint.empty()) << said;
    if (said.empty()) {
      EXPECT_EQ(one.answer.text, R"({"sum":4})");
    }
  }
}

TEST(RequirementTest, WordsAreTheTextThatASchemaWants) {  // REC-64
  const auto schema = [](std::string_view json) {
    return RequireSchema(*model::JsonSchema::Compile(*ParseJson(json)));
  };
  FoundAnswer answer{.text = "x"};
  EXPECT_EQ(Complaint(schema(R"({"type":"string","enum":["x","y"]})"), &answer), "");
  EXPECT_EQ(answer.text, R"("x")");
  EXPECT_EQ(answer.value, Json("x"));
  FoundAnswer json{.text = R"("y")"}, other{.text = "z"}, any{.text = "words"};
  EXPECT_EQ(Complaint(schema(R"({"enum":["x","y"]})"), &json), "");
  EXPECT_EQ(json.text, R"("y")");
  EXPECT_NE(Complaint(schema(R"({"enum":["x","y"]})"), &other), "");
  EXPECT_NE(Complaint(schema("{}"), &any), "") << "prose is no JSON of any kind";
}

TEST(RequirementTest, AReplyThatIsNothingButTheDataAskedForIsSeen) {  // REC-64
  const std::vector<Requirement> one = {Sum()};
  EXPECT_TRUE(FitsSchema("```json\n{\"sum\": 4}\n```", one));
  EXPECT_TRUE(FitsSchema(" {\"sum\": 4}", one));
  EXPECT_FALSE(FitsSchema("It is:\n```json\n{\"sum\": 4}\n```", one));
  EXPECT_FALSE(FitsSchema("{\"sum\": 4.5}", one));
  EXPECT_FALSE(FitsSchema("{\"sum\": 4}", {}));
}

TEST(RequirementTest, AProgramGetsTheAnswerAsJsonAndItsWordsComeBack) {  // REC-80
  const auto check = [](std::string line, FoundAnswer answer) {
    return Complaint(RequireCommand({.line = std::move(line),
                                     .environment = {"PATH=/bin:/usr/bin"},
                                     .timeout = Millis(300)}),
                     &answer);
  };
  EXPECT_EQ(check("test \"$(cat)\" = '\"a b\"'", {.text = "a b"}), "");
  EXPECT_EQ(check("test \"$(cat)\" = '[1,2]'", {.text = "x", .value = Json(JsonArray{1, 2})}), "");
  EXPECT_EQ(check("echo no; echo really >&2; exit 1", {.text = "a"}),
            "The program that checks it says:\nno\n\nreally");
  EXPECT_EQ(check("exit 3", {.text = "a"}),
            "The program that checks it ended with exit code 3 and said nothing.");
  EXPECT_EQ(check("no_such_checker", {.text = "a"}).find("error: --validate no_such_checker: "),
            0U);
  EXPECT_EQ(check("sleep 20", {.text = "a"}),
            "error: --validate sleep 20: it did not end within 300 ms");
  EXPECT_EQ(
      check("sleep 20", {.text = "a", .time_left = Millis(100)}),
      "error: --validate sleep 20: it did not end within 100 ms, when the run's time was over");
}

TEST(RequirementTest, OnlyTheValuesOfADataAnswerAreClaims) {  // REC-64
  const Requirement sum[] = {Sum()};
  EXPECT_EQ(ClaimsOf({.text = "{\"sum\": 4, \"of\": [\"a b\", true]}"}, sum), "4\na b\ntrue");
  EXPECT_EQ(ClaimsOf({.text = "x", .value = Json(JsonObject{{"sum", 4}})}, sum), "4");
  EXPECT_EQ(ClaimsOf({.text = "It is 4."}, sum), "It is 4.");
  EXPECT_EQ(ClaimsOf({.text = "{\"sum\": 4}"}, {}), "{\"sum\": 4}");
}

TEST(RequirementTest, TheFirstComplaintCounts) {  // REC-80
  const Requirement all[] = {Sum(), RequireCommand({.line = "exit 1", .environment = {}})};
  FoundAnswer wrong{.text = "x"}, right{.text = "{\"sum\":1}"};
  EXPECT_TRUE(FirstComplaint(all, &wrong, {})->starts_with("It does not fit the schema"));
  EXPECT_TRUE(FirstComplaint(all, &right, {})->starts_with("The program that checks it"));
  EXPECT_EQ(*FirstComplaint({}, &wrong, {}), "");
  EXPECT_EQ(RequirementsText(all).find("- It is one JSON value"), 0U);
  EXPECT_NE(SchemaOf(all), nullptr);
  EXPECT_EQ(SchemaOf(std::span(all).subspan(1)), nullptr);
}

}  // namespace
}  // namespace dossier::ask
