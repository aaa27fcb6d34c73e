// Runs one turn of a conversation, from the prompt to the saved reply.
//
//   Chat chat({.store = &store, .open_model = open, .context = &context, .journal = journal, …});
//   const TurnOutcome outcome = chat.Send({.id = "bug-12", .prompt = "why?"}, events, cancel);
//   if (outcome.error) Print(outcome.error->message);
//   return outcome.exit;
//
// This class orders effects and decides nothing: NeedOf and PlanTurn decide what runs, is sent and
// is saved. The order: load the conversation or take the right to create it; open the model; run
// the commands that the turn needs; plan; compact if the history requires it; call the model, with
// tools and repair rounds; save. The outcome of each step is in the journal before the next begins,
// so that a killed turn can be resumed.
//
// A turn always returns an outcome. It contains the text that arrived, even if a later step failed.
// Thread-safety: one turn at a time for each Chat.

#ifndef DOSSIER_CHAT_TURN_CHAT_H_
#define DOSSIER_CHAT_TURN_CHAT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/layout.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "chat/context/compact.h"
#include "chat/context/gather.h"
#include "chat/context/plan.h"
#include "chat/store/store.h"
#include "chat/turn/tool_calls.h"
#include "driver/bound_model.h"
#include "driver/memory_port.h"
#include "driver/run_log.h"
#include "driver/section_reader.h"
#include "model/client/client.h"
#include "model/schema/json_schema.h"

namespace dossier::chat {

// The cost of a turn, and the saving due to the frozen context.
//
//   UsageLine(usage, SavedBy(80, 5))
//   // "usage: 1,234 in (1,024 cached) + 56 out = $0.001234; context saved 800 tokens (66.7 %)"
// The baseline of every saving is the same configuration with `dynamic: true, persist: true`: one
// copy of the context in each user message, all of them sent again every turn. Thread-safety: pure.

struct ContextSaving {
  std::int64_t tokens = 0;  // input tokens that were not sent
  double percent = 0;       // share of the context tokens that the baseline would have sent
};
// Saving for a context of `block_tokens` over `turns` turns: b·N(N−1)/2 of b·N(N+1)/2.
ContextSaving SavedBy(std::int64_t block_tokens, std::int64_t turns);

// Returns {"input","cached_read","cache_write","output","reasoning","cost_nano_usd"} for
// turns[].usage. Unknown values are null: a price, or the share of reasoning if the provider does
// not report it. "estimated": true is added if the provider did not report all of it.
JsonObject UsageJson(const model::Usage& usage);
std::string UsageLine(const model::Usage& usage, const ContextSaving& saving);

struct TurnRequest {
  std::string id;      // "": stateless
  std::string prompt;  // empty when resuming
  TurnOptions options;
  std::string system_text;
  std::string asked_model, configured_model;  // from a flag; from the configuration
  std::vector<assembly::Block> images;        // sent with the prompt

  enum class Action { kSend, kPlan } action = Action::kSend;  // kPlan: --dry-run
  // kYes: --resume-turn. kAgain: sends the last turn's message again, even if that turn is
  // complete; the new turn then replaces it.
  enum class Resume { kNo, kYes, kAgain } resume = Resume::kNo;
  enum class Hold { kNo, kYes } hold = Hold::kNo;  // --wait: holds the lock all turn

  CompactionLimits compaction;
  enum class Compacting { kByLimits, kNow } compacting = Compacting::kByLimits;  // --compact
  std::string compaction_model;                    // "": the turn's model
  std::optional<std::int64_t> context_max_tokens;  // unset: a quarter of the window

  const model::JsonSchema* schema = nullptr;
  int repair_rounds = 1;
  model::Request::Raw raw = model::Request::Raw::kNo;  // --raw

  ToolLimits tool_limits;
  enum class ToolHistory { kAnswer, kFull } tool_history = ToolHistory::kAnswer;
};

struct TurnTimes {
  Millis context{0}, total{0};
  std::optional<Millis> first_token;
};

struct TurnOutcome {
  std::string text;                              // the answer, as far as it arrived
  std::optional<Json> data;                      // for a schema
  std::string conversation, model, finish, run;  // run: id in the journal
  std::int64_t turn = 0;
  model::Usage usage;      // of all calls of this turn
  std::int64_t calls = 0;  // the number of calls
  ContextSaving saving;
  Json context = JsonArray();  // list: name, outcome, bytes, bytes_kept, tokens, zone, sha256
  Json compaction;             // {line, from, to, tokens_before, tokens_after}, or null
  JsonArray tools;
  Json memory;  // {branch, shown, block}; null without memory
  std::vector<std::string> warnings;
  std::string incomplete;  // the warning why the reply is incomplete; "": it is complete
  TurnTimes times;
  std::vector<std::string> violations;  // schema violations, if no reply was valid
  std::string raw;                      // as the provider sent it, if requested

  // Set by --dry-run.
  std::optional<TurnPlan> plan;
  std::vector<ContextBlock> blocks;  // as in plan->context
  std::string wire;                  // the exact request

  std::optional<Error> error;
  int exit = 0;  // exit code of the process
};

// Receives the events of a running turn. Deltas and retries come from another thread than the rest,
// but never at the same time. Must not block.
class ChatEvents {
 public:
  virtual ~ChatEvents() = default;
  virtual void OnStart(std::string_view conversation, std::int64_t turn, std::string_view model) {
    static_cast<void>(conversation), static_cast<void>(turn), static_cast<void>(model);
  }
  virtual void OnContext(const Json& blocks) { static_cast<void>(blocks); }
  // Text of the answer. Not called in agent mode, nor for a reply that must match a schema.
  virtual void OnDelta(std::string_view text) { static_cast<void>(text); }
  virtual void OnRetry(std::string_view sentence) { static_cast<void>(sentence); }
  virtual void OnTool(const JsonObject& record, std::string_view why) {
    static_cast<void>(record), static_cast<void>(why);
  }
  virtual void OnCompaction(std::string_view line) { static_cast<void>(line); }
  virtual void OnWarning(std::string_view sentence) { static_cast<void>(sentence); }
};

// Returns the most tokens that all blocks together may take, a share of the model's window.
std::int64_t ContextLimit(const TurnRequest& request, const driver::BoundModel& model);

struct ChatParts {
  const ConversationStore* store = nullptr;  // null: stateless turns only
  driver::OpenModel open_model;
  BlockSource* context = nullptr;
  std::vector<const ChatTool*> tools;             // for agent mode; empty: off
  std::function<Consent(const Judged&)> confirm;  // may be empty
  driver::MemoryUse memory;
  // Returns the limits of a turn; called before each turn that is sent. Empty: no limits.
  std::function<Result<model::LedgerLimits>()> limits;
  std::shared_ptr<store::Journal> journal;  // null: nothing is recorded
  driver::RunLogSetting::Bodies bodies = driver::RunLogSetting::Bodies::kKept;  // --no-log
  std::string content_folder;  // stores contexts that a refresh replaces; "": they are not kept
  // The folder for a conversation whose own folder cannot be written; "": a new folder in the
  // temporary folder.
  std::string rescue_folder;
  assembly::AssetFolders folders;
  driver::SectionMakers makers;  // for sections that a user's layout adds
  std::shared_ptr<const Clock> clock = SystemClock();
};

class Chat {
 public:
  explicit Chat(ChatParts parts) : parts_(std::move(parts)) {}

  TurnOutcome Send(const TurnRequest& request, ChatEvents& events, const CancelToken& cancel) const;

 private:
  const ChatParts parts_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_CHAT_H_
