// Small helpers that the tests of this module share.

#ifndef DOSSIER_TESTING_TEST_PROMPTS_H_
#define DOSSIER_TESTING_TEST_PROMPTS_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "assembly/assemble.h"
#include "testing/result_matchers.h"

namespace dossier::assembly {

inline Layout Parse(std::string_view yaml) {
  auto layout = ParseLayout(yaml, "test.yaml");
  EXPECT_THAT(layout, ::dossier::testing::Succeeds());
  return layout.value_or(Layout{});
}

// A model that adds nothing of its own to the count.
inline Capability Plain() {
  return {
      .window = 1'000'000, .max_output = 1000, .tokens_per_message = 0, .tokens_per_request = 0};
}

inline AssembleOptions Options(std::map<std::string, std::string> variables = {}) {
  return {.variables = std::move(variables), .boundary = MakeBoundary(1), .boundary_seed = 1};
}

inline Turn Says(Role role, std::string_view text) { return {role, {{.text = std::string(text)}}}; }

// The section `name` of a report; null if it is not there.
inline Json ReportOf(const Assembled& prompt, std::string_view name) {
  for (const Json& section : Find(prompt.report, "sections")->get_array()) {
    if (FindString(section, "name") == name) return section;
  }
  return nullptr;
}

// "user: text\n\n---\n\n…": a whole prompt to compare at once.
inline std::string Transcript(const Messages& messages) {
  std::string out;
  if (!messages.system.empty()) out = "system: " + messages.SystemText();
  for (const Turn& turn : messages.turns) {
    if (!out.empty()) out += "\n---\n";
    out += std::string(RoleName(turn.role)) + ": " + turn.Text();
  }
  return out;
}

}  // namespace dossier::assembly

#endif  // DOSSIER_TESTING_TEST_PROMPTS_H_
