#include "model/schema/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dossier::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Json Parsed(std::string_view text) {
  Result<Json> value = ParseJson(text, 2000);
  EXPECT_TRUE(value) << text;
  return value ? *std::move(value) : Json();
}

JsonSchema Compiled(std::string_view text) {
  Result<JsonSchema> schema = JsonSchema::Compile(Parsed(text));
  EXPECT_TRUE(schema) << text << ": " << (schema ? "" : schema.error().message);
  return schema ? *std::move(schema) : *JsonSchema::Compile(Json(true));
}

struct Case {
  std::string_view schema;
  std::vector<std::string_view> valid, invalid;
};

// The official suite's own traps are among these; tests/schema compares with another validator.
const Case kCases[] = {
    {"true", {"1", "null"}, {}},
    {"false", {}, {"1"}},
    {R"({"type":"integer"})", {"1", "1.0", "18446744073709551615"}, {"1.5", "\"1\"", "true"}},
    {R"({"type":["null","string"]})", {"null", "\"\""}, {"0", "false"}},
    {R"({"enum":[1,{"a":1,"b":2}]})", {"1.0", R"({"b":2,"a":1.0})"}, {"true", "\"1\""}},
    {R"({"const":false})", {"false"}, {"0", "null", "[]"}},
    {R"({"multipleOf":0.0001})", {"0.0075", "0"}, {"0.00751"}},
    {R"({"multipleOf":3})",
     {"9", "-3", "\"x\"", "9223372036854775809"},
     {"10", "9223372036854775808"}},
    {R"({"minimum":9007199254740993})", {"9007199254740993"}, {"9007199254740992"}},
    {R"({"exclusiveMinimum":1,"exclusiveMaximum":2})", {"1.5"}, {"1", "2"}},
    {R"({"minLength":2,"maxLength":2})", {"\"éé\"", "7"}, {"\"é\"", "\"abc\""}},
    {R"({"pattern":"^a+$"})", {"\"aa\"", "5"}, {"\"aa\\n\"", "\"ba\""}},
    {R"({"prefixItems":[{"type":"null"}],"items":{"type":"string"}})",
     {"[]", "[null]", R"([null,"a","b"])"},
     {R"(["a"])", "[null,1]"}},
    {R"({"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}],
        "additionalItems":false})",
     {"[null]", "[]"},
     {"[null,1]", "[1]"}},
    {R"({"contains":{"const":1},"maxContains":2})", {"[1]", "[1,1,2]"}, {"[]", "[1,1,1]"}},
    {R"({"contains":{"const":1},"minContains":0})", {"[]", "[2]"}, {}},
    {R"({"uniqueItems":true})",
     {"[1,true,\"1\"]", "{}"},
     {"[1,1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"}},
    {R"({"required":["a"],"properties":{"a":{"type":"string"}},"additionalProperties":false})",
     {R"({"a":"x"})", "[]"},
     {"{}", R"({"a":1})", R"({"a":"x","b":1})"}},
    {R"({"patternProperties":{"^n_":{"type":"number"}},"additionalProperties":{"type":"null"}})",
     {R"({"n_a":1,"b":null})"},
     {R"({"n_a":null})", R"({"b":1})"}},
    {R"({"propertyNames":{"maxLength":1}})", {R"({"a":1})"}, {R"({"ab":1})"}},
    {R"({"dependentRequired":{"a":["b"]}})", {R"({"a":1,"b":1})", R"({"b":1})"}, {R"({"a":1})"}},
    {R"({"allOf":[{"minimum":1},{"maximum":2}]})", {"1"}, {"0", "3"}},
    {R"({"anyOf":[{"type":"string"},{"minimum":1}]})", {"1", "\"\""}, {"0"}},
    {R"({"oneOf":[{"multipleOf":2},{"multipleOf":3}]})", {"2", "3"}, {"6", "5"}},
    {R"({"not":{"type":"null"}})", {"1"}, {"null"}},
    {R"({"if":{"type":"number"},"then":{"minimum":1},"else":{"type":"string"}})",
     {"1", "\"\""},
     {"0", "null"}},
    {R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"null"}},"title":"x"})", {"null"}, {"1"}},
    {R"({"$ref":"#n","$defs":{"x":{"$anchor":"n","type":"null"}}})", {"null"}, {"1"}},
    {R"({"$id":"https://x.org/a.json","$ref":"b.json#/$defs/c",
        "$defs":{"x":{"$id":"b.json","$defs":{"c":{"type":"null"}}}}})",
     {"null"},
     {"1"}},
    {R"({"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a",
        "maximum":0,"definitions":{"a":{"type":"integer"}}})",
     {"5"},
     {"\"\""}},
    {R"({"properties":{"next":{"$ref":"#"}},"required":["v"]})",
     {R"({"v":1,"next":{"v":2}})"},
     {R"({"v":1,"next":{}})"}},
    {R"({"$ref":"#/x/y","x":{"y":{"$ref":"#/x/z"},"z":{"type":"null"}}})", {"null"}, {"1"}},
};

TEST(JsonSchemaTest, EachKeywordJudgesAsTheSpecificationSays) {  // CON-39
  for (const Case& test : kCases) {
    const JsonSchema schema = Compiled(test.schema);
    for (std::string_view value : test.valid) {
      EXPECT_THAT(schema.Check(Parsed(value)), IsEmpty()) << test.schema << " for " << value;
    }
    for (std::string_view value : test.invalid) {
      EXPECT_FALSE(schema.Check(Parsed(value)).empty()) << test.schema << " for " << value;
    }
  }
}

TEST(JsonSchemaTest, AViolationNamesThePlaceAndTheReason) {  // CON-41
  const JsonSchema schema = Compiled(R"({"properties":{"a/b":{"items":{"minimum":0}}},
                                        "required":["c"]})");
  const auto found = schema.Check(Parsed(R"({"a/b":[1,-2]})"));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].pointer, "/a~1b/1");
  EXPECT_EQ(found[0].reason, "is -2, less than 0");
  EXPECT_EQ(found[1].pointer, "");
  EXPECT_EQ(found[1].reason, "lacks the member \"c\"");
}

TEST(JsonSchemaTest, AtMostTwentyViolationsAreGiven) {  // CON-41
  const JsonSchema schema = Compiled(R"({"items":{"type":"null"}})");
  EXPECT_THAT(schema.Check(Json(JsonArray(50, Json(1)))), SizeIs(20));
}

TEST(JsonSchemaTest, ABadSchemaIsNamedByItsPlace) {  // CON-39
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"5", "at its root: has to be a map, true or false"},
      {R"({"type":"text"})", "at /type: has to be null, boolean"},
      {R"({"properties":{"a":{"minimum":"1"}}})", "at /properties/a/minimum: has to be a number"},
      {R"({"multipleOf":0})", "at /multipleOf: has to be a number above 0"},
      {R"({"pattern":"("})", "at /pattern: no regular expression"},
      {R"({"patternProperties":{"(":{}}})", "at /patternProperties/(: no regular expression"},
      {R"({"allOf":[]})", "at /allOf: has to be a list of at least one schema"},
      {R"({"items":[{}]})", "at /items: has to be a schema"},
      {R"({"$ref":"other.json"})", "`other.json` leads out of the document"},
      {R"({"$ref":"https://x.org/s#/a"})", "leads out of the document"},
      {R"({"$ref":"#/$defs/none"})", "there is no `#/$defs/none` in it"},
      {R"({"$ref":"#/x","x":3})", "has to be a map, true or false"},
  };
  for (const auto& [text, words] : cases) {
    const Result<JsonSchema> schema = JsonSchema::Compile(Parsed(text));
    ASSERT_FALSE(schema) << text;
    EXPECT_EQ(schema.error().code, ErrorCode::kConfig);
    EXPECT_THAT(schema.error().message, HasSubstr(words)) << text;
  }
}

TEST(JsonSchemaTest, WhatIsNotAppliedIsSaid) {  // CON-39
  const JsonSchema schema = Compiled(R"({"unevaluatedProperties":false,"format":"date"})");
  EXPECT_THAT(schema.warnings(), ElementsAre(HasSubstr("`unevaluatedProperties` is not applied")));
  EXPECT_THAT(schema.Check(Parsed(R"({"a":1})")), IsEmpty());
  EXPECT_THAT(Compiled(R"({"title":"t","x-own":1,"properties":{"a":{"requird":[]}}})").warnings(),
              ElementsAre(HasSubstr("at /properties/a/requird: this is no keyword")));
  EXPECT_THAT(Compiled(R"({"$schema":"http://json-schema.org/draft-04/schema#"})").warnings(),
              ElementsAre(HasSubstr("is read as draft 7")));
}

TEST(JsonSchemaTest, HostileSchemasAndValuesCostLittle) {
  const JsonSchema endless = Compiled(R"({"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}})");
  EXPECT_THAT(endless.Check(Json(1)),
              ElementsAre(::testing::Field(&SchemaViolation::reason, HasSubstr("without end"))));
  const JsonSchema doubling = Compiled(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})");
  EXPECT_FALSE(doubling.Check(Json(1)).empty());
  const JsonSchema slow = Compiled(R"({"pattern":"^(a+)+$"})");
  EXPECT_THAT(slow.Check(Json(std::string(40, 'a') + "b")), SizeIs(1));
}

}  // namespace
}  // namespace dossier::model
