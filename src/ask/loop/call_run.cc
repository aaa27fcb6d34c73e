#include "ask/loop/call_run.h"

#include <utility>

#include "ask/loop/direct.h"
#include "ask/loop/metadata.h"
#include "ask/subcalls/session_restore.h"
#include "ask/subcalls/workbench.h"

namespace dossier::ask {
namespace {

// Returns what was read of the context in the end: besides what sub-calls were shown and code read,
// the passages of the first prompt and the results, if the model answered.
Coverage::Shares ReadInAll(const RunState& run, Workbench* bench, const CallLoop& loop,
                           const Metadata& metadata) {
  std::optional<Coverage> own;  // if no code ran
  if (!bench) {
    if (metadata.passages.places.empty()) return {};  // avoid waiting for copies
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < run.request.context->documents().size(); ++i) {
      const auto stored = run.request.context->Stored(i);
      if (!stored) return {};
      texts.push_back((*stored)->map.bytes());
    }
    own.emplace(std::move(texts));
  }
  Coverage& coverage = bench ? bench->coverage() : *own;
  for (const Passage& place : loop.passages_shown()) {
    coverage.AddSlice(place.document, place.at, place.length);
  }
  for (const std::string& text : loop.shown_results()) coverage.AddText(text);
  return coverage.Read();
}

}  // namespace

void DoubtChangedContexts(const RunState& run, CallResult* result) {
  const ContextSet& context = *run.request.context;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const auto stored = context.Stored(i);
    if (!stored || !(*stored)->named) continue;
    const std::vector<std::string>& seen = context.documents()[i].warnings;
    if ((*stored)->changed.empty() && seen.empty()) continue;
    result->doubts.push_back(seen.empty() ? (*stored)->changed : seen.front());
    const bool whole =
        result->status == RunStatus::kFinal || result->status == RunStatus::kExtracted;
    if (whole) result->status = RunStatus::kPartial;
  }
}

CallEnd RunCall(RunState& run, sandbox::Pool& pool, std::unique_ptr<BegunSession> begun) {
  if (!begun) begun = BeginSession(run, pool);
  Metadata metadata = MakeMetadata(run);
  metadata.passages = FindPassagesFor(run);
  if (const std::string told = SessionText(run.request.session); !told.empty()) {
    metadata.hint += (metadata.hint.empty() ? "" : "\n") + told;
  }
  MovedTurns moved;
  std::unique_ptr<Workbench> bench;
  CallLoop* running = nullptr;
  CallLoop loop(run, metadata, moved, [&]() -> Result<Workbench*> {
    const auto turn = [&running] { return running ? running->turn() : 0; };
    DOSSIER_ASSIGN_OR_RETURN(bench, Workbench::Open(run, pool, moved, turn, std::move(begun)));
    return bench.get();
  });
  running = &loop;
  CallEnd end{.result = loop.Run()};
  if (bench || !metadata.passages.places.empty()) DoubtChangedContexts(run, &end.result);
  end.read = ReadInAll(run, bench.get(), loop, metadata);
  if (bench) {
    end.sandbox = bench->session().report();
    bench->session().Close();
  }
  return end;
}

namespace {

ChildAnswer RunChild(const RunState& parent, const ChildCall& child, sandbox::Pool& pool) {
  driver::Caller caller(parent.ledger, parent.options.clock);
  RunState run{.options = parent.options,
               .request = child.request,
               .policy = parent.policy,
               .root = *child.model,
               .boundary = parent.boundary,
               .prompts = parent.prompts,
               .ledger = parent.ledger,
               .log = CallLog(parent.log.log(), child.place.call),
               .caller = caller,
               .guard = parent.guard,
               .tree = parent.tree,
               .place = child.place,
               .cancel = child.cancel,
               .max_subcall_chars = parent.max_subcall_chars};
  CallEnd end = RunCall(run, pool);
  return {.status = end.result.status,
          .source = end.result.source,
          .text = std::move(end.result.text),
          .value = std::move(end.result.value),
          .turns = end.result.turns,
          .doubts = std::move(end.result.doubts),
          .error = std::move(end.result.error),
          .read = end.read,
          .usage = caller.usage()};
}

}  // namespace

CallTree::RunChild ChildRunner(std::function<Result<sandbox::Pool*>()> get_pool) {
  return [get_pool = std::move(get_pool)](const RunState& parent,
                                          const ChildCall& child) -> ChildAnswer {
    const auto pool = get_pool();
    if (!pool) return {.status = RunStatus::kFailed, .error = pool.error()};
    return RunChild(parent, child, **pool);
  };
}

}  // namespace dossier::ask
