// The host's side of the bridge: one table from method to what serves it.
//
// Thread-safety: OnCall on the session's thread; replies come from any.

#ifndef DOSSIER_ASK_SUBCALLS_BRIDGE_H_
#define DOSSIER_ASK_SUBCALLS_BRIDGE_H_

#include <functional>
#include <memory>

#include "ask/documents/document_service.h"
#include "ask/reply/moved_turns.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/map_call.h"
#include "ask/subcalls/subcalls.h"
#include "base/task_group.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

class Bridge final : public sandbox::BridgeHandler {
 public:
  // `moved` is what `history` shows; `turn` says which turn runs, for budget(). All must outlive
  // it.
  Bridge(RunState& run, DocumentService& documents, Subcalls& subcalls, Coverage& coverage,
         const MovedTurns& moved, std::function<int()> turn)
      : run_(run),
        documents_(documents),
        coverage_(coverage),
        subcalls_(subcalls),
        map_(run, subcalls, documents),
        moved_(moved),
        turn_(std::move(turn)) {}

  void OnCall(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply) override;

 private:
  void Memory(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  void Document(sandbox::BridgeCall call, std::shared_ptr<sandbox::BridgeReply> reply);
  // What of the context an answered request has let code read.
  void NoteRead(std::string_view method, const JsonObject& args);
  Json BudgetValue() const;
  void History(const sandbox::BridgeCall& call, sandbox::BridgeReply& reply) const;

  RunState& run_;
  DocumentService& documents_;
  Coverage& coverage_;
  Subcalls& subcalls_;
  MapCall map_;
  const MovedTurns& moved_;
  std::function<int()> turn_;
  TaskGroup tasks_;  // last: joined before the rest goes
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_BRIDGE_H_
