#include "cli/chat/preset.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "testing/result_matchers.h"

namespace dossier::cli {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

// FLT-141
TEST(Preset, IsAFileWithFrontMatter) {
  const TempFolder temp = *TempFolder::Make();
  const auto put = [&](const std::string& name, std::string_view text) {
    ASSERT_THAT(MakeFolders(temp.path() + "/roles"), Succeeds());
    ASSERT_THAT(WriteFileAtomic(temp.path() + "/roles/" + name, text), Succeeds());
  };
  put("plain.md", "\nBe brief.\n\n");
  put("full.md", "---\nmodel: gpt-5-mini\ntemperature: 0.5\n---\nBe brief.\n");
  put("wrong.md", "---\nmodell: x\n---\n");
  put("bytes.md", "\xFF");
  EXPECT_EQ(FindPreset("roles", "plain", temp.path())->text, "Be brief.");
  const auto full = FindPreset("roles", "full", temp.path());
  ASSERT_THAT(full, Succeeds());
  EXPECT_EQ(full->text, "Be brief.");
  EXPECT_EQ(full->model, "gpt-5-mini");
  EXPECT_EQ(full->temperature, 0.5);
  EXPECT_EQ(FindPreset("roles", temp.path() + "/roles/plain.md", "/none")->text, "Be brief.");
  EXPECT_THAT(FindPreset("roles", "wrong", temp.path()), FailsWith(ErrorCode::kConfig, "modell"));
  EXPECT_THAT(FindPreset("roles", "bytes", temp.path()), FailsWith(ErrorCode::kUsage, "UTF-8"));
  EXPECT_THAT(FindPreset("roles", "none", temp.path()),
              FailsWith(ErrorCode::kNotFound, "there are bytes, full, plain, wrong"));
}

// FLT-141: typed text is data, not a template.
TEST(Preset, ATemplateTakesTheInputOrStandsBeforeIt) {
  EXPECT_EQ(*FillTemplate("<{{ input }}>", "{{ x }}", {}), "<{{ x }}>");
  EXPECT_EQ(*FillTemplate("{{ input | upper }} {{ A }}", "hi", {"A=b"}), "HI b");
  EXPECT_EQ(*FillTemplate("Sum up:", "hi", {}), "Sum up:\n\nhi");
  EXPECT_EQ(*FillTemplate("Sum up:", "", {}), "Sum up:");
  EXPECT_THAT(FillTemplate("{{ nowhere }}", "hi", {}), FailsWith(ErrorCode::kConfig, "nowhere"));
}

}  // namespace
}  // namespace dossier::cli
