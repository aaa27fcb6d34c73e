#include "ask/subcalls/workbench.h"

#include "inspect/description/hint.h"

namespace dossier::ask {
namespace {

sandbox::SessionSpec MakeSpec(const RunState& run) {
  sandbox::SessionSpec spec;
  spec.seed = run.request.seed;
  spec.limits = run.request.cell;
  spec.context_string_max = run.request.context_string_max;
  spec.named_models = {run.options.sub.name};
  spec.features = {{"profile", run.policy.name},
                   {"depth", run.request.limits.depth},
                   {"max_subcall_chars", run.max_subcall_chars},
                   {"question", run.request.question},
                   {"memory", run.memory != nullptr}};
  return spec;
}

void LogContext(const RunState& run, const std::string& name, const StoredText& stored) {
  if (!stored.named) {
    return run.log.Add(0, "context.stored", {{"name", name}, {"sha256", stored.sha256}});
  }
  run.log.Add(0, "context.named",
              {{"name", name},
               {"path", stored.named->path},
               {"bytes", stored.named->bytes},
               {"modified_ns", stored.named->modified_ns},
               {"sha256", stored.sha256},
               {"text_bytes", stored.map.bytes().size()}});
}

}  // namespace

Result<std::unique_ptr<Workbench>> Workbench::Open(RunState& run, sandbox::Pool& pool,
                                                   const MovedTurns& moved,
                                                   std::function<int()> turn) {
  sandbox::SessionSpec spec = MakeSpec(run);
  std::vector<std::string_view> texts;
  std::vector<TextDocument> documents;
  const ContextSet& context = *run.request.context;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    const std::string_view text = stored->map.bytes();
    LogContext(run, document.name, *stored);
    if (!stored->changed.empty() && document.warnings.empty()) {
      run.log.Warn(0, "context_changed", Json(stored->changed));
    }
    const inspect::Description& description =
        stored->description ? *stored->description : document.description;
    spec.contexts.push_back({.name = document.name,
                             .fd = stored->fd.get(),
                             .bytes = text.size(),
                             .characters = description.counts.chars,
                             .meta = inspect::ContextMeta(description, inspect::Runtime::kPython)});
    texts.push_back(text);
    documents.push_back({document.name, text, description});
  }
  DOSSIER_ASSIGN_OR_RETURN(std::unique_ptr<sandbox::Session> session,
                           pool.Open(std::move(spec), run.cancel));
  run.log.Add(0, "sandbox.started",
              {{"report", session->report().ToJson()}, {"ms", session->start_time().count()}});
  return std::unique_ptr<Workbench>(new Workbench(run, std::move(texts), std::move(documents),
                                                  moved, std::move(turn), std::move(session)));
}

}  // namespace dossier::ask
