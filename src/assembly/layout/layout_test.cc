#include "assembly/layout/layout.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assembly/layout/check.h"
#include "assembly/layout/lookup.h"
#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/yaml/yaml.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// A folder of the user with layouts and prompts.
class Overrides {
 public:
  Overrides() : folder_(std::move(*TempFolder::Make())) {}

  void Write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    EXPECT_THAT(MakeFolders(path.substr(0, path.rfind('/'))), Succeeds());
    EXPECT_THAT(WriteFileAtomic(path, text), Succeeds());
  }
  AssetFolders folders() const { return {.overrides = {folder_.path()}}; }
  // The path of `name`, with its folder made and nothing there.
  std::string Place(const std::string& name) {
    Write(name, "");
    const std::string path = folder_.path() + "/" + name;
    EXPECT_THAT(RemoveAll(path), Succeeds());
    return path;
  }

 private:
  TempFolder folder_;
};

// The error of `name` where it is used, which `prompts check` must print too.
void ExpectTold(const Overrides& mine, const std::string& name, const std::string& message) {
  const auto asset = FindAsset("", name, mine.folders());
  EXPECT_THAT(asset, FailsWith(ErrorCode::kConfig, name + message));
  const std::vector<std::string> lines = CheckAssets(mine.folders());
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [&](const std::string& line) {
                            return !line.starts_with("ok ") &&
                                   line.find(name + message) != std::string::npos;
                          }))
      << name << message;
}

TEST(LayoutTest, WhatStandsInPlaceOfAFileIsAnErrorWithItsPlace) {  // FLT-30
  for (const std::string name : {"prompts/recursion/direct.md", "prompts/recursion/memory.md",
                                 "layouts/recursion.direct.yaml", "prompts/compaction.md"}) {
    SCOPED_TRACE(name);
    Overrides mine;
    const std::string path = mine.Place(name);
    ASSERT_EQ(symlink("nowhere", path.c_str()), 0);
    ExpectTold(mine, name, ":1:1: is a link that leads nowhere, not a file");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    ExpectTold(mine, name, ":1:1: is a pipe, not a file");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0);
    ExpectTold(mine, name, ":1:1: is a device, not a file");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    ExpectTold(mine, name, ":1:1: is a folder, not a file");
    ASSERT_EQ(rmdir(path.c_str()), 0);
    mine.Write(name, "\xEF\xBB\xBFtext");
    ExpectTold(mine, name, ":1:1: begins with a byte order mark");
    mine.Write(name, "one\nd\xC3\xA9j\xE0 vu\n");
    ExpectTold(mine, name, ":2:4: is not UTF-8");
    if (geteuid() == 0) continue;  // who may read everything
    mine.Write(name, "text");
    ASSERT_EQ(chmod(path.c_str(), 0), 0);
    ExpectTold(mine, name, ":1:1: Permission denied");
  }
}

TEST(LayoutTest, ABrokenTemplateOfAnOptionalSectionIsNotPassedOver) {  // FLT-30
  Overrides mine;
  ASSERT_EQ(mkfifo(mine.Place("prompts/recursion/memory.md").c_str(), 0600), 0);
  EXPECT_THAT(FindLayout("recursion.large", mine.folders()),
              FailsWith(ErrorCode::kConfig, "memory.md:1:1: is a pipe"));
}

TEST(LayoutTest, ReadsEveryKeyOfTheFormat) {  // ASM-10, ASM-12, ASM-13
  const auto layout = ParseLayout(R"(schema: dossier.layout/1
name: coding
about: writes code
vars: {stage: {one_of: [draft, debug]}, persona: {default: Researcher}, task: {required: true}}
budget: {window_share: 0.25, tokens: 60000, reserve_output: 8192, cascade: [code, memory]}
cache: {ttl: 5m}
boundary: project
lead: ready.md
sections:
  - {name: rules, zone: system, source: template, template: rules.md, required: true, changes: never}
  - {name: memory, zone: volatile, source: memory, cap_chars: 24000, cap: 900, weight: 2, fit: items,
     priority: 0.8, optional: true, changes: call, min: 12, title: Memory}
  - {name: history, zone: history, source: history, fit: history, keep: {turns: 3, drop_to: 0.7}}
  - {name: code, zone: volatile, source: var, with: {var: code}, fit: middle, keep: {ratio: 0.25},
     unless: first, when: code, fence: growing, floor: 10, tokens: 500}
  - {name: task, zone: request, source: var, with: {var: task}, required: true}
)",
                                  "coding.yaml");
  ASSERT_THAT(layout, Succeeds());
  EXPECT_EQ(layout->name, "coding");
  EXPECT_EQ(layout->window_share, 0.25);
  EXPECT_EQ(layout->budget_tokens, 60000);
  EXPECT_EQ(layout->reserve_output, 8192);
  EXPECT_EQ(layout->cascade, (std::vector<std::string>{"code", "memory"}));
  EXPECT_EQ(layout->lead, "ready.md");
  EXPECT_EQ(layout->sha256.size(), 64u);
  ASSERT_EQ(layout->vars.size(), 3u);
  EXPECT_EQ(layout->vars[1].fallback, "Researcher");
  ASSERT_EQ(layout->sections.size(), 5u);

  const LayoutSection& rules = layout->sections[0];
  EXPECT_EQ(rules.role, Role::kSystem);
  EXPECT_EQ(rules.template_name, "rules.md");
  EXPECT_EQ(rules.priority, 1);
  EXPECT_EQ(rules.line, 10);
  EXPECT_EQ(rules.column, 5);

  const LayoutSection& memory = layout->sections[1];
  EXPECT_EQ(memory.trust, Trust::kUntrusted);
  EXPECT_EQ(memory.fit, Fit::kItems);
  EXPECT_EQ(memory.cap_chars, 24000);
  EXPECT_EQ(memory.cap, 900);
  EXPECT_EQ(memory.min, 12);
  EXPECT_EQ(memory.missing, LayoutSection::Missing::kIsAllowed);

  EXPECT_EQ(layout->sections[2].keep_turns, 3);
  EXPECT_EQ(layout->sections[2].drop_to, 0.7);
  const LayoutSection& code = layout->sections[3];
  EXPECT_EQ(code.variable, "code");
  EXPECT_EQ(code.keep_ratio, 0.25);
  EXPECT_EQ(code.unless, "first");
  EXPECT_EQ(code.fence, FenceKind::kGrowing);
  EXPECT_EQ(code.tokens, 500);
  EXPECT_EQ(code.missing, LayoutSection::Missing::kIsAnError);
}

TEST(LayoutTest, BrokenLayoutsAreRefusedWithPlaceAndNearestName) {  // ASM-5, ASM-10, ASM-T10
  const std::string head = "schema: dossier.layout/1\nsections:\n";
  struct Case {
    std::string yaml, message;
  };
  const Case kCases[] = {
      {head + "  - {name: a, zone: request, wieght: 3}",
       "x.yaml:3:30: unknown key wieght (weight?)"},
      {head + "  - {name: a, zone: reqest}", "x.yaml:3:21: unknown zone reqest (request?)"},
      {head + "  - {name: a, fit: hed}", "unknown fit hed (head?)"},
      {head + "  - {name: a, source: fiels}", "unknown source fiels (file"},
      {head + "  - {name: a, zone: request}\n  - {name: a}", "x.yaml:4:5: duplicate section a"},
      {head + "  - {name: a, name: b}", "x.yaml:3:15: duplicate key name"},
      {head + "  - {name: a, priority: 2}", "priority must be a number from 0 to 1"},
      {head + "  - {name: a, weight: -1}", "weight must be a whole number from 0 up"},
      {head + "  - {name: a, weight: \"3\"}", "weight must be a whole number"},
      {head + "  - {name: a, required: yes}", "required must be true or false"},
      {head + "  - {name: A}", "must match [a-z][a-z0-9_]*"},
      {head + "  - {name: a, source: files, fence: tag}", "untrusted text needs fence data"},
      {head + "  - {name: a, trust: untrusted, fence: none}", "untrusted text needs fence data"},
      {head + "  - {name: a, trust: untrusted, fence: heading}", "untrusted text needs fence data"},
      {head + "  - {name: a, zone: system, role: user}", "role system and zone system"},
      {head + "  - {name: a, zone: request, role: assistant}", "holds user text only"},
      {head + "  - {name: a, source: template}", "needs a template"},
      {head + "  - {name: a, required: true, optional: true}", "exclude each other"},
      {head + "  - {zone: system}", "a section needs a name"},
      {"schema: dossier.layout/2\nsections: [{name: a}]", "x.yaml:1:9: schema dossier.layout/2"},
      {"budget: {tokns: 5}\nsections: [{name: a}]", "x.yaml:1:10: unknown key tokns (tokens?)"},
      {"budget: {cascade: [b]}\nsections: [{name: a}]", "budget.cascade: unknown section b"},
      {"extends: base\nsections: [{name: a}]", "extends is resolved only"},
      {"name: x", "a layout needs sections"},
      {"- a\n- b", "x.yaml:1:1: must be a map of keys"},
      {"", "must be a map of keys"},
      {"a: [1, 2", "x.yaml:1:"},
      {"a: 1\n---\nb: 2", "more than one document"},
      {"a: &x [*x]", "an alias inside its own anchor"},
      {std::string(300 << 10, ' '), "larger than 256.0 KiB"},
      {std::string(100'000, '['), "nested too deeply"},
  };
  for (const Case& c : kCases) {
    EXPECT_THAT(ParseLayout(c.yaml, "x.yaml"), FailsWith(ErrorCode::kConfig, c.message))
        << c.yaml.substr(0, 200);
  }
}

TEST(LayoutTest, AliasesExpandOnlyToTheLimit) {  // ASM-10
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'h'; ++name) {
    const char before = static_cast<char>(name - 1);
    bomb +=
        fmt::format("{0}: &{0} [*{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}, *{1}]\n", name, before);
  }
  EXPECT_THAT(ReadYaml(bomb, "x.yaml"), FailsWith(ErrorCode::kConfig, "10,000 nodes"));
  const auto small = ReadYaml("a: &a [x]\nb: *a", "x.yaml");
  ASSERT_THAT(small, Succeeds());
  EXPECT_EQ(small->entries[1].value.items[0].scalar, "x");
}

TEST(LayoutTest, AnyBytesParseOrFailWithoutHarm) {  // ASM-10
  Random random(/*seed=*/5);
  constexpr std::string_view kPieces[] = {"a: ", "- ",  "[",    "]",  "{",    "}",  "\n",
                                          "  ",  "&a ", "*a ",  "\"", "'",    "|",  ">",
                                          "---", "? ",  "name", ":",  "!!x ", "\t", "# c"};
  for (int round = 0; round < 3000; ++round) {
    std::string yaml;
    for (std::uint64_t i = random.Below(30); i > 0; --i) yaml += kPieces[random.Below(21)];
    if (random.Below(4) == 0) yaml += random.Bytes(10);
    (void)ParseLayout(yaml, "x.yaml");
  }
}

constexpr std::string_view kBase = R"(schema: dossier.layout/1
budget: {window_share: 0.25}
sections:
  - {name: rules, zone: system, source: text, text: Be brief.}
  - {name: notes, zone: stable, weight: 2}
  - {name: task, zone: request, source: var, with: {var: task}}
)";

TEST(FindLayoutTest, AnOverrideHidesTheBuiltInAndTemplatesAreLoaded) {  // ASM-26, ASM-T12
  Overrides user;
  user.Write("layouts/my/own.yaml",
             "sections: [{name: a, zone: request, template: my/t.md}]\nlead: my/lead.md\n");
  user.Write("prompts/my/t.md", "---\nplaceholders: {x: required}\n---\n{x}");
  user.Write("prompts/my/lead.md", "Hello.");
  const auto layout = FindLayout("my/own", user.folders());
  ASSERT_THAT(layout, Succeeds());
  EXPECT_EQ(layout->name, "my/own");
  EXPECT_EQ(layout->templates.size(), 2u);
  EXPECT_EQ(layout->templates.at("my/t.md").body, "{x}");
}

TEST(FindLayoutTest, WhatTheBuiltInLayoutFencesStaysFenced) {  // FLT-83
  for (const char* section :
       {"{name: memory_core, zone: stable, role: user, source: data, trust: trusted, fence: none}",
        "{name: memory_core, zone: stable, role: user, source: data, trust: trusted}"}) {
    Overrides mine;
    mine.Write("layouts/chat.yaml", fmt::format("extends: base\nsections:\n  - {}\n", section));
    mine.Write("layouts/base.yaml",
               "sections:\n  - {name: user_text, zone: request, role: user, source: data, "
               "trust: trusted, required: true}\n");
    EXPECT_THAT(FindLayout("chat", mine.folders()),
                FailsWith(ErrorCode::kConfig, "section memory_core: it holds text from outside"));
  }
  Overrides good;
  good.Write("layouts/chat.yaml",
             "sections:\n  - {name: memory_core, zone: stable, role: user, source: data, trust: "
             "untrusted, fence: growing, optional: true}\n");
  EXPECT_THAT(FindLayout("chat", good.folders()), Succeeds());
}

TEST(FindLayoutTest, ExtendsMergesByNameRemovesAndPlaces) {  // ASM-11
  Overrides user;
  user.Write("layouts/base.yaml", kBase);
  user.Write("layouts/child.yaml", R"(extends: base
remove: [rules]
sections:
  - {name: notes, priority: 0.9}
  - {name: first, before: notes, zone: stable}
  - {name: last, after: task, zone: request}
)");
  const auto layout = FindLayout("child", user.folders());
  ASSERT_THAT(layout, Succeeds());
  std::vector<std::string> names;
  for (const LayoutSection& section : layout->sections) names.push_back(section.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "notes", "task", "last"}));
  EXPECT_EQ(layout->sections[1].weight, 2);
  EXPECT_EQ(layout->sections[1].priority, 0.9);
  EXPECT_EQ(layout->window_share, 0.25);
}

TEST(FindLayoutTest, CirclesDepthAndUnknownNamesOfExtendsAreErrors) {  // ASM-11
  Overrides user;
  user.Write("layouts/a.yaml", "extends: b");
  user.Write("layouts/b.yaml", "extends: a");
  EXPECT_THAT(FindLayout("a", user.folders()),
              FailsWith(ErrorCode::kConfig, "extends goes in a circle: a -> b -> a"));
  user.Write("layouts/l0.yaml", kBase);
  for (int i = 1; i <= 5; ++i) {
    user.Write(fmt::format("layouts/l{}.yaml", i), fmt::format("extends: l{}", i - 1));
  }
  EXPECT_THAT(FindLayout("l4", user.folders()), Succeeds());
  EXPECT_THAT(FindLayout("l5", user.folders()), FailsWith(ErrorCode::kConfig, "more than 4 deep"));
  user.Write("layouts/lost.yaml", "extends: l00");
  EXPECT_THAT(FindLayout("lost", user.folders()),
              FailsWith(ErrorCode::kConfig, "lost.yaml:1:10: layout l00: not found"));
  user.Write("layouts/r.yaml", "extends: l0\nremove: [ruls]");
  EXPECT_THAT(FindLayout("r", user.folders()),
              FailsWith(ErrorCode::kConfig, "unknown section ruls (rules?)"));
}

TEST(FindLayoutTest, AnUnknownLayoutNamesTheNearestAndTheFolders) {  // section 6, ASM-T19
  Overrides user;
  user.Write("layouts/coding.yaml", kBase);
  const auto layout = FindLayout("codign", user.folders());
  EXPECT_THAT(layout,
              FailsWith(ErrorCode::kNotFound, "layout codign: not found (nearest: coding)"));
  EXPECT_THAT(FindLayout("./codign.yaml", user.folders()),
              FailsWith(ErrorCode::kConfig, "layout ./codign.yaml: it must be a name, not a path"));
  EXPECT_THAT(layout, FailsWith(ErrorCode::kNotFound, user.folders().overrides[0]));
}

TEST(FindLayoutTest, NamesNeverLeaveTheirFolder) {  // ASM-26
  Overrides user;
  user.Write("secret.yaml", kBase);
  user.Write("layouts/x.yaml", "sections: [{name: a, template: ../../secret.yaml}]");
  for (const std::string_view name :
       {"../secret", "/etc/passwd", "a/../../secret", "", "a//b", "./a"}) {
    const auto layout = FindLayout(name, user.folders());
    EXPECT_FALSE(layout) << name;
  }
  EXPECT_THAT(FindLayout("x", user.folders()), FailsWith(ErrorCode::kConfig, "stay inside"));
}

TEST(FindLayoutTest, BothEndingsAtOnceAreAnErrorAndYmlAloneWorks) {  // section 4.2
  Overrides user;
  user.Write("layouts/a.yml", kBase);
  EXPECT_THAT(FindLayout("a", user.folders()), Succeeds());
  user.Write("layouts/a.yaml", kBase);
  EXPECT_THAT(FindLayout("a", user.folders()), FailsWith(ErrorCode::kConfig, "both exist"));
}

TEST(FindLayoutTest, AnAbsentTemplateIsNamedAtItsSection) {  // ASM-27
  Overrides user;
  user.Write("prompts/rules.md", "Be brief.");
  user.Write("layouts/x.yaml", "sections:\n  - {name: a, template: ruels.md}");
  EXPECT_THAT(FindLayout("x", user.folders()),
              FailsWith(ErrorCode::kConfig, "x.yaml:2:5: template ruels.md: not found (nearest: "));
}

TEST(FindLayoutTest, ATemplateWithFencesIsNeverCut) {  // ASM-25
  Overrides user;
  user.Write("prompts/t.md", "---\nplaceholders: {x: required}\nuntrusted: [x]\n---\n{x}");
  user.Write("layouts/x.yaml", "sections:\n  - {name: a, template: t.md, fit: head}");
  EXPECT_THAT(FindLayout("x", user.folders()),
              FailsWith(ErrorCode::kConfig, "a template with fenced values must keep fit whole"));
}

}  // namespace
}  // namespace dossier::assembly
