#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExecScriptedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    backend_ = std::make_unique<ScriptedBackend>(script_, ScriptedOptions());
    ASSERT_THAT(backend_->Start({.workspace = folder_->path()}), Succeeds());
  }

  ExecResult Run(std::string_view line) {
    auto result = backend_->Run({.command = std::string(line)}, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }

  std::optional<TempFolder> folder_;
  std::shared_ptr<CommandScript> script_ = std::make_shared<CommandScript>();
  std::unique_ptr<ExecBackend> backend_;
};

TEST_F(ExecScriptedTest, TheExampleInTheHeaderWorks) {  // RSP-22
  script_->On("make*").Writes("bin/a.out", "ELF");
  script_->On("./bin/a.out").Says("42\n").Writes("working/x_data.npy", "npy");
  script_->On("pip install *").Fails(1, "no network").Times(1);
  script_->On("pip install *");
  EXPECT_EQ(Run("make -j2").status, 0);
  EXPECT_EQ(Run("./bin/a.out").out, "42\n");
  EXPECT_EQ(Run("pip install numpy").err, "no network");
  EXPECT_EQ(Run("pip install numpy").status, 0);
  EXPECT_EQ(ReadFile(folder_->path() + "/working/x_data.npy").value_or(""), "npy");
  EXPECT_THAT(script_->commands(),
              ElementsAre("make -j2", "./bin/a.out", "pip install numpy", "pip install numpy"));
}

TEST_F(ExecScriptedTest, ACommandWithoutARuleIsNotFoundAndARefusedOneIsNotAsked) {  // RSP-24
  script_->On("*docker*");
  EXPECT_EQ(Run("nvidia-smi").status, 127);
  EXPECT_EQ(Run("docker ps").status, 126);
  EXPECT_THAT(script_->commands(), ElementsAre("nvidia-smi"));
}

TEST_F(ExecScriptedTest, ARuleMayWorkItOut) {
  script_->On("cat *").Does([](const ExecCommand& command, const std::string& workspace,
                               const CancelToken&) -> Result<ExecResult> {
    DOSSIER_ASSIGN_OR_RETURN(std::string text,
                             ReadFile(workspace + "/" + command.command.substr(4)));
    return ExecResult{.status = 0, .out = std::move(text)};
  });
  ASSERT_THAT(WriteFileAtomic(folder_->path() + "/a", "text"), Succeeds());
  EXPECT_EQ(Run("cat a").out, "text");
  EXPECT_THAT(backend_->Run({.command = "cat b"}, {}), FailsWith(ErrorCode::kNotFound, "/b"));
  CancelSource source;
  source.Cancel("interrupted");
  EXPECT_THAT(backend_->Run({.command = "cat a"}, source.token()),
              FailsWith(ErrorCode::kCancelled, "interrupted"));
  backend_->Stop();
  EXPECT_THAT(backend_->Run({.command = "cat a"}, {}), FailsWith(ErrorCode::kInternal, "started"));
}

}  // namespace
}  // namespace dossier::research
