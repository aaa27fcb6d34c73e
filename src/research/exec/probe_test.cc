#include "research/exec/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "research/exec/exec_backend.h"
#include "research/exec/exec_local.h"
#include "testing/exec_scripted_for_test.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;
using ::dossier::testing::Succeeds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
  }

  void Start(ScriptedOptions options = {}) {
    backend_ = std::make_unique<ScriptedBackend>(script_, std::move(options));
    ASSERT_THAT(backend_->Start({.workspace = folder_->path() + "/w"}), Succeeds());
  }

  void ScriptEverything() {
    script_->On("cat /etc/os-release*").Says("PRETTY_NAME=\"Debian 12\"\n");
    script_->On("lscpu").Says("CPU(s): 2\nModel: X\n");
    script_->On("free -h*").Says("Mem: 8Gi\n");
    script_->On("nvidia-smi -L").Says("GPU 0: H100\n");
    script_->On("cat /sys/*").Says("performance\n");
    script_->On("numactl --hardware").Says("available: 2 nodes\n");
    script_->On("getent hosts example.org").Says("1.2.3.4 example.org\n");
    script_->On("for n in mpicc *")
        .Says("g++\t/usr/bin/g++\tg++ (Debian) 12.2\nnvcc\t/opt/nvcc\t\n");
    script_->On("for n in numactl *").Says("perf\t/usr/bin/perf\tperf version 6.1\n");
    script_->On("ldconfig -p*")
        .Says(
            "2 libs found\n\tlibz.so.1 (libc6) => /lib/libz.so.1\n"
            "\tlibcurl.so.4 (libc6) => /lib/libcurl.so.4\n"
            "\tlibboost_system.so (libc6) => /lib/libboost_system.so\n");
    script_->On("dpkg-query *").Says("cmake\t3.25.1\tinstalled\nmpich\t\tnot-installed\n");
  }

  std::optional<TempFolder> folder_;
  std::shared_ptr<CommandScript> script_ = std::make_shared<CommandScript>();
  std::unique_ptr<ExecBackend> backend_;
};

TEST_F(ProbeTest, WithEveryToolAbsentEachFieldHasItsFallback) {  // RSP-14, RSP-T6
  Start();
  const MachineFacts found = Probe(*backend_, {});
  EXPECT_EQ(found, MachineFacts{});
  EXPECT_EQ(found.gpu_info, "nvidia-smi not available");
  EXPECT_EQ(found.cpu_governor, "NA");
  const std::string text = EnvironmentText(found);
  EXPECT_THAT(text, HasSubstr("- available_compilers: none\n"));
  EXPECT_THAT(text, HasSubstr("- os_release: none\n"));
  EXPECT_EQ(Probe(*backend_, {.gpu = ProbeConfig::Gpu::kNo}).gpu_info, "disabled by config");
  EXPECT_EQ(Probe(*backend_, {.network = NetworkPolicy::kNever}).network_access, "blocked");
}

TEST_F(ProbeTest, WithEveryToolThereItsFactsAreShownOnce) {  // RSP-14, RSP-T6
  ScriptEverything();
  Start({.image = {"/images/x.sif", std::string(64, 'a')}});
  const MachineFacts found =
      Probe(*backend_, {.environment = {"CUDA_VISIBLE_DEVICES=1", "OMP_NUM_THREADS=4"},
                        .variables_not_shown = 3,
                        .network_probe_host = "example.org",
                        .assigned_gpu_id = "1",
                        .container_runtime = "apptainer",
                        .singularity_image = "/images/x.sif"});
  EXPECT_EQ(found.gpu_info, "assigned_gpu_id=1\nCUDA_VISIBLE_DEVICES=1\nGPU 0: H100");
  EXPECT_EQ(found.network_access, "available");
  EXPECT_EQ(found.container_digest, "sha256:" + std::string(64, 'a'));
  EXPECT_THAT(CompilerNames(found), ElementsAre("g++", "nvcc"));
  EXPECT_EQ(found.available_compilers[0],
            (ProbedTool{"g++", "/usr/bin/g++", "g++ (Debian) 12.2", ""}));
  EXPECT_THAT(found.available_libs, ElementsAre("libz", "libboost"));
  EXPECT_THAT(found.system_performance_tools, SizeIs(1));
  EXPECT_NE(found.system_performance_tools[0].description, "");
  EXPECT_THAT(found.installed_system_packages,
              ElementsAre(ProbedPackage{"cmake", "3.25.1", "installed"}));
  EXPECT_EQ(found.all_env_vars,
            "CUDA_VISIBLE_DEVICES=1\nOMP_NUM_THREADS=4\n(+3 variables not shown)");

  const std::string text = EnvironmentText(found);
  EXPECT_THAT(text, HasSubstr("- numa_config: available: 2 nodes\n"));
  EXPECT_THAT(text, HasSubstr("- cpu_info:\n  CPU(s): 2\n  Model: X\n"));
  EXPECT_THAT(text, HasSubstr("- available_compilers:\n  g++ (/usr/bin/g++): g++ (Debian) 12.2\n"));
  EXPECT_EQ(text.find("Debian) 12.2"), text.rfind("Debian) 12.2"));
  EXPECT_THAT(text.substr(text.find("\nRules:")), HasSubstr("do not start a container"));
}

TEST_F(ProbeTest, WeaknessesOfTheProcessorAreLeftOut) {  // FLT-72
  for (const std::string_view said :
       {"Model: X\nVulnerability Itlb multihit: Not affected\nVulnerability L1tf: Mitigation\n"
        "NUMA node0 CPU(s): 0,1\n",
        "Model: X\nVulnerabilities:         \n  Itlb multihit:         Not affected\n"
        "  L1tf:                  Mitigation\nNUMA node0 CPU(s): 0,1\n"}) {
    script_ = std::make_shared<CommandScript>();
    script_->On("lscpu").Says(said);
    Start();
    EXPECT_EQ(Probe(*backend_, {}).cpu_info, "Model: X\nNUMA node0 CPU(s): 0,1");
  }
}

TEST_F(ProbeTest, VariablesAreThoseThatCommandsHave) {  // FLT-72
  const std::vector<std::string> given = {"HOME=/home/ann", "OMP_NUM_THREADS=4", "TMPDIR=/scratch"};
  Start();
  EXPECT_EQ(Probe(*backend_, {.environment = given}).all_env_vars, "OMP_NUM_THREADS=4");
  script_ = std::make_shared<CommandScript>();
  script_->On("env").Says("HOME=/workspace\nMY_API_KEY=k\nOMP_NUM_THREADS=4\nPWD=/workspace\n");
  Start();
  EXPECT_EQ(Probe(*backend_, {.environment = given}).all_env_vars,
            "HOME=/workspace\nOMP_NUM_THREADS=4");
}

TEST_F(ProbeTest, OfACommandThatHangsWhatItSaidBeforeCounts) {  // 4.4: each field is guarded
  script_->On("for n in mpicc*")
      .Gives({.status = 137, .timed_out = true, .out = "gcc\t/usr/bin/gcc\tgcc 12\ng++\t/usr/b"});
  Start();
  EXPECT_THAT(CompilerNames(Probe(*backend_, {})), ElementsAre("gcc"));
}

TEST_F(ProbeTest, JsonGivesTheSameBack) {
  ScriptEverything();
  Start();
  const MachineFacts found = Probe(*backend_, {});
  const auto again = ReadEnvironment(EnvironmentJson(found));
  ASSERT_THAT(again, Succeeds());
  EXPECT_EQ(*again, found);
  JsonObject broken = EnvironmentJson(found);
  broken["available_libs"] = "libz";
  EXPECT_THAT(ReadEnvironment(broken), FailsWith(ErrorCode::kDamaged, "available_libs"));
  EXPECT_THAT(ReadEnvironment(Json(1)), FailsWith(ErrorCode::kDamaged, "os_release"));
}

TEST_F(ProbeTest, AProbeIsKeptForItsDayAndImage) {  // 4.4
  ScriptEverything();
  Start();
  const ProbeCache monday{folder_->path() + "/cache", "2026-01-26"};
  const MachineFacts first = CachedProbe(*backend_, {}, monday);
  const std::size_t asked = script_->commands().size();
  EXPECT_EQ(CachedProbe(*backend_, {}, monday), first);
  EXPECT_EQ(script_->commands().size(), asked);
  CachedProbe(*backend_, {}, {monday.folder, "2026-01-27"});
  EXPECT_EQ(script_->commands().size(), 2 * asked);
  Start({.image = {"/images/x.sif", std::string(64, 'b')}});
  CachedProbe(*backend_, {}, monday);
  EXPECT_EQ(script_->commands().size(), 3 * asked);
}

TEST_F(ProbeTest, ACutFieldSaysSo) {  // RSP-21
  std::string lines;
  for (int i = 0; i < 70; ++i) lines += "flag\n";
  script_->On("lscpu").Says(lines);
  Start();
  EXPECT_THAT(Probe(*backend_, {}).cpu_info, ::testing::StartsWith("[10 lines above not shown]\n"));
}

TEST(AllowedEnvironmentTest, OnlyNamesOfTheListAreShownAndNoSecret) {  // RSP-15, RSP-T6
  const std::vector<std::string> all = {"PATH=/bin",
                                        "MY_API_KEY=planted",
                                        "OMP_NUM_THREADS=4",
                                        "OMP_SECRET=planted",
                                        "SLURM_JWT=planted",
                                        "SLURM_DB_PWD=planted",
                                        "CUDA_TOKEN_x=planted",
                                        "LC_ALL=C",
                                        "PATHS=/x",
                                        "CMAKE_PREFIX_PATH=/x",
                                        "SLURM_DB_pass=planted",
                                        "FI_PROVIDER=https://ann:"
                                        "hunter22hunter@host/x",
                                        "nonsense"};
  const std::vector<std::string> allowed = AllowedEnvironment(all);
  EXPECT_THAT(allowed, ::testing::IsSupersetOf(
                           {std::string("CMAKE_PREFIX_PATH=/x"), std::string("LC_ALL=C"),
                            std::string("OMP_NUM_THREADS=4"), std::string("PATH=/bin")}));
  EXPECT_TRUE(std::is_sorted(allowed.begin(), allowed.end()));
  for (const std::string& entry : allowed) {
    EXPECT_THAT(entry, Not(HasSubstr("planted")));
    EXPECT_THAT(entry, Not(HasSubstr("PATHS")));
  }
}

TEST(EnvironmentListTest, ANameStandsOnceAndTheLastOneHolds) {
  const std::vector<std::string> entries = {"A=1", "B=2", "A=3", "C", "=4"};
  EnvironmentList list(entries);
  list.Default("A", "5");
  list.Default("D", "6");
  list.Remove("B");
  EXPECT_EQ(list.Find("A"), "3");
  EXPECT_FALSE(list.Find("B"));
  EXPECT_THAT(list.Take(), ElementsAre("A=3", "D=6"));
}

TEST(ProbeRealTest, TheLocalSandboxShowsThisMachine) {  // RSP-T6
  auto folder = TempFolder::Make();
  ASSERT_THAT(folder, Succeeds());
  auto backend = MakeLocalBackend({});
  ASSERT_THAT(backend, Succeeds());
  const std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
  if (const Status started =
          (*backend)->Start({.workspace = folder->path() + "/w", .environment = environment});
      !started) {
    GTEST_SKIP() << started.error().message;
  }
  const MachineFacts found = Probe(**backend, {.environment = environment});
  EXPECT_THAT(found.os_release, HasSubstr("NAME="));
  EXPECT_THAT(found.available_libs, ::testing::Contains("libc"));
  EXPECT_THAT(found.memory_info, HasSubstr("MemTotal"));
  EXPECT_EQ(found.all_env_vars,
            "HOME=/workspace\nOMPI_MCA_btl_tcp_if_include=lo\n"
            "OMPI_MCA_btl_vader_single_copy_mechanism=none\nOMPI_MCA_oob_tcp_if_include=lo\n"
            "OMPI_MCA_rmaps_base_oversubscribe=1\nPATH=/usr/bin:/bin");
}

}  // namespace
}  // namespace dossier::research
