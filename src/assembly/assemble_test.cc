#include "assembly/assemble.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

Layout Parse(std::string_view yaml) {
  auto layout = ParseLayout(yaml, "test.yaml");
  EXPECT_THAT(layout, Succeeds());
  return layout.value_or(Layout{});
}

// A model that adds nothing of its own to the count.
Capability Plain() {
  return {.window = 1'000'000,
          .max_output = 1000,
          .tokens_per_message = 0,
          .tokens_per_request = 0};
}

AssembleOptions Options(std::map<std::string, std::string> variables = {}) {
  return {.variables = std::move(variables), .boundary = MakeBoundary(1), .boundary_seed = 1};
}

std::string NumberedLines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += fmt::format("line {:02}\n", i);
  return text;
}

constexpr std::string_view kWorkedCase = R"(schema: dossier.layout/1
name: worked
sections:
  - {name: rules, zone: system, source: text, text: Be brief., required: true}
  - {name: notes, zone: stable, source: files, trust: trusted, fence: tag, fit: head}
  - {name: question, zone: request, source: var, with: {var: question}, required: true}
)";

TEST(AssembleTest, TheWorkedCaseOfTheSpecComesOutByteForByte) {  // ASM-47, ASM-30, ASM-45
  const Layout layout = Parse(kWorkedCase);
  const std::vector<Section> sections = {{.name = "notes", .content = NumberedLines(10)}};
  const auto prompt = Assemble(layout, sections, {.tokens = 100}, Plain(),
                               *tokens::MakeCharCounter(), Options({{"question", "How many?"}}));
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(prompt->messages.SystemText(), "Be brief.");
  ASSERT_EQ(prompt->messages.turns.size(), 1u);
  EXPECT_EQ(prompt->messages.turns[0].Text(),
            "<notes>\nline 01\nline 02\nline 03\n[left out: 7 of 10 lines of notes]\n</notes>\n\n"
            "How many?");
  EXPECT_EQ(prompt->tokens, 95);
  EXPECT_TRUE(prompt->tokens_exact);
}

}  // namespace
}  // namespace dossier::assembly
