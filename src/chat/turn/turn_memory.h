// One turn's use of a memory store: which branch, what is shown of it, what is kept.
//
//   DOSSIER_ASSIGN_OR_RETURN(TurnMemory memory, TurnMemory::Open(chat_memory, "bug-12", stored,
//   Use::kTurn)); DOSSIER_ASSIGN_OR_RETURN(auto shown, memory.Render(request, stored, {}));
//   DOSSIER_ASSIGN_OR_RETURN(auto kept, memory.Keep({.conversation = "bug-12", .number = 3, …}));
//
// A turn is two events, `user_turn` and `assistant_turn`, of thread CONVERSATION and ref NUMBER.
// They are written in one transaction with the block of the reply, and once: a turn that is kept a
// second time by the same run changes nothing, one of another run (an answer asked for again, a
// turn behind an undone one) takes the place of what has its number or a later one.
//
// Each turn's record in the conversation's file says {store, branch, conversation, seq}. Where that
// names another conversation, this one is a fork of it: it gets a fork of the branch as of `seq`.
// Private to this module. Thread-safety: one owner.

#ifndef DOSSIER_CHAT_TURN_TURN_MEMORY_H_
#define DOSSIER_CHAT_TURN_TURN_MEMORY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "chat/document/stored.h"
#include "driver/memory_port.h"
#include "memory/render/render.h"

namespace dossier::chat {

class TurnMemory {
 public:
  enum class Use { kTurn, kPreview };  // kPreview writes nothing
  // `stored` is null for a new or stateless conversation, `id` empty for a stateless one.
  // Errors: those of the store; kNotFound for a branch that is not there.
  static Result<TurnMemory> Open(driver::MemoryUse memory, std::string_view id,
                                 const Stored* stored, Use use);

  const driver::MemoryPort& port() const { return port_; }
  // Of the fences: the same in every turn of a conversation, so that a cached prefix holds.
  std::string Boundary(std::string_view id) const;

  // Events of turns that the history shows word by word are left out. `added`: compactions that the
  // file does not hold yet.
  Result<memory::Injection> Render(const memory::RenderRequest& request, const Stored* stored,
                                   std::span<const CompactionRecord> added) const;

  struct KeptTurn {
    std::string conversation;  // "": stateless
    std::int64_t number = 0;
    std::string run;  // of the journal; "": there is none
    std::string user, assistant;
    std::optional<memory::UpdateBlock> block;
    TurnRecord::Reply reply = TurnRecord::Reply::kComplete;
  };
  struct Kept {
    Json record;         // of the turn, for the conversation's file
    JsonObject applied;  // of the block; empty without one
    std::vector<std::string> warnings;
  };
  // Errors: those of the store; nothing is written then.
  Result<Kept> Keep(const KeptTurn& turn) const;

 private:
  explicit TurnMemory(driver::MemoryPort port) : port_(std::move(port)) {}

  Status ForkFrom(const Json& record, std::string_view id);
  Result<memory::View> Snapshot() const { return port_.Snapshot(at_); }

  driver::MemoryPort port_;
  std::optional<memory::Seq> at_;  // of a fork that is only looked at
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TURN_MEMORY_H_
