// A staged run in process, with a scripted model and scripted commands that take no time: what is
// left is the engine's own; only where slots are compared does a reply take 50 ms. And the start of
// the local sandbox, for real.

#include <fmt/format.h>

#include <optional>
#include <string>

#include "benches.h"
#include "measure.h"
#include "memory/render/render.h"
#include "processes.h"
#include "research/exec/exec_local.h"
#include "research/run/run_setup.h"
#include "store/sqlite.h"
#include "testing/run_rig_for_test.h"

namespace dossier::bench {
namespace {

using research::RunRig;

constexpr int kRows = 10'000;
constexpr int kRounds = 9;
constexpr int kStarts = 100;
constexpr std::int64_t kBudget = 24'000;  // code points: the default of memory_budget_chars
constexpr std::string_view kQuery = "why could the linker not find library 7 on node 12";

Status Fill(memory::BranchTransaction& session) {
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
  research::CallRequest request{.site = "draft", .prefix = driver.prefix};
  request.prefix.environment = Json(environment);
  request.prefix.resources = Json(resources);
  request.sections = {{.name = "evaluation_metrics", .value = Json("seconds for each data set")}};
  request.memory_query = kQuery;
  return request;
}

Status RunTrue(const research::BackendFactory& backends, const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto backend, backends("worker-0"));
  DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder, .system = folder + "/none"}));
  DOSSIER_ASSIGN_OR_RETURN(const research::ExecResult result,
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

// Four slots, and `nodes` in stage 3 beside about 25 in the others.
void Widen(RunRig& rig, std::int64_t nodes) {
  rig.config.num_workers = 4;
  rig.config.num_drafts = 4;
  rig.config.stages = {research::StageCap{8}, {4}, {nodes}, {4}};
}

Status MeasureRun() {
  RunRig rig;
  Widen(rig, 30);
  rig.model().ForgetCalls();
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

// `run` up to its cancellation, which is no error here.
Status UntilCancelled(const research::RunOrder& order, const CancelSource& source) {
  const auto outcome = research::Run(order, source.token());
  if (outcome) return MakeError(ErrorCode::kInternal, "the run came to its end");
  if (outcome.error().code != ErrorCode::kCancelled) return tl::unexpected(outcome.error());
  return {};
}

// A run that is ended at its 500th node; how memory grew for the last 400 of them.
Status RunLong(RunRig& rig) {
  constexpr int kFrom = 100, kTo = 500;
  Widen(rig, kTo);
  rig.model().ForgetCalls();
  CancelSource source;
  std::optional<MemoryGrowth> growth;
  Samples grown;
  rig.watch = [&, nodes = 0](const store::Event& event) mutable {
    if (event.type != "node.finished") return;
    ++nodes;
    if (nodes == kFrom) growth.emplace();
    if (nodes != kTo) return;
    grown.Add(static_cast<double>(growth->Grown()) * 100 / (kTo - kFrom));
    source.Cancel("enough");
  };
  DOSSIER_RETURN_IF_ERROR(UntilCancelled(rig.Order(research::RunOrder::Mode::kStart), source));
  Report("research.memory_of_100_nodes", grown);
  return {};
}

// Every row of the journal, as any program would read it.
Status ReadPlainly(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, research::ResearchLog::kFile);
  DOSSIER_ASSIGN_OR_RETURN(store::Database db,
                           store::Database::Open(path, {.file = store::FileMode::kExisting}));
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement query,
      db.Prepare("SELECT seq, time, call, type, data FROM events ORDER BY run_id, seq"));
  std::size_t bytes = 0;
  for (;;) {
    DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) break;
    bytes += query.Text(1).size() + query.Text(3).size() + query.Text(4).size();
  }
  if (bytes < 1'000'000) return MakeError(ErrorCode::kInternal, "the journal is too short");
  return {};
}

// From the start of a resume to the first event that it adds.
Status MeasureLongRun() {
  RunRig rig;
  DOSSIER_RETURN_IF_ERROR(RunLong(rig));
  Samples resume, plain;
  for (int round = 0; round < kRounds; ++round) {
    CancelSource source;
    double start = CpuSeconds();
    rig.watch = [&](const store::Event& event) {
      if (event.type == "run.resumed" || source.token().cancelled()) return;
      resume.Add(CpuSeconds() - start);
      source.Cancel("resumed");
    };
    DOSSIER_RETURN_IF_ERROR(UntilCancelled(rig.Order(research::RunOrder::Mode::kResume), source));
    start = CpuSeconds();
    DOSSIER_RETURN_IF_ERROR(ReadPlainly(rig.folder()));
    plain.Add(CpuSeconds() - start);
  }
  Report("research.resume", resume);
  Report("research.plain", plain);
  return {};
}

// Wall time of 24 drafts, none of which works, whose model takes 50 ms for each reply: rounds that
// fill all four slots.
Status MeasureSlots() {
  for (const int parallel : {1, 4}) {
    RunRig rig;
    rig.config.num_workers = 4;
    rig.config.num_drafts = 24;
    rig.config.stages[0] = research::StageCap{24};
    rig.config.max_parallel = parallel;
    rig.model().Think(Millis(50));
    int waits = 0;
    rig.watch = [&](const store::Event& event) { waits += event.type == "call.replied" ? 1 : 0; };
    research::RunOrder order = rig.Order(research::RunOrder::Mode::kStart);
    order.stages = {1};
    Samples wall, calls;
    Status done;
    wall.Time([&] { done = research::Run(order, CancelToken()).map([](const auto&) {}); });
    DOSSIER_RETURN_IF_ERROR(done);
    calls.Add(waits);
    Report(fmt::format("research.slots_{}", parallel), wall);
    Report(fmt::format("research.slots_{}_calls", parallel), calls);
  }
  return {};
}

}  // namespace

Status RunResearchBench() {
  DOSSIER_RETURN_IF_ERROR(MeasureSandbox());
  DOSSIER_RETURN_IF_ERROR(MeasurePrompt());
  DOSSIER_RETURN_IF_ERROR(MeasureRun());
  DOSSIER_RETURN_IF_ERROR(MeasureLongRun());
  return MeasureSlots();
}

}  // namespace dossier::bench
