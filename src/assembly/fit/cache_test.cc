// Breakpoints, comparison of two calls, model data that is old (sections 4.7 and 4.9 of the spec).

#include <gtest/gtest.h>

#include "assembly/assemble.h"
#include "assembly/fit/part.h"
#include "assembly/fit/report.h"
#include "base/hash.h"
#include "testing/test_prompts.h"

namespace dossier::assembly {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;

constexpr std::string_view kLayout = R"(cache: {ttl: 5m}
sections:
  - {name: rules, zone: system, text: Rules of the house}
  - {name: facts, zone: stable, source: var, with: {var: facts}}
  - {name: past, zone: history, source: history}
  - {name: ask, zone: request, text: "What now?"}
)";

Capability Explicit(int breakpoints = 4, std::int64_t min_prefix = 0) {
  Capability model = Plain();
  model.cache = {.mode = CacheRules::Mode::kExplicit,
                 .min_prefix = min_prefix,
                 .breakpoints = breakpoints,
                 .ttl = {"5m", "1h"}};
  return model;
}

std::vector<Turn> Exchanges(int count) {
  std::vector<Turn> turns;
  for (int i = 0; i < count; ++i) {
    turns.push_back(Says(Role::kUser, fmt::format("question {}", i)));
    turns.push_back(Says(Role::kAssistant, fmt::format("answer {}", i)));
  }
  return turns;
}

Assembled Make(const Layout& layout, const Capability& model, std::vector<Turn> turns,
               const std::string& facts = "Facts", Json previous = nullptr) {
  AssembleOptions options = Options({{"facts", facts}});
  options.previous = std::move(previous);
  const std::vector<Section> sections = {{.name = "past", .turns = std::move(turns)}};
  auto prompt = Assemble(layout, sections, {}, model, *tokens::MakeCharCounter(), options);
  EXPECT_THAT(prompt, Succeeds());
  return prompt.value_or(Assembled{});
}

// The texts that a breakpoint follows, with its lifetime, in order.
std::vector<std::string> Marked(const Messages& messages) {
  std::vector<std::string> out;
  const auto look = [&](const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      if (block.cache) out.push_back(block.text + block.call_id + "@" + *block.cache);
    }
  };
  look(messages.system);
  for (const Turn& turn : messages.turns) look(turn.blocks);
  return out;
}

const Json& Cache(const Assembled& prompt) { return *Find(prompt.report, "cache"); }

using Texts = std::vector<std::string>;

TEST(CacheTest, BreakpointsStandByWorthAtTheEndsOfZones) {  // ASM-72, ASM-T8
  const Layout layout = Parse(kLayout);
  const std::vector<Turn> turns = Exchanges(3);
  EXPECT_EQ(Marked(Make(layout, Explicit(4), turns).messages),
            (Texts{"Rules of the house@5m", "Facts@5m", "answer 1@5m", "answer 2@5m"}));
  EXPECT_EQ(Marked(Make(layout, Explicit(3), turns).messages),
            (Texts{"Rules of the house@5m", "Facts@5m", "answer 1@5m"}));
  EXPECT_EQ(Marked(Make(layout, Explicit(1), turns).messages), (Texts{"Rules of the house@5m"}));
  EXPECT_EQ(Marked(Make(layout, Explicit(4), {}).messages),
            (Texts{"Rules of the house@5m", "Facts@5m"}));
}

TEST(CacheTest, WhereCachingIsAutomaticOrUnknownNothingIsMarked) {  // ASM-77, ASM-T8
  const Layout layout = Parse(kLayout);
  Capability model = Explicit();
  for (const auto mode : {CacheRules::Mode::kNone, CacheRules::Mode::kAutomatic}) {
    model.cache.mode = mode;
    const Assembled prompt = Make(layout, model, Exchanges(3));
    EXPECT_TRUE(Marked(prompt.messages).empty());
    EXPECT_TRUE(Find(Cache(prompt), "points")->get_array().empty());
  }
}

TEST(CacheTest, APointBelowTheMinimumIsReportedAndNotSent) {  // ASM-73, ASM-T8
  const Assembled prompt = Make(Parse(kLayout), Explicit(4, 25), Exchanges(3));
  EXPECT_EQ(Marked(prompt.messages), (Texts{"answer 1@5m", "answer 2@5m"}));
  const JsonArray& points = Find(Cache(prompt), "points")->get_array();
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(FindString(points[0], "why"), "below-minimum");
  EXPECT_EQ(FindInt(points[0], "prefix_tokens"), 18);
  EXPECT_EQ(FindBool(points[0], "placed"), false);
  EXPECT_EQ(FindInt(points[1], "prefix_tokens"), 23);
  EXPECT_EQ(FindBool(points[3], "placed"), true);
}

TEST(CacheTest, ALongToolTurnGetsAPointEach15BlocksSoThatTheLookBackReachesOne) {  // ASM-72, ASM-T8
  std::vector<Turn> turns = {Says(Role::kUser, "start")};
  for (int i = 0; i < 20; ++i) {
    const std::string id = std::to_string(i);
    turns.push_back(
        {Role::kAssistant, {{.type = Block::Type::kToolCall, .call_id = id, .tool_name = "look"}}});
    turns.push_back(
        {Role::kTool, {{.type = Block::Type::kToolResult, .text = "seen ", .call_id = id}}});
  }
  const Assembled prompt = Make(Parse(kLayout), Explicit(6), turns);
  const Texts marked = Marked(prompt.messages);
  EXPECT_EQ(marked, (Texts{"Rules of the house@5m", "Facts@5m", "seen 4@5m", "12@5m", "seen 18@5m",
                           "seen 19@5m"}));
}

TEST(CacheTest, ALongerLifetimeNeverStandsBehindAShorterOne) {  // ASM-72, ASM-T8
  const Layout layout = Parse(R"(cache: {ttl: {system: 5m, stable: 1h}}
sections:
  - {name: rules, zone: system, text: Rules}
  - {name: facts, zone: stable, source: var, with: {var: facts}}
  - {name: past, zone: history, source: history}
  - {name: ask, zone: request, text: "What now?"}
)");
  EXPECT_EQ(Marked(Make(layout, Explicit(3), Exchanges(1)).messages),
            (Texts{"Rules@1h", "Facts@1h", "answer 0@5m"}));
  const Layout odd = Parse(
      "cache: {ttl: 30m}\nsections: [{name: q, zone: request, text: x}, "
      "{name: s, zone: system, text: y}]");
  const Assembled prompt = Make(odd, Explicit(), {});
  EXPECT_EQ(Marked(prompt.messages), (Texts{"y@5m"}));
  EXPECT_NE(ToJson(prompt.report).find("keeps no prefix for 30m: 5m is asked for"),
            std::string::npos);
}

TEST(CacheTest, WarmFirstReachesTheDriver) {  // ASM-76
  const Layout layout =
      Parse("cache: {warm_first: true}\nsections: [{name: q, zone: request, text: x}]");
  const Assembled prompt = Make(layout, Plain(), {});
  EXPECT_EQ(prompt.warm_first, LayoutCache::WarmFirst::kYes);
  EXPECT_EQ(FindBool(Cache(prompt), "warm_first"), true);
}

TEST(CompareTest, OneChangedByteInEachSectionIsFoundWithItsCost) {  // ASM-74, ASM-T9
  std::string yaml = "sections:\n";
  std::map<std::string, std::string> texts;
  for (int i = 0; i < 5; ++i) {
    yaml += fmt::format("  - {{name: s{0}, zone: {1}, source: var, with: {{var: s{0}}}}}\n", i,
                        i == 0  ? "system"
                        : i < 4 ? "stable"
                                : "request");
    texts[fmt::format("s{}", i)] = std::string(10'000, static_cast<char>('a' + i));
  }
  const Layout layout = Parse(yaml);
  const auto report = [&](const std::map<std::string, std::string>& values) {
    return Assemble(layout, {}, {}, Plain(), *tokens::MakeCharCounter(), Options(values))->report;
  };
  const Json before = report(texts);
  EXPECT_FALSE(Compare(before, before).found);
  EXPECT_EQ(Compare(before, before).tokens_lost, 0);
  for (int i = 0; i < 5; ++i) {
    for (const std::size_t at : {0u, 700u, 5000u, 9999u}) {
      auto changed = texts;
      changed[fmt::format("s{}", i)][at] = '!';
      const Comparison found = Compare(before, report(changed));
      ASSERT_TRUE(found.found);
      EXPECT_EQ(found.section, fmt::format("s{}", i));
      const std::int64_t step = at < 4096 ? 256 : 4096;
      EXPECT_EQ(found.byte, static_cast<std::int64_t>(at) / step * step);
      EXPECT_EQ(found.common_tokens, 10'000 * i + found.byte);
      EXPECT_EQ(found.tokens_lost, std::max<std::int64_t>(40'000 - found.common_tokens, 0));
    }
  }
}

TEST(CompareTest, AGrowingHistoryLosesNothing) {  // ASM-74
  const Layout layout = Parse(kLayout);
  Capability model = Explicit();
  model.cache.step = 8;
  const Assembled before = Make(layout, model, Exchanges(200));
  const Assembled after = Make(layout, model, Exchanges(201), "Facts", before.report);
  const Json& first = *Find(Cache(after), "first_difference");
  EXPECT_EQ(FindString(first, "section"), "past");
  EXPECT_LT(*FindInt(first, "tokens_lost"), 4096);
  const std::int64_t cached = *FindInt(Cache(after), "expected_cached");
  EXPECT_EQ(cached % 8, 0);
  EXPECT_GT(cached, 2000);
  model.cache.min_prefix = 1'000'000;
  EXPECT_EQ(FindInt(Cache(Make(layout, model, Exchanges(201), "Facts", before.report)),
                    "expected_cached"),
            0);
}

TEST(CompareTest, AnotherOrderAndAMissingSectionAreDifferences) {  // ASM-74
  const Layout layout = Parse(kLayout);
  const Assembled before = Make(layout, Plain(), Exchanges(1));
  const Assembled without = Make(layout, Plain(), {});
  EXPECT_EQ(Compare(before.report, without.report).section, "ask");
  EXPECT_EQ(Compare(without.report, before.report).section, "past");
  EXPECT_TRUE(Compare(JsonObject(), before.report).found);
}

TEST(CompareTest, MarksAreHashesOfPrefixes) {  // ASM-74
  const std::string text(9000, 'x');
  std::string sha256;
  const std::string marks = PrefixMarks(text, &sha256);
  EXPECT_EQ(sha256, Sha256Hex(text));
  EXPECT_EQ(marks.size(), 8u * (16 + 1));
  EXPECT_EQ(marks.substr(0, 8), Sha256Hex(text.substr(0, 256)).substr(0, 8));
  EXPECT_EQ(marks.substr(marks.size() - 8), Sha256Hex(text.substr(0, 8192)).substr(0, 8));
}

TEST(EntryTest, ModelDataOlderThan180DaysIsWarnedOf) {  // ASM-90
  const Layout layout = Parse("sections: [{name: q, zone: request, text: x}]");
  Capability model = Plain();
  model.entry = JsonObject{{"as_of", "2026-01-01"}, {"source", "https://example.org"}};
  const auto warnings = [&](std::string_view today) {
    AssembleOptions options = Options();
    options.today = today;
    const auto prompt = Assemble(layout, {}, {}, model, *tokens::MakeCharCounter(), options);
    EXPECT_EQ(FindString(*Find(prompt->report, "entry"), "source"), "https://example.org");
    return Find(prompt->report, "warnings")->get_array().size();
  };
  EXPECT_EQ(warnings("2026-06-30"), 0u);  // 180 days
  EXPECT_EQ(warnings("2026-07-01"), 1u);
  EXPECT_EQ(warnings(""), 0u);
}

Section Picture() {
  return {
      .name = "pic",
      .parts = {{.text = "Look:"},
                {.type = Block::Type::kImage, .text = "iVBORw0KGgo=", .media_type = "image/png"}}};
}

TEST(PartsTest, TypedPartsPassUntouchedAndAnImageCostsWhatTheEntrySays) {  // ASM-7
  const Layout layout = Parse(R"(sections:
  - {name: pic, zone: stable, source: data, trust: untrusted}
  - {name: q, zone: request, text: "What is it?"}
)");
  Capability model = Plain();
  model.image_tokens = 1500;
  const std::vector<Section> sections = {Picture()};
  const auto counter = tokens::MakeCharCounter();
  const auto prompt = Assemble(layout, sections, {}, model, *counter, Options());
  ASSERT_THAT(prompt, Succeeds());
  EXPECT_EQ(prompt->tokens, 1500 + 5 + 2 + 11);
  ASSERT_EQ(prompt->messages.turns[0].blocks.size(), 3u);
  EXPECT_EQ(prompt->messages.turns[0].blocks[1].text, "iVBORw0KGgo=");
  EXPECT_EQ(prompt->messages.turns[0].Text(), "Look:\n\nWhat is it?");
  EXPECT_EQ(FindInt(ReportOf(*prompt, "pic"), "tokens"), 1505);
  EXPECT_THAT(Assemble(layout, sections, {.tokens = 1000}, model, *counter, Options()),
              FailsWith(ErrorCode::kTooLong, "raise --budget to"));
  model.image_tokens.reset();
  EXPECT_THAT(Assemble(layout, sections, {}, model, *counter, Options()),
              FailsWith(ErrorCode::kConfig, "takes no images"));
}

}  // namespace
}  // namespace dossier::assembly
