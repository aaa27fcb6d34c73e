// The calls of one turn of agent mode, counted against their limits.
//
//   ToolCalls calls(tool, {.commands = 10, .refusals = 5}, watch);
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<assembly::Turn> results, calls.Answer(reply.tool_calls,
//   cancel)); if (calls.limit()) AskOnceMoreWithoutTools();
//
// Calls run in order, one after the other. Every call gets a result: refused, malformed and not run
// ones, too, as a provider takes no history with a call that has none.
// Thread-safety: one owner.

#ifndef DOSSIER_CHAT_TURN_TOOL_CALLS_H_
#define DOSSIER_CHAT_TURN_TOOL_CALLS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "chat/turn/command_tool.h"
#include "model/schema/json_schema.h"

namespace dossier::chat {

struct ToolLimits {
  std::int64_t commands = 10;  // calls of a turn, whatever became of them
  std::int64_t refusals = 5;   // in a row
};

// What a person says to a command (--confirm-commands).
enum class Consent { kYes, kNo, kAll, kQuit };

struct ToolWatch {
  // Asked before a command runs; empty: nobody is asked.
  std::function<Consent(const Judged& judged)> confirm;
  // {"argv", "decision", "status", "bytes", "sha256"}, as turns[].tools holds it, and why.
  std::function<void(const JsonObject& record, std::string_view why)> done;
};

class ToolCalls {
 public:
  ToolCalls(const ChatTool& tool, ToolLimits limits, ToolWatch watch)
      : tool_(tool), limits_(limits), watch_(std::move(watch)) {}

  // The results, a turn each. Errors: kRefused (the person quit), kUnavailable (a layer of the
  // sandbox is missing), kCancelled.
  Result<std::vector<assembly::Turn>> Answer(const std::vector<model::ToolCall>& calls,
                                             const CancelToken& cancel);

  // The sentence of the limit that was reached; then no more calls are answered.
  const std::optional<std::string>& limit() const { return limit_; }
  const JsonArray& records() const { return records_; }

 private:
  Result<std::string> AnswerOne(const model::ToolCall& call, const CancelToken& cancel);
  Result<Judged> Decide(const model::ToolCall& call);
  void Record(const Judged& judged, std::string_view decision, const ToolOutput* output);

  const ChatTool& tool_;
  const ToolLimits limits_;
  const ToolWatch watch_;
  std::int64_t used_ = 0, refused_ = 0;
  bool all_agreed_ = false;
  std::optional<std::string> limit_;
  JsonArray records_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TOOL_CALLS_H_
