#include "driver/memory_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/blocks/reply.h"
#include "testing/result_matchers.h"
#include "testing/store_for_test.h"

namespace dossier::driver {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::HasSubstr;

class MemoryPortTest : public ::testing::Test {
 protected:
  MemoryUse Use() { return {.store = memory::SharedBy(&*store_)}; }

  static memory::UpdateBlock BlockOf(std::string_view reply) {
    const memory::ParsedReply parsed = memory::ParseReply(reply);
    EXPECT_TRUE(parsed.block);
    return parsed.block.value_or(memory::UpdateBlock());
  }

  memory::TestStore store_;
};

TEST_F(MemoryPortTest, ABranchThatIsNotThereIsSaidAtOnce) {
  EXPECT_THAT(MemoryPort::Open(Use(), "", "ask"), Succeeds()) << "no name is root";
  EXPECT_THAT(MemoryPort::Open(Use(), "n9", "ask"), FailsWith(ErrorCode::kNotFound, "n9"));
}

TEST_F(MemoryPortTest, AForkSeesWhatWasKnownAndKeepsItsOwn) {
  const MemoryPort root(Use(), "root", "ask");
  store_.Set("compiler", "icpx");
  const auto fork = root.Fork("mine");
  ASSERT_THAT(fork, Succeeds());
  ASSERT_THAT(fork->Write(memory::Actor::kModel,
                          [](memory::BranchTransaction& session) {
                            return session.Add({.text = "seen"}).map([](const auto&) {});
                          }),
              Succeeds());
  EXPECT_EQ(fork->Snapshot()->Core("compiler")->value, "icpx");
  EXPECT_EQ(fork->Snapshot()->Records({})->size(), 1u);
  EXPECT_EQ(root.Snapshot()->Records({})->size(), 0u);
}

TEST_F(MemoryPortTest, BlocksAreAppliedUnderThePhaseOfTheDriver) {
  const MemoryPort port(Use(), "root", "ask");
  const memory::UpdateBlock block =
      BlockOf("<memory_update>{\"core_set\": {\"linker\": \"mold\"}}</memory_update>");
  ASSERT_THAT(port.Apply(block, {.block_id = "a"}), Succeeds());
  EXPECT_EQ(port.Snapshot()->Core("linker")->value, "mold");
}

TEST_F(MemoryPortTest, ASessionThatSavesNothingMakesNoRoomAndLogsNothing) {
  MemoryUse use = Use();
  use.calls = std::make_shared<const memory::MemoryCallLog>(
      memory::MemoryCallLog({.path = store_.folder() + "/memory_calls.jsonl"}));
  use.consolidate_from = memory::PressureLevel::kLow;
  use.writes = MemoryUse::Writes::kNo;
  const MemoryPort port(use, "root", "chat");
  EXPECT_FALSE(port.MakeRoom()->has_value());
  ASSERT_THAT(port.Log({.op = "show"}), Succeeds());
  EXPECT_FALSE(Exists(store_.folder() + "/memory_calls.jsonl"));

  use.writes = MemoryUse::Writes::kYes;
  ASSERT_THAT(MemoryPort(use, "root", "chat").Log({.op = "show"}), Succeeds());
  const std::string log = ReadFile(store_.folder() + "/memory_calls.jsonl").value_or("");
  EXPECT_THAT(log, HasSubstr("\"root\""));
  EXPECT_THAT(log, HasSubstr("\"chat\""));
}

TEST_F(MemoryPortTest, APromptHasTheBudgetOfTheStoreAndOfItsModel) {
  const MemoryPort port(Use(), "root", "ask");
  const auto counter = tokens::MakeCharCounter();
  const memory::RenderRequest request = port.RequestFor(" why? \n", *counter, 99);
  EXPECT_EQ(request.hint, "ask");
  EXPECT_EQ(request.query, "why?");
  EXPECT_EQ(request.budget.chars, port.limits().memory_budget_chars);
  EXPECT_EQ(request.budget.tokens, 99);
  EXPECT_EQ(request.budget.count_tokens("four"), 4);
}

}  // namespace
}  // namespace dossier::driver
