// The model of a conversation, opened, and one call of it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ChatModel model, open("openai/gpt-5-mini"));
//   const Called called = Call(model, request, ledger, events, cancel);
//   if (!called.reply) Keep(called.partial);      // what had arrived when it broke
//
// Thread-safety: Call blocks its caller; events come from the network thread.

#ifndef DOSSIER_CHAT_TURN_CHAT_MODEL_H_
#define DOSSIER_CHAT_TURN_CHAT_MODEL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "chat/context/compact.h"
#include "model/catalog/catalog.h"
#include "model/client/gate.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

struct ChatModel {
  std::string name;    // as the provider knows it
  std::string stored;  // what a conversation's file says, so that a later turn finds it again
  model::Entry entry;
  std::shared_ptr<const tokens::Counter> counter;
  std::shared_ptr<model::Gate> gate;
  model::Sampling sampling;
  Millis deadline{300'000}, idle_limit{60'000};  // of one attempt
  // The bytes that would go over the wire, without the key: for --dry-run.
  std::function<std::string(const model::Request&)> wire;
};
// "" is the model that is used where nothing says which.
using OpenChatModel = std::function<Result<ChatModel>(const std::string& name)>;

// Prices of the model's cache over those of plain input: what the soft trigger of a compaction
// weighs.
CachePrices CachePricesOf(const model::Entry& entry);

struct CallEvents {
  std::function<void(std::string_view text)> on_delta;  // may be empty
  std::function<void(int attempt, const Error& error, Millis wait)> on_retry;
  std::function<void()> on_sent;  // on the caller's thread, while the request is on its way
};

struct Called {
  Result<model::Reply> reply;
  std::string partial;                      // text that arrived, also if the call failed
  std::optional<Clock::Steady> first_text;  // when its first byte came
};
Called Call(const ChatModel& model, model::Request request, model::Ledger& ledger,
            const CallEvents& events, const Clock& clock, const CancelToken& cancel);

// Adds what another call took. A price, or a share of reasoning, that is unknown once is unknown
// for all.
void AddUsage(const model::Usage& more, model::Usage* sum);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_CHAT_MODEL_H_
