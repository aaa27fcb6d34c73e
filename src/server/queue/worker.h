// A worker of the shared store: takes runs from its queue, answers them with the models and the
// sandbox of this machine, and continues runs that other workers left.
//
//   DOSSIER_RETURN_IF_ERROR(RunWorker({.store = "postgresql:///dossier", .slots = 4, …}, stop));
//
// After `stop` it takes nothing new, gives running runs the time `drain`, puts the rest back into
// the queue, and returns. Errors: those of the store, if it cannot be reached at the start, and
// those of the model of `workspace`; later the worker waits for the store. A run whose model cannot
// be opened here is left to other workers. Thread-safety: a call has its own threads; several may
// run at once with one cache folder.

#ifndef DOSSIER_SERVER_QUEUE_WORKER_H_
#define DOSSIER_SERVER_QUEUE_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "server/workspace.h"

namespace dossier::server {

struct WorkerOptions {
  std::string store;      // postgresql://…
  std::size_t slots = 4;  // runs at once
  Millis lease{60'000}, drain{30'000};
  std::optional<std::int64_t> per_owner;   // concurrent runs of one owner, on all machines
  std::string cache_folder;                // fetched texts, and journals of running runs
  std::uint64_t cache_bytes = 2ull << 30;  // size limit of the cache when idle
  enum class Ends : std::uint8_t { kWhenStopped, kWhenEmpty } ends = Ends::kWhenStopped;
  std::string version;
  std::function<void(std::string_view line)> say;  // messages for a person, from any thread
};

// Runs use the model, the sandbox and the limits of `workspace`.
Status RunWorker(const WorkerOptions& options, Workspace& workspace, const CancelToken& stop);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_QUEUE_WORKER_H_
