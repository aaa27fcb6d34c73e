// Adds a finished turn to the file of its conversation.
//
//   const FinishedTurn finished{.reply = {…}, .model = "gpt-4", .now = FormatMicros(now)};
//   DOSSIER_RETURN_IF_ERROR(ApplyTurn(plan.save, finished, &document));
//
// Pure over the document; store.h writes the file. Thread-safety: one owner.

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
  // The messages after the user's, as made by ToMessage: the reply alone, or with `history: full`
  // the tool messages and the reply.
  std::vector<JsonObject> messages;
  std::int64_t tokens = 0;  // of these messages
  TurnRecord record;        // model, usage, tools, reply, run; ApplyTurn fills in the rest
  std::string now;          // FormatMicros
  // kIncomplete: the reply replaces an incomplete one (--resume-turn): the file's last turn is
  // removed. kLast (/retry): removes also a complete one, unless the file has grown since it had
  // `seen` messages.
  enum class Replaces { kNothing, kIncomplete, kLast } replaces = Replaces::kNothing;
  std::size_t seen = 0;
  // Called once with the turn's number, under the conversation's lock and before the file is
  // written, to store the turn elsewhere. Returns the record's `memory`. May be empty.
  std::function<Json(std::string_view conversation, std::int64_t number)> keep;
};

// Adds the turn to a document that may have grown since the turn was planned. Errors: kDamaged
// (metadata that is not in our format), kInvalidArgument (nothing to save, or there is no
// incomplete turn to replace).
Status ApplyTurn(const TurnSave& save, const FinishedTurn& finished, Document* document);

// Removes the last turn (`/undo`): its messages from the last user message on, its record, and the
// records of compactions that cover it. Returns the number of messages removed.
Result<std::size_t> RemoveLastTurn(Document* document, std::string_view now);

// Puts a new context into the system message, with its record (`context refresh`). Creates the
// message if there is none.
Status ApplyContext(const Frozen& frozen, std::string_view now, Document* document);

Status ApplyCompaction(const std::vector<CompactionRecord>& records, Document* document);
// Removes the entries of the last compaction. Errors: kNotFound if there is none.
Status UndoCompaction(Document* document);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_STORE_SAVE_H_
