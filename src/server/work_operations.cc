// The operations run, ask, estimate, pack, remember and recall.

#include <algorithm>
#include <chrono>

#include "app/open_model.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "server/operation_list.h"
#include "server/owners.h"
#include "server/run_table.h"
#include "server/session_table.h"
#include "server/workspace.h"
#include "sources/pack/pack.h"

namespace dossier::server {
namespace {

using sandbox::BlockResult;
using sandbox::BlockStatus;

constexpr std::string_view kRunLine = "\nsession: ";

void Tell(Output& output, std::string text) {
  output.parts.push_back({TextPart::Origin::kOurs, std::move(text)});
}
void Quote(Output& output, std::string text) {
  output.parts.push_back({TextPart::Origin::kOthers, std::move(text)});
}

// Returns "" for an absent argument.
std::string GivenText(const JsonObject& arguments, std::string_view name) {
  return TextAt(Json(arguments), name);
}

// Returns the output of a block, then its last value, its error, and notes of the sandbox.
std::string BlockText(const BlockResult& result) {
  std::string text = result.out;
  const auto add = [&](std::string_view more) {
    if (more.empty()) return;
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += more;
  };
  add(result.last);
  if (result.answer) add(result.answer->text);
  if (result.error) {
    add(result.error->traceback.empty()
            ? fmt::format("{}: {}", result.error->type, result.error->message)
            : result.error->traceback);
  }
  if (!result.refused.empty()) add("not run: " + result.refused);
  for (const std::string& note : result.notes) add("note: " + note);
  if (!result.death_reason.empty()) add("the interpreter died: " + result.death_reason);
  return text;
}

bool Succeeded(BlockStatus status) {
  return status == BlockStatus::kOk || status == BlockStatus::kFinal;
}

// Reads images by name, each a file that this server may read.
Result<std::vector<ask::Medium>> ImagesOf(const Workspace& workspace, const JsonObject& arguments,
                                          const CancelToken& cancel) {
  std::vector<ask::Medium> media;
  const Json* given = Find(arguments, "images");
  if (!given) return media;
  for (const auto& [name, place] : given->get_object()) {
    if (!place.is_string()) {
      return MakeError(ErrorCode::kInvalidArgument, "/images/{}: must be a path", name);
    }
    const std::string path(place.get_string());
    DOSSIER_ASSIGN_OR_RETURN(const std::string real, workspace.Admit(path));
    DOSSIER_ASSIGN_OR_RETURN(const UniqueFd file, workspace.OpenFile(real));
    DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(file.get(), path, ask::kMaxImage));
    DOSSIER_ASSIGN_OR_RETURN(ask::Medium medium,
                             ask::MediumOf(std::string(name), path, bytes, cancel));
    media.push_back(std::move(medium));
  }
  return media;
}

Result<AskWish> WishOf(const JsonObject& arguments, const CallScope& scope) {
  AskWish wish{.context = GivenText(arguments, "context"),
               .question = GivenText(arguments, "question"),
               .max_usd = scope.max_usd,
               .max_calls = scope.max_calls};
  if (const Json* schema = Find(arguments, "schema")) wish.schema = *schema;
  if (const auto usd = FindNumber(arguments, "max_usd")) {
    if (*usd <= 0) return MakeError(ErrorCode::kInvalidArgument, "/max_usd: must be above 0");
    wish.max_usd = std::min(*usd, wish.max_usd.value_or(*usd));
  }
  const auto calls = FindInt(arguments, "max_calls");
  if (!calls && arguments.contains("max_calls")) {
    return MakeError(ErrorCode::kInvalidArgument, "/max_calls: is too large a number");
  }
  if (calls) {
    if (*calls < 1) return MakeError(ErrorCode::kInvalidArgument, "/max_calls: must be above 0");
    wish.max_calls = std::min(*calls, wish.max_calls.value_or(*calls));
  }
  return wish;
}

JsonArray LeftOutJson(const sources::PackedFiles& packed) {
  JsonArray list;
  for (const sources::PackedFile& file : packed.files) {
    if (file.why == sources::LeftOut::kNothing) continue;
    list.push_back(JsonObject{{"path", file.path}, {"why", sources::LeftOutName(file.why)}});
  }
  return list;
}

// Returns the paths for a pack: those given, or the files of a context.
Result<std::vector<std::string>> PackPaths(Workspace& workspace, const JsonObject& arguments) {
  std::vector<std::string> paths = StringsOf(Find(arguments, "paths"));
  const std::string id = GivenText(arguments, "context");
  if (paths.empty() == id.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "pack: give either /paths, files and folders, or /context, an id of open");
  }
  if (!id.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const KnownContext record, workspace.contexts().Look(id));
    DOSSIER_RETURN_IF_ERROR(workspace.MayRead(record));
    paths = record.paths;
    if (paths.empty()) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "pack: context {} holds a text, not files; read it instead", id);
    }
  }
  for (std::string& path : paths) {
    DOSSIER_ASSIGN_OR_RETURN(path, workspace.Admit(path));
  }
  return paths;
}

}  // namespace

Result<Output> RunOperation(Workspace& workspace, const JsonObject& arguments,
                            const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto context,
                           workspace.Context(GivenText(arguments, "context"), scope.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const SessionRun done,
                           workspace.sessions().Run(context, GivenText(arguments, "session"),
                                                    GivenText(arguments, "code"), scope));
  if (scope.cancel.cancelled())
    return MakeError(ErrorCode::kCancelled, "{}", scope.cancel.reason());
  Output output{.structured = {{"session", done.session},
                               {"status", sandbox::BlockStatusName(done.result.status)},
                               {"out_bytes", done.result.out_bytes},
                               {"cut", done.result.out_dropped > 0}}};
  if (!Succeeded(done.result.status)) output.kind = Output::Kind::kFailed;
  std::string text = BlockText(done.result);
  if (text.empty()) {
    Tell(output, "The code printed nothing.");
  } else {
    Quote(output, std::move(text));
  }
  Tell(output, fmt::format("{}{}  status: {}", kRunLine, done.session,
                           sandbox::BlockStatusName(done.result.status)));
  return output;
}

Result<Output> AskOperation(Workspace& workspace, const JsonObject& arguments,
                            const CallScope& scope) {
  if (workspace.options().paid == WorkspaceOptions::Paid::kOff) {
    return MakeError(ErrorCode::kRefused, "ask: this server calls no model (--paid off)");
  }
  std::string run = GivenText(arguments, "run");
  const bool asks = arguments.contains("context") || arguments.contains("question");
  if (run.empty() && !(arguments.contains("context") && arguments.contains("question"))) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "ask: give /context and /question, or /run to wait for one that is running");
  }
  if (!run.empty() && asks) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "ask: /run waits for a run that was begun; leave /context and /question out");
  }
  if (run.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(AskWish wish, WishOf(arguments, scope));
    DOSSIER_ASSIGN_OR_RETURN(wish.media, ImagesOf(workspace, arguments, scope.cancel));
    if (scope.caller.usd_day) {
      wish.purse = PurseOf(workspace.options().data_folder, scope.caller.id, *scope.caller.usd_day,
                           workspace.options().clock);
    }
    DOSSIER_ASSIGN_OR_RETURN(run, workspace.runs().Start(wish, scope));
    if (scope.caller.owners) scope.caller.owners->Note(run, scope.caller.id);
  }
  const std::chrono::seconds wait(FindInt(arguments, "wait_s").value_or(0));
  return workspace.runs().Wait(run, wait, scope);
}

Result<Output> EstimateOperation(Workspace& workspace, const JsonObject& arguments,
                                 const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const AskWish wish, WishOf(arguments, scope));
  DOSSIER_ASSIGN_OR_RETURN(const AskEstimate estimate,
                           workspace.runs().Estimate(wish, scope.cancel));
  Output output{.structured = estimate.ToJson()};
  Tell(output, estimate.ToText());
  return output;
}

Result<Output> PackOperation(Workspace& workspace, const JsonObject& arguments,
                             const CallScope& scope) {
  const auto budget = FindInt(arguments, "budget");
  if (!budget) return MakeError(ErrorCode::kInvalidArgument, "/budget: is too large a number");
  sources::PackOptions options{.budget = budget, .task = GivenText(arguments, "task")};
  DOSSIER_ASSIGN_OR_RETURN(options.paths, PackPaths(workspace, arguments));
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, app::OpenCounter({}));
  options.counts_folder = app::CountsFolder(opened);
  options.counts_name = opened.identity;
  options.counter = std::move(opened.counter);
  DOSSIER_ASSIGN_OR_RETURN(const sources::PackedFiles packed, sources::Pack(options, scope.cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto packs, workspace.Packs());
  std::string text = packed.Text();
  DOSSIER_ASSIGN_OR_RETURN(const std::string hash, packs->Put(text));
  Output output{.structured = {{"tokens", packed.tokens},
                               {"budget", *budget},
                               {"files", packed.files.size()},
                               {"left_out", LeftOutJson(packed)}}};
  Quote(output, std::move(text));
  for (const std::string& warning : packed.warnings) Tell(output, "\nnote: " + warning);
  output.links.push_back({"dossier://pack/" + hash, "pack", "The whole packed text."});
  return output;
}

Result<Output> RememberOperation(Workspace& workspace, const JsonObject& arguments,
                                 const CallScope& scope) {
  static_cast<void>(scope);
  memory::Record record{.text = GivenText(arguments, "text"),
                        .ref = GivenText(arguments, "ref"),
                        .tags = StringsOf(Find(arguments, "tags"))};
  if (TrimSpace(record.text).empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "/text: is empty");
  }
  DOSSIER_ASSIGN_OR_RETURN(const app::PromptMemory memory,
                           workspace.Memory(app::MemoryNeed::kWritten));
  memory::RecordWrite written;
  // A model chose the words, so they may do no more than models may.
  DOSSIER_RETURN_IF_ERROR(
      memory.store->Transact("root", {.actor = memory::Actor::kModel, .phase = "mcp"},
                             [&](memory::BranchTransaction& session) -> Status {
                               DOSSIER_ASSIGN_OR_RETURN(written, session.Add(record));
                               return {};
                             }));
  Output output{.structured = {{"id", written.id}}};
  Tell(output, fmt::format("stored m{}{}", written.id,
                           written.redacted > 0 ? "; a secret in it was taken out" : ""));
  return output;
}

Result<Output> RecallOperation(Workspace& workspace, const JsonObject& arguments,
                               const CallScope& scope) {
  static_cast<void>(scope);
  DOSSIER_ASSIGN_OR_RETURN(const app::PromptMemory memory,
                           workspace.Memory(app::MemoryNeed::kLookedAt));
  std::vector<memory::Hit> hits;
  if (memory.store) {
    DOSSIER_ASSIGN_OR_RETURN(const memory::View view, memory.store->Snapshot("root"));
    const int k = static_cast<int>(FindInt(arguments, "k").value_or(1));
    DOSSIER_ASSIGN_OR_RETURN(hits, view.Search({.text = GivenText(arguments, "query"),
                                                .k = k,
                                                .tags = StringsOf(Find(arguments, "tags"))}));
  }
  Output output;
  JsonArray list;
  std::string lines;
  for (const memory::Hit& hit : hits) {
    list.push_back(JsonObject{{"id", hit.record.id}, {"score", hit.score}});
    lines += fmt::format("{}m{}  {:.3f}  {}", lines.empty() ? "" : "\n", hit.record.id, hit.score,
                         hit.record.text);
  }
  output.structured = {{"total", list.size()}, {"hits", std::move(list)}};
  if (lines.empty()) {
    Tell(output, "Nothing that is stored fits.");
  } else {
    Quote(output, std::move(lines));
  }
  return output;
}

}  // namespace dossier::server
