#include "research/call/call_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "assembly/fit/prompt_log.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "research/call/caller.h"
#include "testing/result_matchers.h"
#include "testing/scripted_model_for_test.h"
#include "testing/store_for_test.h"

namespace dossier::research {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Sections of all layouts that are in every prompt or in the prefix.
const std::set<std::string> kShared = {"tools",  "role",           "system",    "memory_help",
                                       "memory", "idea",           "resources", "environment",
                                       "domain", "memory_results", "feedback"};

// Returns a section value that is the same in all prompts.
OwnSection Example(const std::string& name) {
  if (name == "image" || name == "images") {
    return {name, nullptr, {{.type = assembly::Block::Type::kImage, .url = "http://x/a.png"}}};
  }
  if (name == "history") {
    return {name,
            nullptr,
            {},
            {{assembly::Role::kUser, {{.text = "Draw."}}},
             {assembly::Role::kAssistant, {{.text = "earlier reply"}}}}};
  }
  return {name, Json(fmt::format("value of {}", name))};
}

// True for sections that the code of the call must supply.
bool IsOfCall(const assembly::LayoutSection& section) {
  const bool own =
      section.zone == assembly::Zone::kVolatile || section.zone == assembly::Zone::kHistory;
  return own && section.source != "template" && !kShared.contains(section.name);
}

CallRequest ExampleRequest(const CallSite& site, const assembly::Layout& layout) {
  CallRequest request{.site = std::string(site.name), .scope = {.stage = "1_a_1_b"}};
  request.prefix = {.domain = "Language: cpp.",
                    .idea = JsonObject{{"Title", "Sorting"}, {"Experiments", JsonArray{"a", "b"}}},
                    .environment = "- cpu_info: two cores",
                    .resources = "none",
                    .plan = JsonObject{{"goal_summary", "sort fast"}}};
  for (const assembly::LayoutSection& section : layout.sections) {
    if (IsOfCall(section)) request.sections.push_back(Example(section.name));
  }
  return request;
}

class GoldenPrompts : public ::testing::Test {
 protected:
  std::unique_ptr<RoleCaller> Open(memory::Store* store) {
    auto log =
        ResearchLog::Start(temp_.path() + (store ? "/with" : "/without"), {}, SystemClock(), {});
    EXPECT_TRUE(log) << log.error().message;
    logs_.push_back(*std::move(log));
    auto caller = RoleCaller::Open({.log = logs_.back().get(),
                                    .memory = {.store = SharedBy(store)},
                                    .ledger = &ledger_,
                                    .open = model_.Open(),
                                    .run_folder = temp_.path(),
                                    .variables = {{"mount", "/workspace"},
                                                  {"output_name", "x_data.npy"},
                                                  {"max_figures", "12"},
                                                  {"page_limit", "8"},
                                                  {"count", "12"}},
                                    .boundary_seed = 1});
    EXPECT_TRUE(caller) << caller.error().message;
    return *std::move(caller);
  }

  // Returns the prompt as text, one heading per block.
  static std::string AsText(const JsonObject& preview) {
    std::string out;
    const Json& messages = *Find(preview, "messages");
    const auto add = [&](const Json& blocks) {
      for (const Json& block : blocks.get_array()) {
        const auto text = FindString(block, "text");
        out += fmt::format("=== {}\n{}\n", FindString(block, "section").value_or(""),
                           text ? std::string(*text) : ToJson(block));
      }
    };
    add(*Find(messages, "system"));
    for (const Json& turn : Find(messages, "turns")->get_array()) add(*Find(turn, "blocks"));
    return out;
  }

  // Compares with tests/golden/research/NAME.txt, or writes it if DOSSIER_WRITE_GOLDEN is set.
  static void Compare(const std::string& name, const std::string& text) {
    const std::string path =
        fmt::format("{}/tests/golden/research/{}.txt", DOSSIER_SOURCE_DIR, name);
    if (std::getenv("DOSSIER_WRITE_GOLDEN")) {
      ASSERT_TRUE(MakeFolders(path.substr(0, path.rfind('/'))));
      ASSERT_TRUE(WriteFileAtomic(path, text));
    }
    EXPECT_EQ(ReadFile(path).value_or("(no file)"), text) << path;
  }

  TempFolder temp_ = *TempFolder::Make("golden");
  ScriptedModel model_;
  model::Ledger ledger_{{}, SystemClock()};
  std::vector<std::unique_ptr<ResearchLog>> logs_;
};

TEST_F(GoldenPrompts, OfEveryCallSiteWithAndWithoutMemory) {  // RSP-T1
  memory::TestStore store;
  ASSERT_TRUE(store.Set("compiler", "g++ 12"));
  const auto with = Open(&*store), without = Open(nullptr);
  for (const CallSite& site : CallSites()) {
    const auto layout = assembly::FindLayout(site.layout, {});
    ASSERT_TRUE(layout) << layout.error().message;
    CallRequest request = ExampleRequest(site, *layout);
    request.memory_round = CallRequest::MemoryRound::kNo;
    const std::string name(site.name);
    auto plain = without->Preview(request);
    ASSERT_TRUE(plain) << name << ": " << plain.error().message;
    Compare(name, AsText(*plain));
    EXPECT_THAT(AsText(*plain), Not(HasSubstr("memory_update"))) << name;
    auto other = with->Preview(request);
    ASSERT_TRUE(other) << name << ": " << other.error().message;
    if (site.memory_hint.empty()) {
      EXPECT_EQ(AsText(*other), AsText(*plain)) << name;
    } else {
      Compare(name + "_with_memory", AsText(*other));
      EXPECT_THAT(AsText(*other), HasSubstr("g++ 12")) << name;
      EXPECT_THAT(AsText(*other), HasSubstr("<memory_update>")) << name;
    }
    for (const OwnSection& section : request.sections) {
      if (!section.value.is_string()) continue;
      EXPECT_THAT(AsText(*plain), HasSubstr(section.value.get_string().c_str())) << name;
    }
  }
}

TEST_F(GoldenPrompts, ARoundForMemoryAloneDoesNotAskTheTask) {  // MEM-29
  memory::TestStore store;
  const auto caller = Open(&*store);
  for (const CallSite& site : CallSites()) {
    if (site.first != FirstAsked::kMemory) continue;
    const auto layout = assembly::FindLayout(site.layout, {});
    ASSERT_TRUE(layout);
    const auto preview = caller->Preview(ExampleRequest(site, *layout));
    ASSERT_TRUE(preview) << preview.error().message;
    EXPECT_THAT(AsText(*preview), HasSubstr("=== memory_only")) << site.name;
    EXPECT_THAT(AsText(*preview), Not(HasSubstr("=== task"))) << site.name;
    EXPECT_THAT(AsText(*preview), Not(HasSubstr("image"))) << site.name;
  }
}

// A section that no code fills in would appear only in the golden prompts.
TEST(CallSitesTest, EverySectionOfACallIsSuppliedByTheCode) {  // RSP-1, 4.2
  std::string code;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(DOSSIER_SOURCE_DIR "/src/research")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".cc") && !name.ends_with("_test.cc")) {
      code += ReadFile(entry.path().string()).value_or("");
    }
  }
  for (const CallSite& site : CallSites()) {
    const auto layout = assembly::FindLayout(site.layout, {});
    ASSERT_TRUE(layout) << layout.error().message;
    for (const assembly::LayoutSection& section : layout->sections) {
      if (!IsOfCall(section)) continue;
      const std::string quoted = fmt::format("\"{}\"", section.name);
      EXPECT_TRUE(code.find(quoted) != std::string::npos) << site.layout << ": " << section.name;
    }
  }
}

// The layouts of a role begin with its own prompt; those of plotting scripts with the plotter's.
TEST_F(GoldenPrompts, EveryRoleHasItsOwnSystemPromptAndEveryCallTheIdea) {  // FLT-61
  const auto caller = Open(nullptr);
  std::map<std::string, std::set<std::string>> by_role;
  std::set<std::string> all;
  for (const CallSite& site : CallSites()) {
    const auto layout = assembly::FindLayout(site.layout, {});
    ASSERT_TRUE(layout);
    const auto preview = caller->Preview(ExampleRequest(site, *layout));
    ASSERT_TRUE(preview) << preview.error().message;
    const Json& first = Find(*Find(*preview, "messages"), "system")->get_array().front();
    const std::string text(FindString(first, "text").value_or(""));
    EXPECT_THAT(text, HasSubstr("Your role: ")) << site.name;
    EXPECT_THAT(AsText(*preview), HasSubstr("# Title")) << site.name;
    EXPECT_THAT(AsText(*preview), HasSubstr("# Experiments")) << site.name;
    by_role[std::string(site.role)].insert(text);
    all.insert(text);
  }
  std::size_t own = 0;
  for (const auto& [role, texts] : by_role) {
    EXPECT_EQ(texts.size(), role == "code" ? 2U : 1U) << role;
    own += texts.size();
  }
  EXPECT_EQ(all.size(), own);  // no two roles share one
}

TEST(CallSitesTest, EveryLayoutOfTheRunBelongsToASite) {
  std::set<std::string> used = {"research.run", "research.idea", "research.node"};
  for (const CallSite& site : CallSites()) used.insert(std::string(site.layout));
  for (const std::string_view path : BuiltInAssets("layouts/research.")) {
    const std::string name(path.substr(8, path.size() - 8 - 5));
    EXPECT_TRUE(used.contains(name)) << name;
  }
}

TEST(CallSitesTest, ACallWithMemoryHasATemplateThatSpeaksOfIt) {  // RSP-4
  for (const CallSite& site : CallSites()) {
    const std::string path = fmt::format("prompts/research/{}_with_memory.md", site.name);
    EXPECT_EQ(BuiltInAsset(path).has_value(), !site.memory_hint.empty()) << path;
    const auto plain = BuiltInAsset(fmt::format("prompts/research/{}.md", site.name));
    ASSERT_TRUE(plain) << site.name;
    EXPECT_EQ(plain->find("memory_update"), std::string_view::npos) << site.name;
  }
}

TEST(CallSitesTest, TheTableIsTheSpecifications) {  // 4.2
  struct Case {
    std::string_view site, role, hint;
    std::int64_t chars;
    int attempts;
  };
  constexpr Case kCases[] = {
      {"phase0_plan", "code", "phase0", 0, 3},
      {"phase1_step", "code", "phase1_iterative", 0, 3},
      {"tuning_idea", "code", "", 0, 5},
      {"tuning_node", "code", "hyperparam_node", 0, 3},
      {"execution_review", "feedback", "execution_review", 0, 3},
      {"parse_metrics", "code", "parse_metrics", 12'000, 3},
      {"plotting_code", "code", "plotting_code", 8'000, 3},
      {"vlm_analysis", "vlm", "vlm_analysis", 12'000, 3},
      {"datasets_tested", "feedback", "datasets_successfully_tested", 8'000, 5},
      {"best_node", "select", "best_node_selection", 0, 3},
      {"citations", "cite", "", 0, 1},
      {"writeup", "write", "", 0, 3},
      {"review", "review", "", 0, 3},
      {"figure_review", "vlm", "", 0, 1},
  };
  for (const Case& c : kCases) {
    const CallSite* site = FindCallSite(c.site);
    ASSERT_NE(site, nullptr) << c.site;
    EXPECT_EQ(site->role, c.role) << c.site;
    EXPECT_EQ(site->memory_hint, c.hint) << c.site;
    EXPECT_EQ(site->memory_chars, c.chars) << c.site;
    EXPECT_EQ(site->attempts, c.attempts) << c.site;
  }
  EXPECT_EQ(FindCallSite("brainstorm"), nullptr);
}

}  // namespace
}  // namespace dossier::research
