// The working environment of code: the session, the texts, the services behind the bridge.
//
//   std::unique_ptr<BegunSession> begun = BeginSession(run, pool);   // waits for nothing
//   DOSSIER_ASSIGN_OR_RETURN(auto bench, Workbench::Open(run, pool, moved, turn,
//   std::move(begun)));
//
// Opened when the first block has to run, so that the first request to the model waits neither for
// the sandbox nor for the copy of a large context. Meanwhile the sandbox starts up. Thread-safety:
// one owner.

#ifndef DOSSIER_ASK_SUBCALLS_WORKBENCH_H_
#define DOSSIER_ASK_SUBCALLS_WORKBENCH_H_

#include <atomic>
#include <functional>
#include <memory>

#include "ask/documents/document_service.h"
#include "ask/policy/coverage.h"
#include "ask/reply/transcript.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/child_calls.h"
#include "ask/subcalls/map_call.h"
#include "ask/subcalls/subcalls.h"
#include "base/task_group.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

// Answers the calls of code: texts, records, sub-calls, memory, the budget. Any session thread.
class Bridge final : public sandbox::BridgeHandler {
 public:
  // `moved` provides `history`; `turn` returns the current turn, for budget(). All must outlive it.
  Bridge(RunState& run, DocumentService& documents, Subcalls& subcalls, Coverage& coverage,
         const MovedTurns& moved, std::function<int()> turn)
      : run_(run),
        documents_(documents),
        coverage_(coverage),
        subcalls_(subcalls),
        map_(run, subcalls, documents),
        children_(run, documents, subcalls, coverage),
        moved_(moved),
        turn_(std::move(turn)) {}

  void OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) override;

 private:
  void Memory(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  void CallerTool(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  void OutFile(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  void Document(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  // Counts what an answered request has let code read of the context.
  void NoteRead(std::string_view method, const JsonObject& args, const Json& value);
  void LogReply(const std::string& of, const Result<Json>& value);
  Json Budget();
  Json BudgetValue() const;
  using Reply = std::shared_ptr<sandbox::BridgeReply>;
  void Aside(Reply reply, std::function<void(const Reply& to)> work);
  // Answers from the record if the run is repeated.
  bool AnswerRecorded(const std::string& of, sandbox::BridgeReply& reply);
  void GiveValue(Json told, sandbox::BridgeReply& reply) const;
  void History(const sandbox::BridgeCall& call, sandbox::BridgeReply& reply) const;

  RunState& run_;
  DocumentService& documents_;
  Coverage& coverage_;
  Subcalls& subcalls_;
  MapCall map_;
  ChildCalls children_;
  const MovedTurns& moved_;
  std::function<int()> turn_;
  std::atomic<int> budgets_ = 0;  // calls of budget(), where each differs
  TaskGroup tasks_;               // last member: joined before the others are destroyed
};

// The parameters of a session; the texts belong to the request's contexts.
struct SessionPlan {
  sandbox::SessionSpec spec;
  std::vector<std::string_view> texts;
  std::vector<TextDocument> documents;
};

struct BegunSession {
  SessionPlan plan;
  std::unique_ptr<sandbox::Opening> opening;
};

// Begins the session of a call that will probably run code. Null if that would have to wait for a
// copy of the context, or fails: then the pool at least prepares a session.
std::unique_ptr<BegunSession> BeginSession(const RunState& run, sandbox::Pool& pool);

class Workbench {
 public:
  // Waits for the context's copies and for the session: `begun` if not null, else a new one.
  // `moved` and `turn` as in Bridge. Errors: kUnavailable (no sandbox as strict as requested), kIo
  // (the copy failed), kDied, kCancelled.
  static Result<std::unique_ptr<Workbench>> Open(RunState& run, sandbox::Pool& pool,
                                                 const MovedTurns& moved, std::function<int()> turn,
                                                 std::unique_ptr<BegunSession> begun);

  sandbox::Session& session() { return *session_; }
  // Coverage of this question's context, including what earlier session questions have read of it.
  Coverage& coverage() { return coverage_; }
  // Returns true if those have read anything, so that their variables may hold data.
  bool read_before() const { return read_before_; }
  Subcalls& subcalls() { return subcalls_; }
  sandbox::BridgeHandler& handler() { return bridge_; }

 private:
  Workbench(RunState& run, std::vector<std::string_view> texts, std::vector<TextDocument> documents,
            const MovedTurns& moved, std::function<int()> turn,
            std::unique_ptr<sandbox::Session> session)
      : coverage_({texts.begin(),
                   texts.begin() + static_cast<std::ptrdiff_t>(std::min(
                                       texts.size(), run.request.context->documents().size()))}),
        documents_(std::move(documents)),
        texts_(texts),
        subcalls_(run, std::move(texts), coverage_),
        bridge_(run, documents_, subcalls_, coverage_, moved, std::move(turn)),
        session_(std::move(session)) {}

  Coverage coverage_;
  bool read_before_ = false;
  DocumentService documents_;
  std::vector<std::string_view> texts_;  // of this question, then of earlier ones of the session
  Subcalls subcalls_;
  Bridge bridge_;
  std::unique_ptr<sandbox::Session> session_;  // last member: ends before what serves it
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_WORKBENCH_H_
