#include "driver/section_reader.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/files/file.h"
#include "base/hash.h"
#include "testing/result_matchers.h"

namespace dossier::driver {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

// Standard input that changes a file when it is read.
class Meddler final : public std::streambuf {
 public:
  Meddler(std::string path, std::string content)
      : path_(std::move(path)), content_(std::move(content)) {}

 protected:
  int_type underflow() override {
    EXPECT_THAT(WriteFileAtomic(path_, content_), Succeeds());
    return traits_type::eof();
  }

 private:
  const std::string path_, content_;
};

TEST(SectionReaderTest, AFileThatChangesBetweenTwoSectionsIsReadOnce) {  // ASM-9
  const TempFolder folder = std::move(*TempFolder::Make("sources"));
  const std::string path = folder.path() + "/notes.md";
  ASSERT_THAT(WriteFileAtomic(path, "before"), Succeeds());
  const auto layout = assembly::ParseLayout(R"(sections:
  - {name: first, zone: stable, source: file}
  - {name: between, zone: stable, source: data}
  - {name: second, zone: stable, source: file}
  - {name: other_spelling, zone: stable, source: file}
  - {name: hint, zone: stable, source: inspect}
  - {name: q, zone: request, text: Go}
)",
                                            "x.yaml");
  ASSERT_THAT(layout, Succeeds());
  assembly::Layout filled = *layout;
  filled.sections[4].with = JsonObject{{"path", path}};
  SectionReader reader(filled, {.counter = tokens::MakeCharCounter()});
  Meddler meddler(path, "after, and longer");
  std::istream in(&meddler);
  const auto sections = reader.ReadAll({{"first", "@" + path},
                                        {"between", "-"},
                                        {"second", "@" + path},
                                        {"other_spelling", "@" + folder.path() + "/./notes.md"}},
                                       in);
  ASSERT_THAT(sections, Succeeds());
  ASSERT_EQ(*ReadFile(path), "after, and longer") << "it did change in between";
  ASSERT_EQ(sections->size(), 5u);
  EXPECT_EQ((*sections)[0].content, "before");
  EXPECT_EQ((*sections)[2].content, "before");
  EXPECT_EQ((*sections)[3].content, "before") << "the same file by another path";
  EXPECT_EQ((*sections)[2].provenance, (*sections)[0].provenance);
  EXPECT_EQ(FindInt((*sections)[4].provenance, "bytes"), 6);
}

TEST(SectionReaderTest, AToolResultIsItsContent) {  // ASM-9
  const auto layout = assembly::ParseLayout(
      "sections:\n  - {name: h, zone: history, source: history}\n"
      "  - {name: q, zone: request, text: Go}\n",
      "x.yaml");
  ASSERT_THAT(layout, Succeeds());
  const auto read = [&](std::string_view fields) {
    SectionReader reader(*layout, {.counter = tokens::MakeCharCounter()});
    std::istringstream in(fmt::format(
        R"([{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1"{}}}]}}])",
        fields));
    return reader.ReadAll({{"h", "-"}}, in);
  };
  for (const std::string_view fields :
       {R"(,"content":"RAINY")", R"(,"text":"RAINY")",
        R"(,"content":[{"type":"text","text":"RAI"},{"type":"text","text":"NY"}])"}) {
    const auto sections = read(fields);
    ASSERT_THAT(sections, Succeeds()) << fields;
    EXPECT_EQ(sections->at(0).turns.at(0).blocks.at(0).text, "RAINY") << fields;
  }
  EXPECT_THAT(read(""), FailsWith(ErrorCode::kConfig, "section h: a tool_result needs content"));
  EXPECT_THAT(read(R"(,"content":[{"type":"image","url":"u"}])"),
              FailsWith(ErrorCode::kConfig, "may hold text parts only"));
}

// A user's layout in a folder of its own, and what of it is filled from outside.
class UserSectionsTest : public ::testing::Test {
 protected:
  Result<UserSections> Read(std::string_view name, const std::string& sections,
                            SectionMakers makers = {}) {
    EXPECT_THAT(MakeFolders(folder_.path() + "/layouts"), Succeeds());
    EXPECT_THAT(WriteFileAtomic(fmt::format("{}/layouts/{}.yaml", folder_.path(), name),
                                fmt::format("name: {}\nsections:\n{}", name, sections)),
                Succeeds());
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout layout,
                             assembly::FindLayout(name, {.overrides = {folder_.path()}}));
    return ReadUserSections(layout, {.makers = std::move(makers),
                                     .values = {{"question", "why?"}},
                                     .counter = tokens::MakeCharCounter()});
  }
  std::string File(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFileAtomic(folder_.path() + "/" + name, text), Succeeds());
    return folder_.path() + "/" + name;
  }

  const TempFolder folder_ = *TempFolder::Make("user-sections");
};

TEST_F(UserSectionsTest, WhatTheLayoutAddsIsFilledAndTheRestIsTheDrivers) {  // ASM-118
  const auto own = Read(
      "chat", fmt::format(R"(  - {{name: rules, zone: stable, source: file, with: {{path: {}}}}}
  - {{name: user_text, zone: request, source: data, required: true}}
  - {{name: history, zone: history, source: history, optional: true}}
)",
                          File("rules.md", "be brief")));
  ASSERT_THAT(own, Succeeds());
  ASSERT_EQ(own->sections.size(), 1u);
  EXPECT_EQ(own->sections[0].content, "be brief");
  EXPECT_TRUE(own->Has("rules"));
  EXPECT_FALSE(own->Has("user_text"));
  EXPECT_EQ(own->Hashes().at("rules"), Json(Sha256Hex("be brief")));
}

TEST_F(UserSectionsTest, AnotherSourceStandsForWhatTheDriverGives) {  // ASM-118
  const auto own = Read(
      "chat", fmt::format(R"(  - {{name: system_text, zone: system, source: data, optional: true}}
  - {{name: dynamic_context, zone: volatile, role: user, source: file, with: {{path: {}}}}}
  - {{name: user_text, zone: request, source: data, required: true}}
)",
                          File("context.md", "mine")));
  ASSERT_THAT(own, Succeeds());
  const std::vector<assembly::Section> all =
      own->With({{.name = "dynamic_context", .content = "its"}});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].content, "mine") << "the first of a name counts";
}

TEST_F(UserSectionsTest, MakersGetTheQuestion) {  // ASM-118
  std::string asked;
  const auto own = Read(
      "chat", R"(  - {name: known, zone: volatile, role: user, source: memory, with: {branch: n1}}
  - {name: user_text, zone: request, source: data, required: true}
)",
      {{"memory", [&](const Json& with, const SectionValues& values) {
          asked = values.at("question") + std::string(*FindString(with, "branch"));
          return Result<std::optional<std::string>>("icpx");
        }}});
  ASSERT_THAT(own, Succeeds());
  ASSERT_EQ(own->sections.size(), 1u);
  EXPECT_EQ(own->sections[0].content, "icpx");
  EXPECT_EQ(asked, "why?n1");
}

TEST_F(UserSectionsTest, WhatAMakerGivesIsShortenedAsTheLayoutSays) {  // ASM-118
  const auto own = Read("chat",
                        R"(  - {name: known, zone: volatile, role: user, source: memory, fit: items}
  - {name: user_text, zone: request, source: data, required: true}
)",
                        {{"memory", [](const Json&, const SectionValues&) {
                            return Result<std::optional<std::string>>("one\ntwo\n");
                          }}});
  ASSERT_THAT(own, Succeeds());
  ASSERT_EQ(own->sections.size(), 1u);
  EXPECT_EQ(own->sections[0].items, (std::vector<std::string>{"one", "two"}));
}

TEST_F(UserSectionsTest, TheHeaderOfAnAgentsLayoutIsTheDrivers) {  // ASM-118
  const auto own = Read(
      "agents_engineer",
      R"(  - {name: header, zone: volatile, role: user, source: header, trust: untrusted, fence: data, optional: true}
  - {name: go, zone: request, text: Go}
)",
      {{"header", [](const Json&, const SectionValues&) {
          ADD_FAILURE() << "the driver makes it";
          return Result<std::optional<std::string>>("x");
        }}});
  ASSERT_THAT(own, Succeeds());
  EXPECT_TRUE(own->sections.empty());
}

TEST_F(UserSectionsTest, TheNameInTheFileChangesNothing) {  // ASM-118
  ASSERT_THAT(MakeFolders(folder_.path() + "/layouts"), Succeeds());
  File("layouts/agents_engineer.yaml", R"(name: mine
sections:
  - {name: header, zone: volatile, role: user, source: header, trust: untrusted, fence: data, optional: true}
  - {name: go, zone: request, text: Go}
)");
  const auto layout = assembly::FindLayout("agents_engineer", {.overrides = {folder_.path()}});
  ASSERT_THAT(layout, Succeeds());
  const SectionMakers makers = {{"header", [](const Json&, const SectionValues&) {
                                   ADD_FAILURE() << "the driver makes it";
                                   return Result<std::optional<std::string>>("x");
                                 }}};
  const auto own =
      ReadUserSections(*layout, {.makers = makers, .counter = tokens::MakeCharCounter()});
  ASSERT_THAT(own, Succeeds());
  EXPECT_TRUE(own->sections.empty());
}

TEST_F(UserSectionsTest, WhatAConditionLeavesOutIsNotRead) {  // ASM-118
  const std::string last = "  - {name: user_text, zone: request, source: data, required: true}\n";
  const std::string absent = "  - {name: a, zone: stable, source: file, with: {path: none.md}, ";
  for (const char* condition : {"unless: question}\n", "when: small}\n", "unless: small}\n"}) {
    const auto own = Read("chat", absent + condition + last);
    ASSERT_THAT(own, Succeeds()) << condition;
    EXPECT_TRUE(own->sections.empty()) << condition;
  }
  const auto own = Read("chat", fmt::format("  - {{name: a, zone: stable, source: file, with: "
                                            "{{path: {}}}, when: small}}\n{}",
                                            File("rules.md", "be brief"), last));
  ASSERT_THAT(own, Succeeds());
  EXPECT_EQ(own->sections.size(), 1u) << "the prompt decides: what may be wanted is read";
}

TEST_F(UserSectionsTest, AssembleKnowsAllValuesAndReadsNoMore) {  // ASM-118
  const auto layout = assembly::ParseLayout(R"(sections:
  - {name: a, zone: stable, source: file, with: {path: none.md}, when: verbose}
  - {name: b, zone: stable, source: file, with: {path: none.md}, unless: brief}
  - {name: q, zone: request, text: Go}
)",
                                            "x.yaml");
  ASSERT_THAT(layout, Succeeds());
  std::istringstream in;
  SectionReader brief(*layout, {.values = {{"brief", "1"}}, .counter = tokens::MakeCharCounter()});
  EXPECT_THAT(brief.ReadAll({}, in), Succeeds());
  SectionReader verbose(*layout, {.values = {{"brief", "1"}, {"verbose", "1"}},
                                  .counter = tokens::MakeCharCounter()});
  EXPECT_THAT(verbose.ReadAll({}, in), FailsWith(ErrorCode::kNotFound, "section a: none.md"));
}

TEST_F(UserSectionsTest, ABuiltInLayoutReadsNothing) {  // ASM-118
  const auto layout = assembly::FindLayout("pack", {});
  ASSERT_THAT(layout, Succeeds());
  const auto own = ReadUserSections(*layout, {.counter = tokens::MakeCharCounter()});
  ASSERT_THAT(own, Succeeds());
  EXPECT_TRUE(own->sections.empty()) << "`pack` has a section of files";
}

TEST_F(UserSectionsTest, WhatIsNotThereIsAnErrorUnlessItMayMiss) {  // ASM-118
  const std::string last = "  - {name: user_text, zone: request, source: data, required: true}\n";
  EXPECT_THAT(
      Read("chat", "  - {name: a, zone: stable, source: file, with: {path: none.md}}\n" + last),
      FailsWith(ErrorCode::kNotFound, "section a: none.md not found"));
  EXPECT_THAT(Read("chat", "  - {name: a, zone: stable, source: environment}\n" + last),
              FailsWith(ErrorCode::kNotFound, "nothing fills the source environment here"));
  const auto own = Read(
      "chat",
      "  - {name: a, zone: stable, source: file, with: {path: none.md}, optional: true}\n" + last);
  ASSERT_THAT(own, Succeeds());
  EXPECT_TRUE(own->sections.empty());
}

}  // namespace
}  // namespace dossier::driver
