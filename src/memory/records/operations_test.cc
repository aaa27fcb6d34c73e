#include "memory/records/operations.h"

#include <gtest/gtest.h>

#include <set>

#include "base/files/file.h"
#include "base/json/json.h"
#include "memory/blocks/block.h"

namespace dossier::memory {
namespace {

TEST(OperationsTest, EachNameAndSynonymNamesOneOperation) {  // MEM-T8, MEM-T29
  std::set<std::string_view> names;
  for (const MemoryOperation& operation : kOperations) {
    EXPECT_EQ(&OperationOf(operation.id), &operation);
    EXPECT_TRUE(names.insert(operation.name).second) << operation.name;
    EXPECT_EQ(FindOperation(operation.name), &operation);
    for (const std::string_view synonym : operation.synonyms) {
      if (synonym.empty()) continue;
      EXPECT_TRUE(names.insert(synonym).second) << synonym;
      EXPECT_EQ(FindOperation(synonym), &operation) << synonym;
    }
  }
  EXPECT_EQ(FindOperation(""), nullptr);
  EXPECT_EQ(FindOperation("CORE_SET"), nullptr);
}

TEST(OperationsTest, WritesStandBeforeReads) {  // MEM-20
  bool read = false;
  for (const MemoryOperation& operation : kOperations) {
    EXPECT_TRUE(!read || operation.access == Access::kRead) << operation.name;
    read = operation.access == Access::kRead;
  }
  EXPECT_TRUE(read);
}

TEST(OperationsTest, AnUnknownNameIsToldTheNearest) {  // MEM-21
  EXPECT_EQ(NearestOperation("archive"), "archival_write");
  EXPECT_EQ(NearestOperation("core_sett"), "core_set");
  EXPECT_EQ(NearestOperation("zzzzzzzzzz"), "");
}

TEST(OperationsTest, TheParserTakesEachExampleOfTheHelp) {  // MEM-T29
  for (const MemoryOperation& operation : kOperations) {
    const UpdateBlock block =
        CheckBlock({.members = {{std::string(operation.name), *ParseJson(operation.example)}}});
    ASSERT_EQ(block.operations.size(), 1U);
    const auto* bad = std::get_if<BadValue>(&block.operations[0].value);
    EXPECT_EQ(bad, nullptr) << (bad ? bad->Text() : "");
    EXPECT_TRUE(block.warnings.empty()) << operation.name;
  }
}

TEST(OperationsTest, BothFormsOfTheHelpNameEachOperation) {  // MEM-T29
  for (const HelpForm form : {HelpForm::kLong, HelpForm::kShort}) {
    const std::string help = HelpText(form);
    for (const MemoryOperation& operation : kOperations) {
      EXPECT_NE(help.find(operation.name), std::string::npos) << operation.name;
    }
    EXPECT_EQ(help.back(), '\n');
    EXPECT_NE(help.find("</memory_update>"), std::string::npos);
  }
  EXPECT_LT(HelpText(HelpForm::kShort).size(), HelpText(HelpForm::kLong).size() / 2);
}

TEST(OperationsTest, TheGuideHoldsTheTable) {  // MEM-T29
  const auto guide = ReadFile(DOSSIER_SOURCE_DIR "/docs/guide/memory.md");
  ASSERT_TRUE(guide);
  EXPECT_NE(guide->find(OperationsTable()), std::string::npos) << OperationsTable();
}

}  // namespace
}  // namespace dossier::memory
