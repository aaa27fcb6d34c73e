#include "model/schema/schema_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <ctime>
#include <map>

#include "base/files/file.h"
#include "base/hash.h"

namespace dossier::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kUrl = "https://schemas.example/review.json";
constexpr std::string_view kSchema = R"({"type":"object","properties":{"a":{"type":"string"},
    "b":{"type":["null","integer"]},"c":{}},"required":["b"]})";

class SchemaSourceTest : public ::testing::Test {
 protected:
  SchemaSourceTest() {
    source_.folders = {folder_.path(), folder_.path() + "/.dossier"};
    source_.cache_folder = folder_.path() + "/cache/schemas";
    source_.fetch = [this](const std::string& url, Millis, std::uint64_t,
                           const CancelToken&) -> Result<std::string> {
      fetched_.push_back(url);
      if (reply_.empty()) return MakeError(ErrorCode::kNetwork, "no answer");
      return reply_;
    };
  }

  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(MakeFolders(folder_.path() + "/.dossier"));
    ASSERT_TRUE(WriteFileAtomic(folder_.path() + "/" + name, text));
  }
  // The kept copy becomes two days old.
  void Age() {
    const std::string copy = fmt::format("{}/{}.json", source_.cache_folder, Sha256Hex(kUrl));
    const std::time_t then = std::time(nullptr) - 2 * 86'400;
    const utimbuf times{then, then};
    ASSERT_EQ(utime(copy.c_str(), &times), 0);
  }
  Result<FoundSchema> Find(std::string_view place) { return source_.Find(place, {}); }

  TempFolder folder_ = *TempFolder::Make();
  SchemaSource source_;
  std::vector<std::string> fetched_;
  std::string reply_{kSchema};
};

TEST_F(SchemaSourceTest, ARelativePathIsLookedForInEachFolder) {  // CON-39
  Write(".dossier/s.json", kSchema);
  const auto found = Find("s.json");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->origin, folder_.path() + "/.dossier/s.json");
}

TEST_F(SchemaSourceTest, WhatCannotBeUsedHasFourDistinctMessages) {  // CON-39, section 6
  Write("text.json", "{nope");
  Write("list.json", "[1]");
  Write("large.json", std::string(200, ' '));
  source_.rules.most_bytes = 100;
  const std::tuple<const char*, ErrorCode, const char*> cases[] = {
      {"text.json", ErrorCode::kConfig, "text.json: no JSON"},
      {"list.json", ErrorCode::kConfig, "list.json: no JSON Schema"},
      {"large.json", ErrorCode::kConfig, "larger than 100"},
      {"none.json", ErrorCode::kNotFound, "none.json: no such file; looked for "},
  };
  for (const auto& [name, code, words] : cases) {
    const auto found = Find(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, code) << name;
    EXPECT_THAT(found.error().message, HasSubstr(words));
  }
}

TEST_F(SchemaSourceTest, AFreshCopyCostsNoRequest) {  // CON-40
  ASSERT_TRUE(Find(kUrl));
  ASSERT_TRUE(Find(kUrl));
  EXPECT_THAT(fetched_, ElementsAre(kUrl));
}

TEST_F(SchemaSourceTest, AnOldCopyServesWhereTheServerDoesNot) {  // CON-40
  ASSERT_TRUE(Find(kUrl));
  Age();
  reply_.clear();
  const auto found = Find(kUrl);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->warnings, ElementsAre(HasSubstr("a copy that is 48 h old is used")));
  reply_ = kSchema;
  EXPECT_THAT(Find(kUrl)->warnings, IsEmpty());
  EXPECT_EQ(fetched_.size(), 3u);
}

TEST_F(SchemaSourceTest, OfflineAnyCopyServesAndNoneIsFetched) {  // CON-40
  source_.rules.network = SchemaRules::Network::kOffline;
  const auto missing = Find(kUrl);
  ASSERT_FALSE(missing);
  EXPECT_EQ(ExitCode(missing.error().code), 8);
  source_.rules.network = SchemaRules::Network::kAllowed;
  ASSERT_TRUE(Find(kUrl));
  Age();
  source_.rules.network = SchemaRules::Network::kOffline;
  EXPECT_TRUE(Find(kUrl));
  EXPECT_EQ(fetched_.size(), 1u);
}

TEST_F(SchemaSourceTest, WhatIsNoSchemaIsNeverKept) {  // CON-40
  reply_ = "<html>";
  EXPECT_THAT(Find(kUrl).error().message, HasSubstr("no JSON"));
  reply_.clear();
  EXPECT_EQ(Find(kUrl).error().code, ErrorCode::kNetwork);
}

TEST_F(SchemaSourceTest, PlainHttpHasToBeAllowed) {  // CON-40
  EXPECT_THAT(Find("http://x.example/s").error().message,
              HasSubstr("DOSSIER_ALLOW_HTTP_SCHEMAS=1"));
  source_.rules.plain_http = SchemaRules::PlainHttp::kAllowed;
  EXPECT_TRUE(Find("http://x.example/s"));
}

TEST_F(SchemaSourceTest, RulesComeFromTheEnvironmentOursFirst) {  // CON-40, section 4.13
  const std::map<std::string, std::string, std::less<>> variables = {
      {"CLLM_ALLOW_HTTP_SCHEMAS", "1"},
      {"CLLM_SCHEMA_CACHE_TTL", "5"},
      {"DOSSIER_SCHEMA_CACHE_TTL", "7"},
      {"DOSSIER_OFFLINE_MODE", "true"},
      {"CLLM_MAX_SCHEMA_SIZE", "4096"}};
  const auto look_up = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  const Result<SchemaRules> rules = SchemaRulesOf(look_up);
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->plain_http, SchemaRules::PlainHttp::kAllowed);
  EXPECT_EQ(rules->network, SchemaRules::Network::kOffline);
  EXPECT_EQ(rules->time_to_live.count(), 7);
  EXPECT_EQ(rules->most_bytes, 4096u);
  const auto bad = SchemaRulesOf([](std::string_view name) -> std::optional<std::string> {
    if (name == "DOSSIER_SCHEMA_CACHE_TTL") return "soon";
    return std::nullopt;
  });
  EXPECT_THAT(bad.error().message, HasSubstr("DOSSIER_SCHEMA_CACHE_TTL: 'soon'"));
}

TEST_F(SchemaSourceTest, FieldsAreAShortSchema) {  // FLT-47
  EXPECT_EQ(DescribeSchema(SchemaOfText("name, age int: in years, tame bool", "s")->schema),
            "type: object\nproperties: 3\nname: string (required)\nage: integer (required)\n"
            "tame: boolean (required)\n");
  EXPECT_EQ(DescribeSchema(SchemaOfText("\nx float: from left, in metres\ny\n", "s")->schema),
            "type: object\nproperties: 2\nx: number (required)\ny: string (required)\n");
  for (std::string_view no : {"", "age integre", "a b c", "1st", "a,,b", "name; age"}) {
    EXPECT_THAT(SchemaOfText(no, "s").error().message, HasSubstr("nor fields such as")) << no;
  }
  EXPECT_TRUE(SchemaOfText("true", "s"));
}

TEST_F(SchemaSourceTest, ASchemaIsDescribedByItsProperties) {  // CON-41, --validate-schema
  EXPECT_EQ(DescribeSchema(SchemaOfText(kSchema, "s")->schema),
            "type: object\nproperties: 3\na: string (optional)\nb: null|integer (required)\n"
            "c: any (optional)\n");
  for (const char* beside : {R"("properties":5)", R"("properties":"abcdefgh")", R"("type":[1,2])",
                             R"("properties":{"x":5},"required":7)"}) {
    const auto found =
        SchemaOfText(fmt::format(R"({{"$schema":"http://json-schema.org/draft-07/schema#",)"
                                 R"("$ref":"#/definitions/a",{},"definitions":{{"a":{{}}}}}})",
                                 beside),
                     "s");
    ASSERT_TRUE(found) << beside;
    EXPECT_THAT(DescribeSchema(found->schema), ::testing::StartsWith("type: ")) << beside;
  }
}

}  // namespace
}  // namespace dossier::model
