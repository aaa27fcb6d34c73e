#include "agents/policy/policy_check.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

using sources::ChangePolicy;
using ::testing::ElementsAre;

TEST(PolicyGlobTest, PatternsMeanWhatTheSpecificationSays) {  // REP-39, section 8 item 12
  struct Case {
    const char *pattern, *path;
    bool matches;
  };
  constexpr Case kCases[] = {
      {"**/*.pem", "a.pem", true},
      {"**/*.pem", "x/y/a.pem", true},
      {"**/*.pem", "a.pem/x", false},
      {"src/**", "src/a", true},
      {"src/**", "src/a/b/c", true},
      {"src/**", "src", false},
      {"src/**", "srcx/a", false},
      {"src/*", "src/a/b", false},
      {"src/**/x.cc", "src/x.cc", true},
      {"src/**/x.cc", "src/a/b/x.cc", true},
      {"src/**/x.cc", "src/ax.cc", false},
      {"a**b", "axxb", true},
      {"a**b", "a/b", false},
      {"**", "a/b", true},
      {"?.txt", "a.txt", true},
      {"?.txt", "é.txt", true},
      {"?.txt", "ab.txt", false},
      {"?", "/", false},
      {"[a-c].txt", "b.txt", true},
      {"[!a-c].txt", "b.txt", false},
      {"[!a].txt", "é.txt", true},
      {"[à-ü]x", "éx", true},
      {"a[/]b", "a/b", false},
      {"a[!x]b", "a/b", false},
      {"[]x]", "]", true},
      {"[a\\]]", "]", true},
      {"*.{cc,h}", "a.h", true},
      {"*.{cc,h}", "a.hh", false},
      {"{src,tests}/**", "tests/a/b", true},
      {"{a,b{c,d}}x", "bdx", true},
      {"{a,b{c,d}}x", "bx", false},
      {"{,x}y", "y", true},
      {"{a}", "{a}", true},
      {"\\*", "*", true},
      {"\\*", "a", false},
      {"c++(x).$y", "c++(x).$y", true},
      {"a.b", "axb", false},
      {"A.txt", "a.txt", false},
      {"\xFF*",
       "\xFF"
       "a",
       true},
      {"", "", true},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(PolicyGlob(c.pattern, CaseSensitivity::kSensitive).Matches(c.path), c.matches)
        << c.pattern << " | " << c.path;
  }
}

TEST(PolicyGlobTest, WithoutCaseTheFoldedNamesAreCompared) {  // REP-39: folded, NFC
  struct Case {
    const char *pattern, *path;
  };
  constexpr Case kSame[] = {
      {"secrets/**", "SECRETS/x"},
      {"**/*.PEM", "a.pem"},
      {"GEHEIM/STRASSE", "geheim/straße"},
      {"caf\u00E9/**", "cafe\u0301/x"},
      {"CAFE\u0301", "caf\u00E9"},
      {"s\u00E9crets/**", "S\u00C9CRETS/\xFF"},
      {"[a-c]", "B"},
  };
  for (const Case& c : kSame) {
    EXPECT_TRUE(PolicyGlob(c.pattern, CaseSensitivity::kInsensitive).Matches(c.path))
        << c.pattern << " | " << c.path;
  }
  EXPECT_FALSE(PolicyGlob("a\xFF", CaseSensitivity::kInsensitive).Matches("a\xFE"));
}

TEST(PolicyGlobTest, ManyStarsAndBracesEndSoon) {  // REP-39: no backtracking
  std::string stars, braces;
  for (int i = 0; i < 200; ++i) stars += "*a";
  for (int i = 0; i < 30; ++i) braces += "{a,aa,*}";
  const std::string text(4000, 'a');
  EXPECT_FALSE(PolicyGlob(stars + "b", CaseSensitivity::kSensitive).Matches(text));
  EXPECT_TRUE(PolicyGlob(stars, CaseSensitivity::kSensitive).Matches(text));
  EXPECT_FALSE(PolicyGlob(braces + "b", CaseSensitivity::kSensitive).Matches(text));
}

TEST(PolicyGlobTest, TooLongOrTooDeepMatchesNothing) {  // REP-39
  std::string deep;
  for (std::size_t i = 0; i <= sources::kMaxGlobDepth; ++i) deep = "{" + deep + ",a}";
  EXPECT_FALSE(PolicyGlob(deep, CaseSensitivity::kSensitive).Matches("a"));
  deep = deep.substr(1, deep.size() - 4);
  EXPECT_TRUE(PolicyGlob(deep, CaseSensitivity::kSensitive).Matches("a"));
  std::string huge;
  for (int i = 0; i < 1'000'000; ++i) huge += "{,";
  EXPECT_FALSE(
      PolicyGlob(huge + std::string(1'000'000, '}'), CaseSensitivity::kSensitive).Matches(""));
}

TEST(PolicyGlobTest, AnyBytesAreReadToTheEnd) {
  EXPECT_FALSE(PolicyGlob("{[,}", CaseSensitivity::kSensitive).Matches("a"))
      << "no brace closes the group";
  Random random(11);
  constexpr std::string_view kBytes = "a/*?[]!^-\\:{},\xC3\xA9\xFF";
  for (int round = 0; round < 20000; ++round) {
    std::string pattern, text;
    for (auto* out : {&pattern, &text}) {
      for (std::uint64_t i = random.Below(12); i > 0; --i) {
        *out += kBytes[random.Below(kBytes.size())];
      }
    }
    PolicyGlob(pattern, CaseSensitivity::kSensitive).Matches(text);
    PolicyGlob(pattern, CaseSensitivity::kInsensitive).Matches(text);
  }
}

constexpr unsigned kFile = 0100644;

Patch PatchOf(PathChange change) {
  Patch patch;
  patch.stat = {.files = 1, .added = change.added, .deleted = change.deleted};
  patch.changes.push_back(std::move(change));
  return patch;
}

std::string Rules(const PolicyReport& report) {
  std::vector<std::string> rules;
  for (const Violation& violation : report.violations) rules.push_back(violation.rule);
  return Join(rules, " ");
}

// The policy of section 5, without limits that do not concern paths.
ChangePolicy Example() {
  ChangePolicy policy;
  policy.allow = {"src/**", "tests/**", "config/**", "*.md"};
  policy.deny = {"secrets/**", "**/*.pem", "password*", "src/[a-c]?.bin"};
  return policy;
}

TEST(PolicyCheckTest, PathsAndRules) {  // REP-38, REP-39, REP-A16
  struct Case {
    std::string path;
    std::vector<std::string> targets;
    std::string rules;
  };
  const Case kCases[] = {
      {"src/a.cc", {}, ""},
      {"src/deep/er/a.cc", {}, ""},
      {"tests/x", {}, ""},
      {"README.md", {}, ""},
      {"docs/README.md", {}, "allow"},
      {"src", {}, "allow"},
      {"srcs/a.cc", {}, "allow"},
      {"SRC/a.cc", {}, "allow"},
      {"a.pem", {}, "deny allow"},
      {"src/a.pem", {}, "deny"},
      {"src/deep/A.PEM", {}, "deny"},
      {"src/a.pem.txt", {}, ""},
      {"secrets/x", {}, "deny allow"},
      {"SECRETS/x", {}, "deny allow"},
      {"Secrets/deep/x", {}, "deny allow"},
      {"src/secrets/x", {}, ""},
      {"secretsx/y", {}, "allow"},
      {"src/passwords.txt", {}, "deny"},
      {"src/deep/PassWord", {}, "deny"},
      {"src/password.d/x", {}, "deny"},
      {"src/apassword", {}, ""},
      {"src/ax.bin", {}, "deny"},
      {"src/dx.bin", {}, ""},
      {"src/c++(1).$x", {}, ""},
      {"src/a.cc", {"src"}, ""},
      {"src/a.cc", {"src/"}, ""},
      {"src/a.cc", {"./src"}, ""},
      {"src/a.cc", {"."}, ""},
      {"src/a.cc", {"src/a.cc"}, ""},
      {"src/a.cc", {"src/a"}, "targets"},
      {"src/ab/x", {"src/a"}, "targets"},
      {"src/a.cc", {"tests"}, "targets"},
      {"src/a.cc", {"tests", "src/*.cc"}, ""},
      {"src/x/a.cc", {"src/*.cc"}, "targets"},
      {"src/x/a.cc", {"src/**/*.cc"}, ""},
      {"src/[id].ts", {"src/[id].ts"}, ""},
      {"Src/a.cc", {"src"}, "allow targets"},
      {"../x", {}, "path allow"},
      {"src/../x", {}, "path"},
      {"/etc/passwd", {}, "path allow"},
      {"src/.git/config", {}, "path"},
      {"src/.gIt/x", {}, "path"},
      {".gIt/x", {}, "path allow"},
      {"src/git~1/x", {}, "path"},
      {"src/.git./x", {}, "path"},
      {"src/.g\u200Cit/x", {}, "path"},
      {"src/a\nb", {}, "path"},
      {"src/a\x7F", {}, "path"},
      {"src/.github/x", {}, ""},
      {"config/policy.edn", {}, "control-file"},
      {"config/Policy.EDN", {}, "control-file"},
      {"config/tasks.yaml", {}, "control-file"},
      {"config/prompts/engineer.md", {}, "control-file"},
      {"config/other.yaml", {}, ""},
      {"config", {}, "allow control-file"},
      {"finished_to_review.md", {}, "control-file"},
      {".gitmodules", {}, "allow control-file"},
      {"dossier.yml", {}, "allow control-file"},
      {"agentnet.edn", {}, "allow control-file"},
      {"tasks/pending/x.json", {}, "allow control-file"},
      {".dossier/layouts/x.yaml", {}, "allow control-file"},
      {"layouts.d/mine.yaml", {}, "allow control-file"},
  };
  SteeringFiles control = DefaultControlFiles();
  control.paths.push_back("layouts.d/");
  for (const Case& c : kCases) {
    const Patch patch = PatchOf({.path = c.path, .old_mode = kFile, .new_mode = kFile});
    EXPECT_EQ(Rules(CheckPolicy(Example(), c.targets, patch, control)), c.rules)
        << c.path << " | " << Join(c.targets, ",");
  }
}

TEST(PolicyCheckTest, KindsOfFiles) {  // REP-38, REP-A16
  struct Case {
    const char* what;
    PathChange change;
    std::string rules;  // with nothing allowed
    std::string rules_when_allowed;
  };
  const std::string inside = "b.cc", outside = "../../etc/passwd";
  const Case kCases[] = {
      {"a binary file", {.path = "src/a", .new_mode = kFile, .binary = true}, "binary", ""},
      {"a new link",
       {.path = "src/a", .new_mode = kModeLink, .link_target = inside},
       "symlink",
       ""},
      {"a link that leaves",
       {.path = "src/a", .new_mode = kModeLink, .link_target = outside},
       "symlink",
       "symlink"},
      {"a link behind another that leaves",
       {.path = "src/a", .new_mode = kModeLink, .link_target = inside, .link_way_out = "b.cc"},
       "symlink",
       "symlink"},
      {"a link to git's folder",
       {.path = "src/a", .new_mode = kModeLink, .link_target = "../.git/config"},
       "symlink",
       "symlink"},
      {"a file that becomes a link",
       {.path = "src/a", .old_mode = kFile, .new_mode = kModeLink, .link_target = inside},
       "symlink",
       ""},
      {"a link that goes", {.path = "src/a", .old_mode = kModeLink}, "", ""},
      {"a new submodule", {.path = "src/a", .new_mode = kModeSubmodule}, "submodule", ""},
      {"a submodule that goes", {.path = "src/a", .old_mode = kModeSubmodule}, "submodule", ""},
      {"a control file", {.path = "config/policy.edn", .new_mode = kFile}, "control-file", ""},
      {"a mode", {.path = "src/a", .old_mode = kFile, .new_mode = 0100755}, "", ""},
  };
  for (const Case& c : kCases) {
    ChangePolicy policy = Example();
    policy.allow_binary = false;
    EXPECT_EQ(Rules(CheckPolicy(policy, {}, PatchOf(c.change), DefaultControlFiles())), c.rules)
        << c.what;
    policy.allow_binary = policy.allow_symlinks = policy.allow_submodules =
        policy.allow_control_files = true;
    EXPECT_EQ(Rules(CheckPolicy(policy, {}, PatchOf(c.change), DefaultControlFiles())),
              c.rules_when_allowed)
        << c.what;
  }
}

TEST(PolicyCheckTest, EqualToALimitPassesOneMoreDoesNot) {  // REP-38
  struct Case {
    PatchStat stat;
    std::uint64_t bytes;
    std::vector<Violation> violations;
  };
  const Case kCases[] = {
      {{10, 800, 700}, 1000, {}},
      {{11, 800, 700}, 1000, {{"max-files", "", "11", "10"}}},
      {{10, 801, 700}, 1000, {{"max-lines-added", "", "801", "800"}}},
      {{10, 800, 701}, 1000, {{"max-lines-deleted", "", "701", "700"}}},
      {{10, 800, 700}, 1001, {{"too-large", "", "1001", "1000"}}},
  };
  ChangePolicy policy = Example();
  policy.max_files = 10;
  policy.max_lines_added = 800;
  policy.max_lines_deleted = 700;
  policy.max_patch_bytes = 1000;
  for (const Case& c : kCases) {
    Patch patch;
    patch.stat = c.stat;
    patch.bytes = c.bytes;
    const PolicyReport report = CheckPolicy(policy, {}, patch, DefaultControlFiles());
    EXPECT_EQ(report.violations, c.violations);
    EXPECT_EQ(report.ok(), c.violations.empty());
  }
  Patch huge;
  huge.stat = {1'000'000, 1'000'000, 1'000'000};
  EXPECT_TRUE(CheckPolicy(Example(), {}, huge, {}).ok()) << "absent: unlimited";
}

TEST(PolicyCheckTest, ARenameCountsWithBothPaths) {  // REP-38, REP-A16: out of secrets/
  Patch patch;
  patch.changes = {{.path = "secrets/key", .old_mode = kFile},
                   {.path = "src/key", .old_path = "secrets/key", .new_mode = kFile}};
  patch.stat.files = 1;
  const PolicyReport report = CheckPolicy(Example(), {}, patch, {});
  EXPECT_THAT(report.denied, ElementsAre("secrets/key"));
  EXPECT_THAT(report.not_allowed, ElementsAre("secrets/key"));
  EXPECT_EQ(report.violations[0],
            (Violation{.rule = "deny", .path = "secrets/key", .limit = "secrets/**"}));
}

TEST(PolicyCheckTest, WhatTakingThePatchFoundIsReported) {  // REP-34, REP-37
  Patch patch;
  patch.violations = {{.rule = "git-dir", .path = "config"}};
  EXPECT_EQ(Rules(CheckPolicy({}, {}, patch, {})), "git-dir");
}

}  // namespace
}  // namespace dossier::agents
