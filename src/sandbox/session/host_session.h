// The host's side of a session: runs blocks in a worker, and replaces a worker that has died.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto session, HostSession::Open(zygotes, std::move(spec)));
//   DOSSIER_ASSIGN_OR_RETURN(auto opening, HostSession::Begin(zygotes, std::move(spec)));
//
// Thread-safety: as Session.

#ifndef DOSSIER_SANDBOX_SESSION_HOST_SESSION_H_
#define DOSSIER_SANDBOX_SESSION_HOST_SESSION_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sandbox/session/host_block.h"
#include "sandbox/session/session.h"

namespace dossier::sandbox {

class HostSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> Open(std::shared_ptr<ZygoteSource> zygotes,
                                               SessionSpec spec, const CancelToken& cancel);
  static Result<std::unique_ptr<Opening>> Begin(std::shared_ptr<ZygoteSource> zygotes,
                                                SessionSpec spec, const CancelToken& cancel);
  ~HostSession() override { Close(); }

  Result<BlockResult> Run(std::string_view code, const BlockOptions& options,
                          BridgeHandler& handler) override;
  Result<CheckResult> Check(std::string_view code) override;
  Result<std::string> Get(std::string_view name, std::uint64_t max_bytes) override;
  Status Reset(const std::vector<std::string>& keep) override;
  void Interrupt(InterruptReason reason) override;
  void Close() override;
  const IsolationReport& report() const override { return report_; }
  Millis start_time() const override { return start_time_; }

 private:
  // A block, or a reset where `keep` is set.
  struct RecordedBlock {
    std::string code;
    int block = 0;
    std::vector<CallRecord> records;
    std::vector<std::string> assigned;
    std::optional<Millis> interrupted_after;  // CPU time; unset: it ran to its end
    std::optional<std::vector<std::string>> keep;
    std::uint64_t bytes() const;
  };

  HostSession(std::shared_ptr<ZygoteSource> zygotes, SessionSpec spec, CancelToken cancel);
  Status KeepContexts();
  Status FinishOpening();
  Status StartWorker();
  // A worker that went with a cancelled block is replaced by the next call that needs one. Errors:
  // kDied if the session has lost its worker for good.
  Status NeedWorker(const BlockTimes& run);
  Result<BlockResult> Finish(BlockOutcome outcome, const BlockTask& task);
  Result<BlockResult> Recover(BlockOutcome outcome, const BlockTask& task);
  // `run`: of the block that died, for its deadlines.
  Result<std::vector<std::string>> Replay(const BlockTimes& run);
  std::uint64_t RecordBytesLeft() const;
  void SendReset(const std::vector<std::string>& keep);
  Result<Message> Request(Message message);

  std::shared_ptr<ZygoteSource> zygotes_;
  SessionSpec spec_;
  const CancelToken cancel_;  // of waits for a worker; a block has its own
  std::vector<UniqueFd> context_fds_;
  std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
  BlockControl control_;
  std::mutex running_;  // held by Run, Check, Get and the closing thread
  std::unique_ptr<HostWorker> worker_;
  IsolationReport report_;
  Millis start_time_{0};
  int next_block_ = 1;
  int deaths_ = 0;
  enum class Lost { kForGood, kWithItsBlock } lost_ = Lost::kForGood;  // why there is no worker
  std::vector<RecordedBlock> recorded_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_SESSION_H_
