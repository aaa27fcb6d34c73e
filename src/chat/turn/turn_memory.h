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
#include "chat/context/chat_memory.h"
#include "chat/document/stored.h"
#include "memory/blocks/apply.h"
#include "memory/consolidate/consolidate.h"
#include "memory/render/injection.h"

namespace dossier::chat {

class TurnMemory {
 public:
  enum class Use { kTurn, kPreview };  // kPreview writes nothing
  // `stored` is null for a new or stateless conversation, `id` empty for a stateless one.
  // Errors: those of the store; kNotFound for a branch that is not there.
  static Result<TurnMemory> Open(const ChatMemory& memory, std::string_view id,
                                 const Stored* stored, Use use);

  const std::string& branch() const { return branch_; }
  // Of the fences: the same in every turn of a conversation, so that a cached prefix holds.
  std::string Boundary(std::string_view id) const;

  // Consolidates where the pressure asks for it; none: it does not.
  Result<std::optional<memory::ConsolidateOutcome>> MakeRoom() const;

  // Events of turns that the history shows word by word are left out. `added`: compactions that the
  // file does not hold yet.
  Result<memory::Injection> Render(const memory::RenderRequest& request, const Stored* stored,
                                   std::span<const CompactionRecord> added) const;

  // A block that only reads.
  Result<memory::UpdateResult> Read(const memory::UpdateBlock& block) const;

  // Lines of memory_calls.jsonl, if there is one: of a call, of each operation of a block. Errors:
  // those of CallLog.
  Status Log(memory::LoggedCall call) const;
  Status LogOperations(const memory::LoggedCall& as, const JsonArray& operations_log) const;

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
  TurnMemory(const ChatMemory& memory, Use use) : memory_(&memory), use_(use) {}

  bool writes() const { return use_ == Use::kTurn && memory_->writes == ChatMemory::Writes::kYes; }
  bool logs() const { return use_ == Use::kTurn && memory_->calls; }
  Status ForkFrom(const Json& record, std::string_view id);
  Result<memory::View> Snapshot() const { return memory_->store->Snapshot(branch_, at_); }

  const ChatMemory* memory_;
  Use use_;
  std::string branch_ = std::string(memory::kRootBranch);
  std::optional<memory::Seq> at_;  // of a fork that is only looked at
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_TURN_MEMORY_H_
