// Runs the tool calls of one turn in agent mode, within limits on their number.
//
//   ToolCalls calls({&tool}, {.commands = 10, .refusals = 5}, watch);
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<assembly::Turn> results, calls.Answer(reply.tool_calls,
//   cancel)); if (calls.limit()) AskOnceMoreWithoutTools();
//
// Calls run one after the other, in order. Every call gets a result, even refused, malformed and
// skipped ones, because providers reject a history with an unanswered call. Thread-safety: one
// owner.

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
  std::int64_t commands = 10;  // calls per turn, whatever their outcome
  std::int64_t refusals = 5;   // consecutive
};

// The user's answer to a command (--confirm-commands).
enum class Consent { kYes, kNo, kAll, kQuit };

struct ToolWatch {
  // Asked before a command runs; empty: runs without asking.
  std::function<Consent(const Judged& judged)> confirm;
  // Gets {"argv", "decision", "status", "bytes", "sha256"}, as in turns[].tools, and the reason.
  std::function<void(const JsonObject& record, std::string_view why)> done;
};

class ToolCalls {
 public:
  ToolCalls(std::vector<const ChatTool*> tools, ToolLimits limits, ToolWatch watch)
      : tools_(std::move(tools)), limits_(limits), watch_(std::move(watch)) {}

  // Returns the results, one turn each. Errors: kRefused (the user quit), kUnavailable (a layer of
  // the sandbox is missing), kCancelled.
  Result<std::vector<assembly::Turn>> Answer(const std::vector<model::ToolCall>& calls,
                                             const CancelToken& cancel);

  // The message of the limit that was reached, after which no more calls are answered.
  const std::optional<std::string>& limit() const { return limit_; }
  const JsonArray& records() const { return records_; }

 private:
  Result<std::string> AnswerOne(const model::ToolCall& call, const CancelToken& cancel);
  Result<Judged> Decide(const ChatTool* tool, const model::ToolCall& call);
  void Record(const Judged& judged, std::string_view decision, const ToolOutput* output);

  const std::vector<const ChatTool*> tools_;
  const ToolLimits limits_;
  const ToolWatch watch_;
  std::int64_t used_ = 0, refused_ = 0;
  bool all_agreed_ = false;
  std::optional<std::string> limit_;
  JsonArray records_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TOOL_CALLS_H_
