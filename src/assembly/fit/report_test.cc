// Thousands of random prompts: the budget always holds, nothing is wasted, and every report is one
// that the shipped schema describes.

#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "assembly/fit/part.h"
#include "base/files/file.h"
#include "base/random.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::Succeeds;

bool HasType(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_int64() || value.is_uint64();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  return type == "null" && value.is_null();
}

bool HasOneOfTypes(const Json& value, const Json& types) {
  if (types.is_string()) return HasType(value, types.get_string());
  const JsonArray& list = types.get_array();
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& type) { return HasType(value, type.get_string()); });
}

// Returns the schema keywords that `value` violates; empty if none.
std::string Violation(const Json& value, const Json& schema, const std::string& path) {
  if (const Json* types = Find(schema, "type"); types && !HasOneOfTypes(value, *types)) {
    return path + ": wrong type " + dossier::ToJson(value);
  }
  if (const Json* constant = Find(schema, "const"); constant && value != *constant) {
    return path + ": not " + dossier::ToJson(*constant);
  }
  if (const Json* choices = Find(schema, "enum")) {
    const JsonArray& list = choices->get_array();
    if (std::find(list.begin(), list.end(), value) == list.end()) {
      return path + ": " + dossier::ToJson(value) + " is no choice";
    }
  }
  if (value.is_number()) {
    const double number = value.to_number<double>();
    if (number < FindNumber(schema, "minimum").value_or(number)) return path + ": too small";
    if (number > FindNumber(schema, "maximum").value_or(number)) return path + ": too large";
  }
  if (value.is_array() && Find(schema, "items")) {
    for (const Json& item : value.get_array()) {
      std::string violation = Violation(item, *Find(schema, "items"), path + "[]");
      if (!violation.empty()) return violation;
    }
  }
  if (!value.is_object()) return {};
  if (const Json* required = Find(schema, "required")) {
    for (const Json& key : required->get_array()) {
      if (!Find(value, key.get_string())) return path + ": misses " + dossier::ToJson(key);
    }
  }
  const Json* properties = Find(schema, "properties");
  if (!properties) return {};
  for (const auto& [key, inner] : value.get_object()) {
    const Json* rule = Find(*properties, key);
    if (!rule) return path + ": undeclared key " + std::string(key);
    std::string violation = Violation(inner, *rule, path + "." + std::string(key));
    if (!violation.empty()) return violation;
  }
  return {};
}

const Json& ReportSchema() {
  static const Json schema = [] {
    const auto text = ReadFile(DOSSIER_SOURCE_DIR "/docs/schemas/assembly-report.schema.json");
    EXPECT_THAT(text, Succeeds());
    const auto json = ParseJson(text.value_or("{}"));
    EXPECT_THAT(json, Succeeds());
    return json.value_or(Json(JsonObject()));
  }();
  return schema;
}

// A random layout with content for all of its sections.
struct RandomPrompt {
  Layout layout;
  std::vector<Section> sections;
  Capability model;
};

LayoutSection RandomRule(Random& random, int number) {
  constexpr Zone kZones[] = {Zone::kSystem, Zone::kStable, Zone::kStable, Zone::kVolatile,
                             Zone::kHistory};
  constexpr Fit kFits[] = {Fit::kWhole,  Fit::kHead,  Fit::kTail,
                           Fit::kMiddle, Fit::kItems, Fit::kHead};
  constexpr FenceKind kFences[] = {FenceKind::kNone, FenceKind::kTag, FenceKind::kHeading,
                                   FenceKind::kGrowing, FenceKind::kData};
  LayoutSection rule;
  rule.name = fmt::format("s{}", number);
  rule.zone = kZones[random.Below(5)];
  rule.role = rule.zone == Zone::kSystem                           ? Role::kSystem
              : rule.zone == Zone::kStable && random.Below(2) == 0 ? Role::kAssistant
                                                                   : Role::kUser;
  rule.source = "data";
  rule.fence = kFences[random.Below(5)];
  rule.fit = rule.zone == Zone::kHistory ? Fit::kHistory : kFits[random.Below(6)];
  rule.priority = static_cast<double>(random.Below(10)) / 10;
  rule.weight = static_cast<std::int64_t>(random.Below(4));
  if (random.Below(3) == 0) rule.floor = static_cast<std::int64_t>(random.Below(200));
  if (random.Below(5) == 0) rule.cap = static_cast<std::int64_t>(random.Below(300)) + 1;
  if (random.Below(8) == 0) rule.cap_chars = static_cast<std::int64_t>(random.Below(300)) + 1;
  if (random.Below(8) == 0) rule.tokens = static_cast<std::int64_t>(random.Below(200)) + 1;
  if (random.Below(8) == 0) rule.need = LayoutSection::Need::kRequired;
  return rule;
}

std::string RandomText(Random& random) {
  std::string text = "x";
  for (std::uint64_t lines = random.Below(20); lines > 0; --lines) {
    text += random.Below(6) == 0 ? random.Utf8(200) : std::string(random.Below(60), 'a');
    text += '\n';
  }
  return text;
}

Section RandomContent(Random& random, const LayoutSection& rule) {
  Section section{.name = rule.name};
  if (rule.zone == Zone::kHistory) {
    constexpr Role kRoles[] = {Role::kUser, Role::kAssistant, Role::kUser};
    for (std::uint64_t turns = random.Below(12); turns > 0; --turns) {
      const Role role = kRoles[random.Below(3)];  // apart: arguments have no order
      section.turns.push_back(Says(role, RandomText(random)));
    }
  } else if (rule.fit == Fit::kItems) {
    for (std::uint64_t items = random.Below(12); items > 0; --items) {
      section.items.push_back(std::string(random.Below(80), 'i'));
    }
  } else {
    section.content = random.Below(10) == 0 ? "" : RandomText(random);
  }
  return section;
}

RandomPrompt MakeRandom(Random& random) {
  RandomPrompt out;
  const int count = static_cast<int>(random.Below(8)) + 1;
  for (int i = 0; i < count; ++i) {
    out.layout.sections.push_back(RandomRule(random, i));
    const LayoutSection& rule = out.layout.sections.back();
    if (random.Below(10) > 0) out.sections.push_back(RandomContent(random, rule));
  }
  LayoutSection ask{.name = "ask", .zone = Zone::kRequest, .source = "text", .text = "What now?"};
  out.layout.sections.push_back(ask);
  out.layout.name = "random";
  if (random.Below(3) == 0) out.layout.cascade = {"s0", "s2"};
  out.model.window = 1'000'000;
  out.model.merge_same_role = random.Below(2) == 0;
  out.model.assistant_first = random.Below(2) == 0;
  out.model.user_after_tool = random.Below(2) == 0;
  out.model.system_role = random.Below(4) == 0 ? "none" : "field";
  out.model.tokens_per_message = static_cast<std::int64_t>(random.Below(6));
  out.model.tokens_per_request = static_cast<std::int64_t>(random.Below(6));
  return out;
}

// A text that is quoted grows by more than a token for a line.
bool IsQuoted(const Json& report) {
  for (const Json& repair : Find(report, "repairs")->get_array()) {
    if (FindString(repair, "rule") == "R-3") return true;
  }
  return false;
}

// A section that could have used a free token: cut inside a line, without caps.
bool CouldUseMore(const Json& section, const Json& report, const Layout& layout) {
  if (FindString(section, "outcome") != "cut" || IsQuoted(report)) return false;
  const Json* left_out = Find(section, "left_out");
  if (!left_out || FindString(*left_out, "unit") != "chars") return false;
  for (const LayoutSection& rule : layout.sections) {
    if (rule.name == FindString(section, "name")) {
      return !rule.cap && !rule.cap_chars && !rule.tokens;
    }
  }
  return false;
}

class BudgetProperty : public ::testing::TestWithParam<int> {
 protected:
  static std::shared_ptr<const tokens::Counter> CounterOf(int kind) {
    if (kind == 0) return tokens::MakeCharCounter();
    return *tokens::MakeEstimator({.bytes_per_token = 3.3, .margin = kind == 1 ? 0.15 : 0.1});
  }
};

// ASM-30, ASM-36, ASM-37, ASM-39, ASM-100, ASM-T2
TEST_P(BudgetProperty, NoRandomPromptExceedsItsBudgetAndEveryReportIsValid) {
  const auto counter = CounterOf(GetParam());
  Random random(/*seed=*/100 + static_cast<std::uint64_t>(GetParam()));
  int fitting = 0, cut = 0;
  for (int round = 0; round < 3500; ++round) {
    const RandomPrompt prompt = MakeRandom(random);
    const std::uint64_t most = random.Below(3) == 0 ? 200 : 3000;
    const auto budget = static_cast<std::int64_t>(random.Below(most));
    const auto made = Assemble(prompt.layout, prompt.sections, {.tokens = budget}, prompt.model,
                               *counter, Options());
    if (!made) {
      const bool expected = made.error().code == ErrorCode::kTooLong ||
                            made.error().code == ErrorCode::kNotFound ||
                            made.error().message.find("its cap") != std::string::npos;
      ASSERT_TRUE(expected) << made.error().message;
      continue;
    }
    ++fitting;
    const Tally tally = CountRequest(made->messages, prompt.model, *counter);
    ASSERT_EQ(tally.total(), made->tokens) << "round " << round;
    ASSERT_LE((tokens::Count{.tokens = made->tokens, .margin = counter->margin()}.upper()), budget)
        << "round " << round;
    // The headroom is what a driver may still add, to the token.
    const auto upper = [&](std::int64_t tokens) {
      return tokens::Count{.tokens = tokens, .margin = counter->margin()}.upper();
    };
    ASSERT_LE(upper(made->tokens + made->headroom), budget) << "round " << round;
    ASSERT_GT(upper(made->tokens + made->headroom + 1), budget) << "round " << round;
    ASSERT_EQ(Violation(made->report, ReportSchema(), "report"), "") << "round " << round;
    for (const Json& section : Find(made->report, "sections")->get_array()) {
      if (!CouldUseMore(section, made->report, prompt.layout)) continue;
      ++cut;
      EXPECT_LE(made->headroom, GetParam() == 0 ? 0 : 1)
          << "round " << round << " " << dossier::ToJson(section);
    }
  }
  EXPECT_GT(fitting, 500);
  EXPECT_GT(cut, 10);
}

INSTANTIATE_TEST_SUITE_P(Counters, BudgetProperty, ::testing::Values(0, 1, 2));

TEST(BudgetTest, TheBudgetThatAnErrorNamesWouldDo) {  // ASM-31
  Random random(/*seed=*/9);
  const auto counter = tokens::MakeCharCounter();
  int tried = 0;
  for (int round = 0; round < 1000; ++round) {
    const RandomPrompt prompt = MakeRandom(random);
    const auto small =
        Assemble(prompt.layout, prompt.sections, {.tokens = 5}, prompt.model, *counter, Options());
    if (small || small.error().code != ErrorCode::kTooLong) continue;
    const std::string& message = small.error().message;
    std::string number = message.substr(message.find("--budget to ") + 12);
    number = number.substr(0, number.find(' '));
    std::erase(number, ',');
    const auto enough = Assemble(prompt.layout, prompt.sections, {.tokens = std::stoll(number)},
                                 prompt.model, *counter, Options());
    EXPECT_THAT(enough, Succeeds()) << message;
    ++tried;
  }
  EXPECT_GT(tried, 100);
}

TEST(ReportTest, NamesEverySectionOfTheLayoutInPromptOrder) {  // ASM-100
  const Layout layout = Parse(R"(name: n
sections:
  - {name: ask, zone: request, text: Hello}
  - {name: gone, zone: stable, source: data, fit: head}
  - {name: empty, zone: stable, source: data}
  - {name: absent, zone: stable, source: data, optional: true}
  - {name: skipped, zone: system, text: No, when: never}
)");
  const std::vector<Section> sections = {
      {.name = "gone", .content = std::string(500, 'g'), .provenance = JsonObject{{"kind", "x"}}},
      {.name = "empty"}};
  const auto prompt =
      Assemble(layout, sections, {.tokens = 20}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(Violation(prompt->report, ReportSchema(), "report"), "");
  struct Row {
    std::string_view name, outcome, reason;
  };
  constexpr Row kRows[] = {{"skipped", "absent", "condition"},
                           {"gone", "dropped", "under-min"},
                           {"empty", "empty", "no-content"},
                           {"absent", "absent", "no-content"},
                           {"ask", "kept", ""}};
  const JsonArray& reported = Find(prompt->report, "sections")->get_array();
  ASSERT_EQ(reported.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(FindString(reported[i], "name"), kRows[i].name);
    EXPECT_EQ(FindString(reported[i], "outcome"), kRows[i].outcome);
    EXPECT_EQ(FindString(reported[i], "reason").value_or(""), kRows[i].reason);
  }
  EXPECT_EQ(FindString(*Find(reported[1], "provenance"), "kind"), "x");
}

TEST(ReportTest, TheCheckOfTheSchemaFindsWhatIsWrong) {  // ASM-100
  const Layout layout = Parse("sections: [{name: q, zone: request, text: Hi}]");
  const auto prompt = Assemble(layout, {}, {}, Plain(), *tokens::MakeCharCounter(), Options());
  ASSERT_THAT(prompt, Succeeds());
  Json broken = prompt->report;
  broken.as_object()["extra"] = 1;
  EXPECT_NE(Violation(broken, ReportSchema(), "report"), "");
  broken = prompt->report;
  broken.as_object().erase("budget");
  EXPECT_NE(Violation(broken, ReportSchema(), "report"), "");
  broken = prompt->report;
  broken.as_object()["sections"].as_array()[0].as_object()["outcome"] = "lost";
  EXPECT_NE(Violation(broken, ReportSchema(), "report"), "");
}

}  // namespace
}  // namespace dossier::assembly
