// The log of requests to memory and their replies: memory_calls.jsonl, one JSON object a line.
//
//   CallLog log({.path = CallLogPath(store->path()), .max_chars = 1000, .clock = clock});
//   DOSSIER_RETURN_IF_ERROR(log.Append({.op = "search", .layer = "command",
//                                       .memory_type = "archival", .branch = "root",
//                                       .details = {{"query", query}}}));
//
// A line is written whole or not at all, also beside other processes. Secrets are taken out of it,
// long texts are cut. Errors: kIo, kPermission with the path. Thread-safety: Append from any
// thread.

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
  std::string layer;        // who asked: "command", "block", "prompt", "bridge", "turn"
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

class CallLog {
 public:
  explicit CallLog(CallLogOptions options) : options_(std::move(options)) {}

  Status Append(LoggedCall call) const;

 private:
  CallLogOptions options_;
};

// Those of a block that was applied, as UpdateResult has them, a line each. `as` gives the rest.
Status AppendOperations(const CallLog& log, const LoggedCall& as, const JsonArray& operations_log);

// memory_calls.jsonl beside the store.
std::string CallLogPath(const std::string& store_path);

// How many of the calls in a log only read, by phase. A log that is not there has none; lines that
// are no calls are passed over. Errors: those of the file.
Result<std::map<std::string, std::int64_t>> ReadsByPhase(const std::string& path);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_TRANSFER_CALL_LOG_H_
