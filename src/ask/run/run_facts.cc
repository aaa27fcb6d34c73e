#include "ask/run/run_facts.h"

#include <map>

#include "ask/run/recorded_run.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "sandbox/session/session.h"

namespace dossier::ask {
namespace {

JsonObject DescribeModel(const driver::BoundModel& model) {
  const auto& capability = model.entry.capability;
  return {{"name", model.name},
          {"origin", model.origin},
          {"window", capability.window},
          {"max_output", capability.max_output},
          {"profile", capability.profile},
          {"tokenizer", model.entry.tokenizer},
          {"as_of", model.entry.as_of}};
}

// For a database the file's size: its text is only the schema.
std::uint64_t BytesOf(const ContextDocument& document) {
  return (document.database_file ? *document.database_file : document.description).counts.bytes;
}

}  // namespace

JsonArray DescribeContexts(const ContextSet& context) {
  JsonArray list;
  const bool copied = context.WaitForCopies(Clock::Steady());
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    JsonObject about{{"name", document.name},
                     {"bytes", BytesOf(document)},
                     {"characters", document.description.counts.chars}};
    const bool stored_only = document.path.empty() || document.path == "stdin";
    if (!stored_only) about["path"] = document.path;
    JsonArray notes;
    for (const auto& note : document.description.notes) {
      if (note.code == "source") notes.emplace_back(note.text);
    }
    if (!notes.empty()) about["notes"] = std::move(notes);
    if (copied || stored_only) {
      if (const auto stored = context.Stored(i)) about["sha256"] = (*stored)->sha256;
    }
    list.push_back(std::move(about));
  }
  return list;
}

namespace {

// The size of each text when the run began, by name.
std::map<std::string, std::int64_t> RecordedSizes(const Replay& replay) {
  const Json started(replay.started().data);
  const Json* recorded = Find(started, "contexts");
  std::map<std::string, std::int64_t> sizes;
  for (const Json& one : recorded && recorded->is_array() ? recorded->get_array() : JsonArray()) {
    sizes[TextAt(one, "name")] = FindInt(one, "bytes").value_or(0);
  }
  return sizes;
}

Result<bool> IsSame(const ContextSet& context, std::size_t index, const Replay& replay,
                    std::int64_t size) {
  DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(index));
  const ContextDocument& document = context.documents()[index];
  const auto hash = replay.contexts().find(document.name);
  if (hash != replay.contexts().end()) return hash->second == stored->sha256;
  return size == static_cast<std::int64_t>(BytesOf(document));
}

}  // namespace

Status CheckSameContexts(const ContextSet& context, const Replay& replay) {
  const std::string& run = replay.started().run;
  std::map<std::string, std::int64_t> sizes = RecordedSizes(replay);
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    const auto size = sizes.find(document.name);
    if (size == sizes.end()) {
      return MakeError(ErrorCode::kDamaged, "run {} did not have the context {}", run,
                       document.name);
    }
    DOSSIER_ASSIGN_OR_RETURN(const bool same, IsSame(context, i, replay, size->second));
    if (!same) {
      return MakeError(ErrorCode::kDamaged,
                       "{} is not what it was when run {} began: put it back, or ask again",
                       document.path.empty() ? document.name : document.path, run);
    }
    sizes.erase(size);
  }
  if (sizes.empty()) return {};
  return MakeError(ErrorCode::kDamaged, "the context {} of run {} is not there any more",
                   sizes.begin()->first, run);
}

Result<std::shared_ptr<const ContextSet>> LoadRecorded(store::Journal& journal,
                                                       const std::string& run,
                                                       const ContextOptions& options,
                                                       const CancelToken& cancel,
                                                       std::set<std::string>* changed) {
  DOSSIER_ASSIGN_OR_RETURN(const auto sources, RecordedSources(journal, run));
  DOSSIER_ASSIGN_OR_RETURN(auto context, LoadContext(sources, options, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto replay, Replay::Read(journal, run));
  const std::map<std::string, std::int64_t> sizes = RecordedSizes(*replay);
  for (std::size_t i = 0; i < context->documents().size(); ++i) {
    const ContextDocument& document = context->documents()[i];
    const auto size = sizes.find(document.name);
    // The copy of an SQLite file is its schema.
    if (size == sizes.end() || document.database) continue;
    DOSSIER_ASSIGN_OR_RETURN(const bool same, IsSame(*context, i, *replay, size->second));
    if (!same) changed->insert(document.name);
  }
  if (changed->empty()) return context;
  DOSSIER_ASSIGN_OR_RETURN(const auto copies, RecordedSources(journal, run, *changed));
  return LoadContext(copies, options, cancel);
}

JsonObject DescribeLimits(const RunState& run) {
  const AskLimits& limits = run.request.limits;
  const auto or_null = [](const auto& limit) { return limit ? Json(*limit) : Json(nullptr); };
  return {{"iterations", run.iterations()},
          {"calls", limits.calls},
          {"depth", limits.depth},
          {"tokens", or_null(limits.tokens)},
          {"usd", or_null(limits.usd)},
          {"ms", limits.time ? Json(limits.time->count()) : Json(nullptr)},
          {"errors", limits.errors},
          {"output_chars", run.output_chars()}};
}

JsonObject MakeManifest(const RunState& run) {
  const auto worker = sandbox::WorkerBuild(run.options.pool_options);
  JsonObject manifest = run.prompts.manifest();
  JsonObject models{{"root", DescribeModel(run.root)}, {"sub", DescribeModel(run.options.sub)}};
  if (run.options.child) models["child"] = DescribeModel(*run.options.child);
  if (!run.options.named.empty()) {
    JsonObject named;
    for (const auto& [name, model] : run.options.named) named[name] = DescribeModel(model);
    models["named"] = std::move(named);
  }
  manifest["models"] = std::move(models);
  manifest["worker"] = worker ? Json(*worker) : Json(nullptr);
  manifest["program"] = BuildId();
  return manifest;
}

}  // namespace dossier::ask
