// One turn's use of a memory store: its branch, what is rendered from it, what is recorded.
//
//   DOSSIER_ASSIGN_OR_RETURN(TurnMemory memory,
//                            TurnMemory::Open(chat_memory, "bug-12", stored, Use::kTurn));
//   DOSSIER_ASSIGN_OR_RETURN(auto shown, memory.Render(request, stored, {}));
//   DOSSIER_ASSIGN_OR_RETURN(auto kept, memory.Keep({.conversation = "bug-12", .number = 3, …}));
//
// A turn is two events, `user_turn` and `assistant_turn`, with thread CONVERSATION and ref NUMBER.
// They are written once, in one transaction with the block of the reply. Recording a turn again in
// the same run changes nothing; a turn of another run (an answer requested again, a turn after an
// undone one) replaces those with its number or a later one.
//
// Each turn's record in the conversation's file holds {store, branch, conversation, seq}. If it
// names another conversation, this one is a fork of it and gets a fork of the branch as of `seq`.
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
  // `stored` is null for a new or stateless conversation; `id` is empty for a stateless one.
  // Errors: those of the store; kNotFound for a branch that does not exist.
  static Result<TurnMemory> Open(driver::MemoryUse memory, std::string_view id,
                                 const Stored* stored, Use use);

  const driver::MemoryPort& port() const { return port_; }
  // The fence boundary: the same in all turns of a conversation, so that a cached prefix holds.
  std::string Boundary(std::string_view id) const;

  // Leaves out events of turns that the history contains in full. `added`: compactions that are not
  // yet in the file.
  Result<memory::Injection> Render(const memory::RenderRequest& request, const Stored* stored,
                                   std::span<const CompactionRecord> added) const;

  struct KeptTurn {
    std::string conversation;  // "": stateless
    std::int64_t number = 0;
    std::string run;  // run id in the journal; "": none
    std::string user, assistant;
    std::optional<memory::UpdateBlock> block;
    TurnRecord::Reply reply = TurnRecord::Reply::kComplete;
  };
  struct Kept {
    Json record;         // of the turn, for the conversation's file
    JsonObject applied;  // result of the block; empty without one
    std::vector<std::string> warnings;
  };
  // Errors: those of the store; nothing is written in that case.
  Result<Kept> Keep(const KeptTurn& turn) const;

 private:
  explicit TurnMemory(driver::MemoryPort port) : port_(std::move(port)) {}

  Status ForkFrom(const Json& record, std::string_view id);
  Result<memory::View> Snapshot() const { return port_.Snapshot(at_); }

  driver::MemoryPort port_;
  std::optional<memory::Seq> at_;  // for a fork that is only previewed
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TURN_MEMORY_H_
