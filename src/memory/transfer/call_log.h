// The log of memory requests and replies: memory_calls.jsonl, one JSON object per line.
//
//   MemoryCallLog log({.path = CallLogPath(store->path()), .max_chars = 1000, .clock = clock});
//   DOSSIER_RETURN_IF_ERROR(log.Append({.op = "search", .layer = "command",
//                                       .memory_type = "archival", .branch = "root",
//                                       .details = {{"query", query}}}));
//
// A line is written completely or not at all, even if other processes write. Secrets are removed
// and long texts are cut. Errors: those of OpenForAppend. Thread-safety: Append from any thread.

#ifndef DOSSIER_MEMORY_TRANSFER_CALL_LOG_H_
#define DOSSIER_MEMORY_TRANSFER_CALL_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "memory/store/store.h"

namespace dossier::memory {

struct LoggedCall {
  std::string op;           // "core_set", "search"
  std::string layer;        // the caller: "command", "block", "prompt", "bridge", "turn"
  std::string memory_type;  // "core", "recall", "archival", "branch", "store"
  std::string branch, node, phase, run;
  JsonObject details;
};

struct CallLogOptions {
  std::string path;
  std::int64_t max_chars = 1000;  // code points of one text in `details`
  Redaction redaction = Redaction::kOn;
  std::shared_ptr<const Clock> clock = SystemClock();
};

class MemoryCallLog {
 public:
  explicit MemoryCallLog(CallLogOptions options) : options_(std::move(options)) {}

  Status Append(LoggedCall call) const;

 private:
  CallLogOptions options_;
};

// Appends one line for each UpdateResult log entry of an applied block. `as` gives other fields.
Status AppendOperations(const MemoryCallLog& log, const LoggedCall& as,
                        const JsonArray& operations_log);

// Returns the path of memory_calls.jsonl beside the store.
std::string CallLogPath(const std::string& store_path);

// Counts the read-only calls in a log, by phase. A missing log has none; lines that are not calls
// are skipped. Errors: those of the file.
Result<std::map<std::string, std::int64_t>> ReadsByPhase(const std::string& path);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_TRANSFER_CALL_LOG_H_
