#include "ask/engine.h"
#include "base/files/file.h"
#include "benches.h"
#include "measure.h"
#include "model/scripted/scripted.h"

namespace dossier::bench {
namespace {

using ask::AskRequest;
using ask::ContextSet;
using ask::Engine;
using ask::Outcome;

constexpr int kCompletions = 60;
constexpr int kBatches = 5;
constexpr int kRuns = 11;  // of each number of children

// The same work as the peers' scripted models ask for: one turn, one cell, an answer from the text.
constexpr char kOneTurn[] = R"(
- times: always
  reply: |
    ```repl
    FINAL(context.split()[0])
    ```
)";

constexpr char kBatch[] = R"(
- purpose: subcall
  times: always
  delay: 50ms
  reply: "yes"
- times: always
  reply: |
    ```repl
    replies = llm_query_batched([f"Is {i} a number?" for i in range(1000)])
    FINAL(f"{sum(r == 'yes' for r in replies)} said yes")
    ```
)";

// As many children, each with a sandbox of its own, that take the first word of a part of the text.
constexpr char kChildren[] = R"(
- path: "0"
  times: always
  reply: |
    ```repl
    replies = rlm_query_batched(["First word?"] * {0}, context=doc[0:2000])
    FINAL(f"{{sum(r == 'line' for r in replies)}} said line")
    ```
- times: always
  delay: {1}ms
  reply: |
    ```repl
    FINAL(context.split()[0])
    ```
)";
constexpr int kInFlight = 64;

class Nobody final : public ask::EventSink {
 public:
  void OnEvent(const store::Event&) override {}
};

class Bench {
 public:
  explicit Bench(const std::string& folder) : folder_(folder) {}

  Status Open() {
    DOSSIER_ASSIGN_OR_RETURN(journal_, store::Journal::Open(folder_));
    DOSSIER_ASSIGN_OR_RETURN(pool_, sandbox::Pool::Make({}));
    DOSSIER_ASSIGN_OR_RETURN(context_, Load());
    return {};
  }

  Status MeasureCompletions();
  Status MeasureBatches();
  Status MeasureChildren();

 private:
  Result<std::shared_ptr<const ContextSet>> Load() const {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += fmt::format("line {} of a text without much in it\n", i);
    ask::ContextOptions options;
    options.content = &journal_->content();
    return ask::LoadContext({{.path = {}, .text = std::move(text)}}, options, {});
  }

  Result<std::unique_ptr<Engine>> MakeEngine(std::string_view yaml, int concurrency) const {
    DOSSIER_ASSIGN_OR_RETURN(auto script, model::Script::Parse(yaml, "bench"));
    driver::BoundModel bound;
    bound.name = bound.entry.name = "scripted";
    bound.entry.capability.window = 128'000;
    bound.entry.capability.max_output = 8192;
    DOSSIER_ASSIGN_OR_RETURN(bound.counter,
                             tokens::MakeEstimator({.bytes_per_token = 3.3, .margin = 0.15}));
    bound.gate = model::Gate::Make(model::MakeScriptedClient(script, SystemClock()),
                                   {.concurrency = concurrency}, SystemClock());
    ask::EngineOptions options{.root = bound, .sub = bound};
    options.pool = pool_;
    options.journal = journal_;
    return std::make_unique<Engine>(std::move(options));
  }

  Status Ask(Engine& engine, std::shared_ptr<const ContextSet> context, std::string_view expected,
             ask::Forcing forcing = ask::Forcing::kFull) {
    AskRequest request{.question = "Which word comes first?", .context = std::move(context)};
    request.mode = ask::Mode::kRecursive;
    request.profile = ask::Profile::kLarge;
    request.forcing = forcing;
    request.limits.calls = 2000;
    request.limits.depth = 2;  // of which only children make use
    Nobody nobody;
    DOSSIER_ASSIGN_OR_RETURN(const Outcome outcome, engine.Run(request, {}, nobody));
    if (outcome.text == expected && outcome.turns == 1) return {};
    return MakeError(ErrorCode::kFailed, "a run took {} turns and answered \"{}\": {}",
                     outcome.turns, outcome.text,
                     outcome.error ? outcome.error->message : "no error");
  }

  std::string folder_;
  std::shared_ptr<store::Journal> journal_;
  std::shared_ptr<sandbox::Pool> pool_;
  std::shared_ptr<const ContextSet> context_;
};

Status Bench::MeasureCompletions() {
  DOSSIER_ASSIGN_OR_RETURN(const auto engine, MakeEngine(kOneTurn, 16));
  // The first two runs start the zygotes: one for all, one that holds this context's text.
  for (int i = 0; i < 3; ++i) DOSSIER_RETURN_IF_ERROR(Ask(*engine, context_, "line"));
  Samples loaded, with_load;
  for (int i = 0; i < kCompletions; ++i) {
    Status status;
    loaded.Time([&] { status = Ask(*engine, context_, "line"); });
    DOSSIER_RETURN_IF_ERROR(status);
    with_load.Time([&] {
      const auto context = Load();
      status = context ? Ask(*engine, *context, "line") : tl::unexpected(context.error());
    });
    DOSSIER_RETURN_IF_ERROR(status);
  }
  Report("engine.completion", loaded);
  Report("engine.completion_with_load", with_load);
  return {};
}

Status Bench::MeasureBatches() {
  DOSSIER_ASSIGN_OR_RETURN(const auto engine, MakeEngine(kBatch, 64));
  Samples batches;
  for (int i = 0; i < kBatches; ++i) {
    Status status;
    batches.Time([&] { status = Ask(*engine, context_, "1000 said yes", ask::Forcing::kNone); });
    DOSSIER_RETURN_IF_ERROR(status);
  }
  Report("engine.batch", batches);
  return {};
}

Status Bench::MeasureChildren() {
  for (const int delay : {0, 50}) {
    for (const int children : {1, 16, 100, 1000}) {
      DOSSIER_ASSIGN_OR_RETURN(const auto engine,
                               MakeEngine(fmt::format(kChildren, children, delay), kInFlight));
      // What the children are given is a part of the context, which a check would speak of.
      const auto run_once = [&](Engine& with) {
        return Ask(with, context_, fmt::format("{} said line", children), ask::Forcing::kNone);
      };
      DOSSIER_RETURN_IF_ERROR(run_once(*engine));
      Samples samples;
      for (int i = 0; i < (children == 1000 ? 3 : kRuns); ++i) {
        Status status;
        samples.Time([&] { status = run_once(*engine); });
        DOSSIER_RETURN_IF_ERROR(status);
      }
      Report(fmt::format("engine.children_{}_{}", children, delay), samples);
    }
  }
  return {};
}

}  // namespace

Status RunEngineBench(const std::string& folder, std::string_view part) {
  Bench bench(folder);
  DOSSIER_RETURN_IF_ERROR(bench.Open());
  if (part == "completions") return bench.MeasureCompletions();
  if (part == "batch") return bench.MeasureBatches();
  if (part == "children") return bench.MeasureChildren();
  return MakeError(ErrorCode::kUsage, "engine: no part {}", part);
}

}  // namespace dossier::bench
