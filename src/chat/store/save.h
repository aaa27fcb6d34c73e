// Adds a finished turn to the file of its conversation.
//
//   const FinishedTurn finished{.reply = {…}, .model = "gpt-4", .now = FormatMicros(now)};
//   DOSSIER_RETURN_IF_ERROR(ApplyTurn(plan.save, finished, &document));
//
// Pure over the document; nothing is written (store.h does). Thread-safety: one owner.

#ifndef DOSSIER_CHAT_STORE_SAVE_H_
#define DOSSIER_CHAT_STORE_SAVE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/context/plan.h"
#include "chat/document/document.h"
#include "chat/document/stored.h"

namespace dossier::chat {

struct FinishedTurn {
  // What stands behind the user's message, as ToMessage makes it: the reply alone, or with
  // `history: full` the tool messages and the reply.
  std::vector<JsonObject> messages;
  std::int64_t tokens = 0;  // of these messages
  TurnRecord record;        // model, usage, tools, reply, run; the rest is filled in
  std::string now;          // FormatMicros
  // A reply that came after an incomplete one (--resume-turn): the last turn of the file goes.
  // kLast
  // (/retry): also one that is complete, unless the file has grown since it had `seen` messages.
  enum class Replaces { kNothing, kIncomplete, kLast } replaces = Replaces::kNothing;
  std::size_t seen = 0;
  // Called once, with the turn's number, under the conversation's lock and before the file is
  // written: what is kept of the turn elsewhere. Its value is the record's `memory`. May be empty.
  std::function<Json(std::string_view conversation, std::int64_t number)> keep;
};

// Adds the turn to a document that may have grown since the turn was planned.
// Errors: kDamaged (the metadata is not ours to extend), kInvalidArgument (nothing to save, or
// there is no incomplete turn to replace).
Status ApplyTurn(const TurnSave& save, const FinishedTurn& finished, Document* document);

// Takes the last turn away: its messages from the last one of the user on, and its record. The
// records of compactions that cover it go, too (`/undo`). Returns how many messages went.
Result<std::size_t> RemoveLastTurn(Document* document, std::string_view now);

// A new context in the system message, with its record (`context refresh`). A message is made
// if there is none.
Status ApplyContext(const Frozen& frozen, std::string_view now, Document* document);

Status ApplyCompaction(const std::vector<CompactionRecord>& records, Document* document);
// Takes the entries of the last compaction away. Errors: kNotFound if there is none.
Status UndoCompaction(Document* document);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_SAVE_H_
