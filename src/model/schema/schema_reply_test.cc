#include "model/schema/schema_reply.h"

#include <gtest/gtest.h>

namespace dossier::model {
namespace {

TEST(CheckReplyTest, AFenceWithinATextOfTheJsonIsNoSecondBlock) {
  const auto schema = JsonSchema::Compile(*ParseJson(R"({"type":"object"})"));
  ASSERT_TRUE(schema) << schema.error().message;
  const std::string json = R"({"text":"run ```sh\nls\n``` now"})";
  const CheckedReply checked = CheckReply("```json\n" + json + "\n```", *schema);
  EXPECT_TRUE(checked.value);
  EXPECT_EQ(checked.text, json);
  EXPECT_EQ(checked.warnings.size(), 1u);
  EXPECT_FALSE(CheckReply("```json\n{}\n```\nor\n```json\n{}\n```", *schema).value);
}

}  // namespace
}  // namespace dossier::model
