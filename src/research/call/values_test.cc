#include "research/call/values.h"

#include <gtest/gtest.h>

namespace dossier::research {
namespace {

TEST(ValuesTest, AValueBecomesMarkdownByItsKind) {  // RSP-3, RSP-T3
  struct Case {
    Json value;
    std::string_view text;
  };
  const Case cases[] = {
      {"  two words \n", "two words\n"},
      {7, "7\n"},
      {true, "true\n"},
      {JsonArray{"a", "b"}, "- a\n- b\n"},
      {JsonObject{{"Goal", "fast"}, {"More", JsonObject{{"n", 1}}}},
       "# Goal\n\nfast\n\n# More\n\n## n\n\n1\n"},
      {JsonArray{JsonObject{{"a", 1}}}, "- {\"a\":1}\n"},
      {nullptr, ""},
      {"  ", ""},
      {JsonArray(), ""},
      {JsonObject(), ""},
      {JsonObject{{"empty", ""}, {"full", "x"}}, "# full\n\nx\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ValueText({"s", c.value}), c.text) << ToJson(c.value);
  }
}

TEST(ValuesTest, AListOfTypedPartsPassesThrough) {  // RSP-3
  const assembly::Section section = SectionOf(
      {"s", JsonArray{JsonObject{{"type", "text"}, {"text", "look"}},
                      JsonObject{{"type", "image"}, {"media_type", "image/png"}, {"data", "AA"}},
                      JsonObject{{"type", "image_url"}, {"image_url", "http://x/y.png"}},
                      JsonObject{{"type", "tool_use"}, {"id", "1"}, {"name", "t"}},
                      JsonObject{{"type", "tool_result"}, {"tool_use_id", "1"}}}});
  ASSERT_EQ(section.parts.size(), 5u);
  EXPECT_EQ(section.parts[0].text, "look");
  EXPECT_EQ(section.parts[1].media_type, "image/png");
  EXPECT_EQ(section.parts[2].url, "http://x/y.png");
  EXPECT_EQ(section.parts[3].tool_name, "t");
  EXPECT_EQ(section.parts[4].call_id, "1");
  EXPECT_TRUE(SectionOf({"s", JsonArray{JsonObject{{"type", "other"}}}}).parts.empty());
}

TEST(ValuesTest, ASecretIsGoneWhereverItStands) {
  const std::string secret =
      "sk-x8Kq2LwZ9vT"
      "n4RbY7cMd1eQ5";
  const Json values[] = {Json(secret), JsonArray{Json(secret)}, JsonObject{{"a", secret}},
                         JsonArray{JsonObject{{"type", "text"}, {"text", secret}}}};
  for (const Json& value : values) {
    const assembly::Section section = SectionOf({"s", value});
    EXPECT_EQ(section.content.find(secret), std::string::npos);
    EXPECT_EQ(ToJson(section.data).find(secret), std::string::npos);
    for (const assembly::Block& block : section.parts) {
      EXPECT_EQ(block.text.find(secret), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace dossier::research
