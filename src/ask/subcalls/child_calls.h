// Runs children: questions of code that are answered by a call with its own turns and sandbox.
//
//   ChildCalls children(run, subcalls, coverage);
//   if (children.Offered()) children.Start(call, reply);      // rlm, rlm_batch
//
// Code passes a question, and a context by its position in the parent's: only offsets cross the
// bridge, and the text is copied once, into memory that the child's worker maps. All children run
// concurrently as far as CallTree allows. They end with the block that asked: their requests in
// flight are cancelled and their sandboxes stopped.
//
// Once per call, a child that is given nearly all of its parent's context unchanged is refused: it
// would have the same problem as its parent, at the same cost again.
//
// Thread-safety: Start from any thread. The destructor waits for the children.

#ifndef DOSSIER_ASK_SUBCALLS_CHILD_CALLS_H_
#define DOSSIER_ASK_SUBCALLS_CHILD_CALLS_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ask/documents/document_service.h"
#include "ask/policy/coverage.h"
#include "ask/run/run_state.h"
#include "ask/subcalls/code_reply.h"
#include "ask/subcalls/subcalls.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

class ChildCalls {
 public:
  ChildCalls(RunState& run, DocumentService& documents, Subcalls& subcalls, Coverage& coverage)
      : run_(run), documents_(documents), subcalls_(subcalls), coverage_(coverage) {}
  ~ChildCalls();

  // Returns true if a child may start below this call; otherwise it is a plain sub-call.
  bool Offered() const { return run_.depth_left() > 1; }
  // Checks the call and answers when the children have. Takes as long as reading all prompts.
  void Start(const std::shared_ptr<const sandbox::BridgeCall>& call,
             const std::shared_ptr<sandbox::BridgeReply>& reply);

 private:
  using Call = std::shared_ptr<const sandbox::BridgeCall>;
  // Settings shared by all children of one call of code.
  struct Settings {
    const driver::BoundModel* model = nullptr;
    std::optional<double> temperature;
    std::vector<Requirement> requirements;
  };
  struct Prompt {
    Call call;               // owns the texts
    const JsonObject* args;  // {"parts":…, "context":…}
  };
  using Done = std::function<void(Result<CodeReply>)>;

  Result<Settings> ReadSettings(const JsonObject& args) const;
  Status CheckPrompt(const Prompt& prompt) const;
  Status RefuseWhole(const Prompt& prompt);
  void StartOne(const Prompt& prompt, const std::shared_ptr<const Settings>& settings,
                const CancelToken& cancel, Done done);
  Result<CodeReply> Ask(const Prompt& prompt, const Settings& settings, CallPlace place,
                        const CancelToken& cancel);
  Result<AskRequest> MakeRequest(const Prompt& prompt, const Settings& settings,
                                 const CallPlace& place, const CancelToken& cancel);
  Result<std::shared_ptr<const ContextSet>> LoadTexts(const Prompt& prompt,
                                                      std::string whole_prompt,
                                                      const CancelToken& cancel) const;
  Result<std::shared_ptr<const ContextSet>> LoadShared(const Prompt& prompt,
                                                       const CancelToken& cancel);
  Result<ContextSource> ContextOf(const Prompt& prompt) const;
  JsonArray ContextRefs(const Prompt& prompt) const;
  void LogEnd(const CallLog& log, const ChildAnswer& answer, Millis took) const;
  void CountRead(const Prompt& prompt, const ChildAnswer& answer);
  void Begin();
  void End();

  RunState& run_;
  DocumentService& documents_;
  Subcalls& subcalls_;
  Coverage& coverage_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable idle_;
  int open_ = 0;         // children that were started and have not ended
  int asked_ = 0;        // total, for their paths
  bool warned_ = false;  // about a child that was given nearly all
  std::mutex loading_;   // guards what follows
  std::map<std::string, std::weak_ptr<const ContextSet>> loaded_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_CHILD_CALLS_H_
