#include "memory/render/injection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/utf8.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::memory {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Injection InjectFrom(TestStore& store, const InjectionRequest& request) {
  auto injected = Inject(store.View(), store->limits(), request);
  EXPECT_THAT(injected, testing::Succeeds());
  return *std::move(injected);
}

std::int64_t AddEvent(TestStore& store, const std::string& text) {
  ++store.clock().now;
  return store.Add({.tier = Tier::kRecall, .kind = "note", .text = text})->id;
}

// MEM-58: core is a text of its own, and stays the same bytes whatever else is asked or written.
TEST(InjectionTest, CoreDependsOnCoreAlone) {
  TestStore store;
  store.Set("compiler", "icpx");
  store.Set("RESOURCE_INDEX", "one dataset");
  const Injection before = InjectFrom(store, {.render = {.query = "linker"}});
  EXPECT_EQ(before.core, "Resource Index:\none dataset\n\nCore Memory:\n- compiler: icpx");
  EXPECT_EQ(before.rest, "");
  AddEvent(store, "the linker failed");
  store.Add({.tier = Tier::kArchival, .text = "the linker wants -lfftw3"});
  const Injection after = InjectFrom(store, {.render = {.query = "other linker"}});
  EXPECT_EQ(after.core, before.core);
  EXPECT_THAT(after.rest, HasSubstr("- [note] the linker failed"));
  EXPECT_THAT(after.rest, HasSubstr("- the linker wants -lfftw3"));
  EXPECT_THAT(after.rest, Not(HasSubstr("icpx")));
}

// What the prompt holds elsewhere is not said twice; the window holds as many others.
TEST(InjectionTest, EventsThatStandElsewhereMakePlaceForOthers) {
  StoreOptions options;
  options.limits.recall_max_events = 2;
  TestStore store(options);
  AddEvent(store, "one");
  AddEvent(store, "two");
  AddEvent(store, "three");
  const std::int64_t four = AddEvent(store, "four");
  const std::int64_t five = AddEvent(store, "five");
  const Injection injected = InjectFrom(store, {.elsewhere = {four, five}});
  EXPECT_THAT(injected.rest, HasSubstr("two"));
  EXPECT_THAT(injected.rest, HasSubstr("three"));
  EXPECT_THAT(injected.rest, Not(HasSubstr("one")));
  EXPECT_THAT(injected.rest, Not(HasSubstr("four")));
  EXPECT_EQ(injected.accounting.recall_items, 2);
}

// MEM-34, MEM-35: one budget for both; what does not fit is accounted for.
TEST(InjectionTest, BothTextsShareOneBudget) {
  TestStore store;
  for (int i = 0; i < 20; ++i) store.Set(fmt::format("key{:02}", i), std::string(60, 'v'));
  for (int i = 0; i < 20; ++i) AddEvent(store, fmt::format("event {} {}", i, std::string(60, 'e')));
  for (std::int64_t chars = 0; chars <= 3000; chars += 50) {
    const Injection injected = InjectFrom(store, {.render = {.budget = {.chars = chars}}});
    const RenderAccounting& accounting = injected.accounting;
    const auto shown = static_cast<std::int64_t>(utf8::CodePoints(injected.core) +
                                                 utf8::CodePoints(injected.rest));
    EXPECT_LE(shown, chars);
    EXPECT_EQ(accounting.rendered_chars, shown);
    EXPECT_EQ(accounting.core_items + accounting.recall_items == 40, accounting.dropped.empty());
  }
}

// Errors: a token budget needs a counter.
TEST(InjectionTest, ATokenBudgetNeedsACounter) {
  TestStore store;
  InjectionRequest request;
  request.render.budget.tokens = 10;
  EXPECT_THAT(Inject(store.View(), store->limits(), request),
              testing::FailsWith(ErrorCode::kInvalidArgument, "tokenizer"));
}

}  // namespace
}  // namespace dossier::memory
