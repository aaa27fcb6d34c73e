#include "sources/header/change_policy.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "testing/result_matchers.h"

namespace dossier::sources {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;

constexpr std::string_view kPolicyExample =
    R"({:allow ["src/**" "tests/**"] :deny ["secrets/**" "**/*.pem"] :max-lines-added 800
        :max-lines-deleted 800 :max-files 10 :allow-binary? false :review-timeout-seconds 600
        :propose-timeout-seconds 300})";

TEST(ChangePolicyTest, TheExampleOfTheSpecIsRead) {
  const auto policy = ParseChangePolicy(std::string(kPolicyExample), "config/policy.edn");
  ASSERT_THAT(policy, Succeeds());
  EXPECT_THAT(policy->allow, ElementsAre("src/**", "tests/**"));
  EXPECT_THAT(policy->deny, ElementsAre("secrets/**", "**/*.pem"));
  EXPECT_EQ(policy->max_lines_added, 800u);
  EXPECT_EQ(policy->max_lines_deleted, 800u);
  EXPECT_EQ(policy->max_files, 10u);
  EXPECT_EQ(policy->max_patch_bytes, 8u << 20);
  EXPECT_FALSE(policy->allow_binary);
  EXPECT_FALSE(policy->allow_symlinks || policy->allow_submodules || policy->allow_control_files);
  EXPECT_EQ(policy->review_timeout, Millis(600'000));
  EXPECT_EQ(policy->propose_timeout, Millis(300'000));
  EXPECT_EQ(policy->sha256, Sha256Hex(kPolicyExample));
  EXPECT_EQ(policy->file, "config/policy.edn");
}

TEST(ChangePolicyTest, WithoutAFileTheDefaultsHoldAndAreTold) {
  const TempFolder root = *TempFolder::Make("policy");
  const auto policy = LoadChangePolicy(root.path(), "");
  ASSERT_THAT(policy, Succeeds());
  EXPECT_THAT(policy->allow, ElementsAre("src/**", "scripts/**", "docs/**", "config/**"));
  EXPECT_EQ(policy->warnings.size(), 1u);
  EXPECT_TRUE(policy->allow_binary);
  EXPECT_FALSE(policy->max_files);
  EXPECT_THAT(LoadChangePolicy(root.path(), "rules.edn"),
              FailsWith(ErrorCode::kConfig, "rules.edn: there is no such file"));
}

TEST(ChangePolicyTest, AFileInYamlIsFound) {
  const TempFolder root = *TempFolder::Make("policy");
  ASSERT_TRUE(MakeFolders(root.path() + "/config"));
  ASSERT_TRUE(WriteFileAtomic(root.path() + "/config/policy.yaml", "max-files: 3\n"));
  EXPECT_EQ(LoadChangePolicy(root.path(), "")->max_files, 3u);
  ASSERT_TRUE(WriteFileAtomic(root.path() + "/config/policy.json", "{}"));
  EXPECT_THAT(LoadChangePolicy(root.path(), ""),
              FailsWith(ErrorCode::kConfig, "config/policy.yaml and config/policy.json"));
}

TEST(ChangePolicyTest, AMistypedRuleNeverVanishes) {  // section 6
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"{:max-line-added 1}", "p.edn:1:2: unknown key max_line_added (max_lines_added?)"},
      {"{:max-files \"ten\"}",
       "p.edn:1:2: max_files is \"ten\"; it must be a whole number from 0 up"},
      {"{:max-files -1}", "max_files is -1"},
      {"{:max-files 1.5}", "max_files is 1.5"},
      {"{:max-patch-bytes 0}", "a whole number from 1 up"},
      {"{:allow-binary? 1}", "allow_binary is 1; it must be true or false"},
      {"{:allow [1]}", "allow is a list; it must be a list of texts"},
      {"{:allow [\"a[\"]}", "p.edn:1:2: allow: a[:2: [ is never closed"},
      {"{:review-timeout-seconds 0}", "review_timeout_seconds is 0; it must be a time from 1 s"},
      {"[]", "p.edn:1:1: must be a map of keys"},
      {"{:allow [\"a\"}", "p.edn:1:13: } where ] was expected"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ParseChangePolicy(std::string(c.text), "p.edn"),
                FailsWith(ErrorCode::kConfig, std::string(c.message)))
        << c.text;
  }
}

TEST(CheckGlobTest, MalformedPatternsAreNamedWithTheirColumn) {  // REP-39
  for (const char* good : {"src/**", "**/*.pem", "a[a-z]b", "[!a]", "[]]", "[a-]", "{a,b}", "a}",
                           "a\\[", "+.()$", "é[à-ü]"}) {
    EXPECT_THAT(CheckGlob(good), Succeeds()) << good;
  }
  struct Case {
    std::string_view glob, message;
  };
  constexpr Case kCases[] = {
      {"", "matches nothing"},
      {"a[b", "a[b:2: [ is never closed"},
      {"é[", "é[:2: ["},
      {"{a,{b}", "{a,{b}:1: { is never closed"},
      {"a\\", "a\\:2: \\ escapes"},
      {"[z-a]", "a range runs backwards"},
      {"/src", "without /"},
      {"a/../b", "a/../b:3: no path holds .."},
      {"[]", "[]:1: [ is never closed"},
      {"secrets/", "secrets/:9: no path has an empty part; all below a folder is folder/**"},
      {"a//b", "a//b:3: no path has an empty part"},
      {"./a", "./a:1: no path holds ."},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(CheckGlob(c.glob), FailsWith(ErrorCode::kConfig, std::string(c.message)));
  }
  const std::string deep(kMaxGlobDepth + 1, '{');
  EXPECT_THAT(CheckGlob(deep), FailsWith(ErrorCode::kConfig, "33: { nested deeper than 32"));
  const auto longer = CheckGlob(std::string(kMaxGlobBytes + 1, 'x'));
  EXPECT_THAT(longer, FailsWith(ErrorCode::kConfig, "longer than 4,096 bytes"));
  EXPECT_LT(longer.error().message.size(), 300u);
}

}  // namespace
}  // namespace dossier::sources
