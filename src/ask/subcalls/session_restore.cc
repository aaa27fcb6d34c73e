#include "ask/subcalls/session_restore.h"

#include "ask/documents/out_folder.h"
#include "ask/run/replay.h"
#include "ask/subcalls/workbench.h"
#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

class Nobody final : public EventSink {
 public:
  void OnEvent(const store::Event&) override {}
};

// Code that makes the worker switch to the documents of that question.
std::string SelectCode(std::size_t question) {
  return fmt::format("_dossier_question({})", question);
}

Status CheckSame(const PastQuestion& past, const Replay& replay) {
  for (std::size_t i = 0; i < past.context->documents().size(); ++i) {
    const std::string& name = past.context->documents()[i].name;
    const auto recorded = replay.contexts().find(name);
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, past.context->Stored(i));
    if (recorded == replay.contexts().end() || recorded->second == stored->sha256) continue;
    return MakeError(
        ErrorCode::kDamaged,
        "{} is not what it was in run {} of the session: put it back, or begin another "
        "session",
        name, past.run);
  }
  return {};
}

// Restores one earlier question by running its blocks over its record.
Status Restore(RunState& run, std::size_t question, DocumentService& documents,
               const std::vector<std::string_view>& texts, sandbox::Session& session,
               Coverage& before) {
  const std::vector<PastQuestion>& all = run.request.session.past;
  const PastQuestion& past = all[question];
  DOSSIER_ASSIGN_OR_RETURN(auto replay, Replay::Read(*run.options.journal, past.run));
  DOSSIER_RETURN_IF_ERROR(CheckSame(past, *replay));
  EngineOptions options = run.options;
  for (driver::BoundModel* model : {&options.root, &options.sub}) {
    model->gate = ReplayGate(model->gate, replay, Beyond::kRefused);
  }
  if (options.child) {
    options.child->gate = ReplayGate(options.child->gate, replay, Beyond::kRefused);
  }
  for (auto& [name, model] : options.named) {
    model.gate = ReplayGate(model.gate, replay, Beyond::kRefused, name);
  }
  options.replies = nullptr;  // cached replies are in the record, too
  AskRequest request = run.request;
  request.question = past.question;
  request.context = past.context;
  request.seed = past.seed;
  request.session.past.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(question));
  // Files that code wrote then were already delivered; new writes are discarded.
  request.out = nullptr;
  std::optional<TempFolder> nowhere;
  if (past.files == PastQuestion::Files::kWritten) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder made, TempFolder::Make());
    nowhere.emplace(std::move(made));
    DOSSIER_ASSIGN_OR_RETURN(request.out, OutFolder::Open(nowhere->path()));
  }
  Nobody nobody;
  model::Ledger ledger({}, options.clock);
  AskLog log(options.journal, nobody, options.clock, replay, AskLog::Writes::kNot);
  driver::Caller caller(ledger, options.clock);
  SpendGuard guard({}, ledger);
  RunState state{.options = options,
                 .request = request,
                 .policy = run.policy,
                 .root = options.root,
                 .boundary = assembly::MakeBoundary(past.seed),
                 .prompts = run.prompts,
                 .ledger = ledger,
                 .log = CallLog(log, 0),
                 .caller = caller,
                 .guard = guard,
                 .tree = run.tree,
                 .place = {},
                 .cancel = run.cancel,
                 .max_subcall_chars = run.max_subcall_chars,
                 .memory = run.memory};
  MovedTurns moved;
  Subcalls subcalls(state, texts, before);
  Bridge bridge(state, documents, subcalls, before, moved, [] { return 0; });
  for (const std::string& code : past.blocks) {
    const sandbox::BlockOptions limits{
        .times =
            [&run] {
              return sandbox::BlockTimes{.deadline = run.ledger.deadline(model::Stage::kNormal),
                                         .end = run.ledger.deadline(model::Stage::kFinish)};
            },
        .cancel = run.cancel};
    DOSSIER_ASSIGN_OR_RETURN(const sandbox::BlockResult done, session.Run(code, limits, bridge));
    for (const sandbox::ReadPart& part : done.read) {
      before.AddReadByCode(part.context, part.at, part.length);
    }
  }
  for (const std::string& difference : replay->differences()) {
    run.log.Warn("replay_diverged", Json(fmt::format("{}: {}", past.run, difference)));
  }
  return {};
}

}  // namespace

Status RestoreSession(RunState& run, DocumentService& documents,
                      const std::vector<std::string_view>& texts, sandbox::Session& session,
                      Coverage& before) {
  class Refusing final : public sandbox::BridgeHandler {
   public:
    void OnCall(sandbox::BridgeCall, std::shared_ptr<sandbox::BridgeReply> reply) override {
      reply->Fail("denied", "nothing is asked here");
    }
  } refusing;
  const std::vector<PastQuestion>& past = run.request.session.past;
  for (std::size_t i = 0; i <= past.size(); ++i) {
    const sandbox::BlockOptions limits{.cancel = run.cancel};
    DOSSIER_ASSIGN_OR_RETURN(const sandbox::BlockResult selected,
                             session.Run(SelectCode(i), limits, refusing));
    if (selected.error) return MakeError(ErrorCode::kProtocol, "{}", selected.error->message);
    if (i == past.size()) break;
    DOSSIER_RETURN_IF_ERROR(Restore(run, i, documents, texts, session, before));
  }
  return {};
}

std::string SessionText(const AskedSession& session) {
  const std::size_t count = session.past.size();
  if (count == 0) return {};
  return fmt::format(
      "This is question {0} of a session. `context` is the text of this question; context_0 to "
      "context_{1} are those of all {0} (context_{1} is `context`). history_0 to history_{2} are "
      "the "
      "transcripts of the {1} before. The variables that they left are still there: SHOW_VARS() "
      "lists them.",
      count + 1, count, count - 1);
}

}  // namespace dossier::ask
