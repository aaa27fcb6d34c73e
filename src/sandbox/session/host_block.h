// Runs one block in one worker, from `run` to `done` or to the worker's death.
//
//   BlockTask task{.code = code, .block = 3, .limits = &limits, .control = &control};
//   task.handler = &handler;
//   BlockOutcome outcome = RunInWorker(worker, task);
//   if (outcome.end == BlockEnd::kDied) …replace the worker…
//
// Enforces the deadlines: silence, which pauses while a call is open and, where only idle time
// counts, begins again with every call and reply; CPU of all threads; the run's own deadline;
// cancellation. At each it interrupts, repeats that every 200 ms, and sends SIGKILL after the
// grace. Checks memory and threads every 50 ms. Threads that are left at the end do not run until
// the next block or request.
//
// Thread-safety: blocks the caller; BlockControl may be used from any thread.

#ifndef DOSSIER_SANDBOX_SESSION_HOST_BLOCK_H_
#define DOSSIER_SANDBOX_SESSION_HOST_BLOCK_H_

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/session/host_worker.h"

namespace dossier::sandbox {

// Requests of other threads to the running block.
struct BlockControl {
  std::atomic<int> interrupt{-1};  // an InterruptReason, or -1
  std::atomic<bool> closed{false};
};

// The output of a block as it arrives: pieces of the head, and one piece of the tail.
struct BlockOutput {
  std::string text;
  std::string late;  // output of threads of `late_block` after that block's end
  int late_block = 0;
  std::uint64_t end = 0;  // size of the whole output up to the last piece
  std::uint64_t total = 0, dropped = 0;

  void Add(std::string_view piece, std::uint64_t at);
};

enum class BlockEnd { kDone, kDied, kProtocol, kClosed };

struct BlockOutcome {
  BlockEnd end = BlockEnd::kDied;
  Message done;
  BlockOutput output;
  std::string answer;  // the beginning of an answer's text, whose end is in `done`
  std::optional<InterruptReason> interrupted;
  bool cancelled = false;     // by the run's token
  bool context_text = false;  // the worker made a str of its contexts
  std::string death_reason;   // or the protocol violation
  std::vector<CallRecord> records;
  Millis wall{0}, cpu{0};
  std::uint64_t peak_bytes = 0;
};

struct BlockTask {
  std::string code;
  int block = 0;
  const SessionSpec* spec = nullptr;
  BlockControl* control = nullptr;
  Waker* waker = nullptr;
  BlockOptions options;
  BridgeHandler* handler = nullptr;  // or, in a replay,
  const std::vector<CallRecord>* records = nullptr;
  std::optional<Millis> interrupt_after;  // for the replay of an interrupted block
  std::optional<Millis> cpu_limit;        // replaces that of the spec
  std::uint64_t most_record_bytes = 0;    // limit for the records in the outcome
};

BlockOutcome RunInWorker(HostWorker& worker, const BlockTask& task);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_HOST_BLOCK_H_
