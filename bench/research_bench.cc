// A staged run in process, with a scripted model and scripted commands that take no time: what is
// left is the engine's own. And the start of the local sandbox, for real.

#include <fmt/format.h>

#include <string>

#include "benches.h"
#include "measure.h"
#include "memory/render.h"
#include "processes.h"
#include "research/exec_local.h"
#include "research/run_rig_for_test.h"
#include "research/run_setup.h"

namespace dossier::bench {
namespace {

using research::RunRig;

constexpr int kRows = 10'000;
constexpr int kRounds = 9;
constexpr int kStarts = 100;
constexpr std::int64_t kBudget = 24'000;  // code points: the default of memory_budget_chars
constexpr std::string_view kQuery = "why could the linker not find library 7 on node 12";

Status Fill(memory::Session& session) {
  for (int i = 0; i < kRows; ++i) {
    const std::string text = fmt::format(
        "Row {}: the linker of node {} could not find library {}, so it was built from source", i,
        i % 97, i % 13);
    DOSSIER_ASSIGN_OR_RETURN(
        [[maybe_unused]] const memory::RecordWrite written,
        session.Add({.tier = i % 10 == 8 ? memory::Tier::kRecall : memory::Tier::kArchival,
                     .text = text,
                     .at = i + 1}));
  }
  return {};
}

// As long as on a real machine: 20,000 characters of lscpu, 12,000 of a template's files.
research::CallRequest LargestRequest(const research::Driver& driver) {
  std::string environment, resources;
  while (environment.size() < 20'000) environment += "- cpu_info: flags fma avx2 bmi2 aes sse4_2\n";
  while (resources.size() < 12'000) resources += "for (int i = 0; i < n; ++i) sum += a[i];\n";
  research::CallRequest request{.site = "draft", .prefix = driver.prefix(1)};
  request.prefix.environment = Json(environment);
  request.prefix.resources = Json(resources);
  request.sections = {{.name = "evaluation_metrics", .value = Json("seconds for each data set")}};
  request.memory_query = kQuery;
  return request;
}

Status RunTrue(const research::BackendFactory& backends, const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto backend, backends("worker-0"));
  DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder, .system = folder + "/none"}));
  DOSSIER_ASSIGN_OR_RETURN(const research::CommandResult result,
                           backend->Run({.argv = {"/bin/true"}}, {}));
  backend->Stop();
  if (result.status == 0) return {};
  return MakeError(ErrorCode::kFailed, "true ended with {}", result.status);
}

Status MeasurePrompt() {
  RunRig rig;
  const research::RunOrder order = rig.Order(research::RunOrder::Mode::kStart);
  DOSSIER_ASSIGN_OR_RETURN(const auto setup, research::SetUpRun(order, CancelToken()));
  DOSSIER_RETURN_IF_ERROR(setup->memory->Transact(memory::kRootBranch, {}, Fill));
  const research::CallRequest request = LargestRequest(setup->driver);
  Samples prompt, alone;
  for (int round = 0; round < kRounds; ++round) {
    double start = CpuSeconds();
    DOSSIER_ASSIGN_OR_RETURN(const JsonObject preview, setup->caller->Preview(request));
    prompt.Add(CpuSeconds() - start);
    if (FindInt(Json(preview), "tokens").value_or(0) < 10'000) {
      return MakeError(ErrorCode::kInternal, "the prompt is too short");
    }
    start = CpuSeconds();
    DOSSIER_ASSIGN_OR_RETURN(const memory::View view, setup->memory->Snapshot("root"));
    DOSSIER_ASSIGN_OR_RETURN(
        [[maybe_unused]] const memory::Rendered rendered,
        memory::Render(view, setup->memory->limits(),
                       {.query = std::string(kQuery), .budget = {.chars = kBudget}}));
    alone.Add(CpuSeconds() - start);
  }
  Report("research.prompt", prompt);
  Report("research.memory", alone);
  return {};
}

// `true` through a backend, from Start to Stop, beside what the kernel asks for namespaces alone.
Status MeasureSandbox() {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make());
  DOSSIER_ASSIGN_OR_RETURN(const research::BackendFactory backends,
                           research::MakeLocalBackends({}));
  Samples wall, cpu, peer_wall, peer_cpu;
  for (int i = 0; i < kStarts; ++i) {
    Status status;
    double before = CpuSecondsWithChildren();
    wall.Time([&]() { status = RunTrue(backends, folder.path()); });
    cpu.Add(CpuSecondsWithChildren() - before);
    DOSSIER_RETURN_IF_ERROR(status);
    before = CpuSecondsWithChildren();
    peer_wall.Time([&]() { status = Spawn({"/usr/bin/unshare", "-Urmpn", "--fork", "true"}); });
    peer_cpu.Add(CpuSecondsWithChildren() - before);
    DOSSIER_RETURN_IF_ERROR(status);
  }
  Report("research.sandbox", wall);
  Report("research.sandbox_cpu", cpu);
  Report("research.unshare", peer_wall);
  Report("research.unshare_cpu", peer_cpu);
  return {};
}

Status MeasureRun() {
  RunRig rig;
  rig.config.num_workers = 4;
  rig.config.num_drafts = 4;
  rig.config.stages = {research::StageCap{8}, {4}, {30}, {4}};
  int nodes = 0, waits = 0;
  rig.watch = [&](const store::Event& event) {
    nodes += event.type == "node.finished" ? 1 : 0;
    waits += event.type == "call.replied" ? 1 : 0;
  };
  const double start = CpuSeconds();
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const research::RunOutcome outcome, rig.Start());
  Samples run, calls;
  run.Add(CpuSeconds() - start);
  if (nodes < 50) return MakeError(ErrorCode::kInternal, "only {} nodes", nodes);
  calls.Add(waits);
  Report("research.run", run);
  Report("research.calls", calls);
  return {};
}

}  // namespace

Status RunResearchBench() {
  DOSSIER_RETURN_IF_ERROR(MeasureSandbox());
  DOSSIER_RETURN_IF_ERROR(MeasurePrompt());
  return MeasureRun();
}

}  // namespace dossier::bench
