// The content of a stored conversation: its messages, the record of its context, its turns.
//
//   DOSSIER_ASSIGN_OR_RETURN(Stored stored, ReadStored(document));
//   if (StateOf(&stored) == State::kFrozen) UseAsItIs(FrozenText(stored));
//
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_CHAT_DOCUMENT_STORED_H_
#define DOSSIER_CHAT_DOCUMENT_STORED_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "chat/document/document.h"

namespace dossier::chat {

using dossier::ToJson;  // beside the overloads for records

// One message with all keys from its file.
struct StoredMessage {
  std::string role;
  Json json;  // an object

  // Returns the content: the text, or the text parts of a list of parts joined by one blank line.
  std::string Text() const;
};

// metadata.context.commands[]: one command that ran when the context was made.
struct CommandRecord {
  std::string name, command;  // secrets are replaced by ***
  std::string origin;         // config, exec
  enum class Freshness { kStatic, kDynamic } freshness = Freshness::kStatic;
  std::string on_failure;  // warn, ignore, fail
  std::string outcome;     // ok, exit, signal, timeout, start_error
  int status = 0;
  std::int64_t duration_ms = 0;
  std::uint64_t bytes = 0, bytes_kept = 0;
  std::int64_t tokens = 0;
  std::string sha256;  // of the full output
  Json notes;
};

// metadata.context.
struct ContextRecord {
  enum class Mode { kStatic, kDisabled, kNone } mode = Mode::kNone;
  std::string source = "created";  // created, migrated, refreshed
  std::string executed_at;
  std::uint64_t offset = 0, length = 0;  // range in bytes of messages[0].content
  std::string sha256, system_sha256;     // of the context and of the whole system message
  std::int64_t tokens = 0;
  std::vector<CommandRecord> commands;
  Json history;  // list of contexts that a refresh replaced
};
std::string_view ModeName(ContextRecord::Mode mode);  // "static"
Json ToJson(const ContextRecord& context);

// metadata.dossier.turns[].
struct TurnRecord {
  std::int64_t n = 0;
  std::string at, model;
  std::int64_t base = 0;  // number of messages that the model saw
  Json usage, dynamic, tools;
  enum class Reply { kComplete, kIncomplete } reply = Reply::kComplete;
  std::string run;  // run id in the journal
  Json memory;      // {store, branch, conversation, seq}; null without memory
};
Json ToJson(const TurnRecord& turn);

// metadata.dossier.compaction[]; `from` and `to` are indexes of messages, both included. Entries
// with the same id were made by the same compaction.
struct CompactionRecord {
  std::int64_t id = 0;
  std::size_t from = 0, to = 0;
  std::string method;  // outputs: blocks and tool results become one line; summary; stub
  std::string text;    // for summary and stub
  std::int64_t tokens_before = 0, tokens_after = 0;
  std::string model, at;
};
Json ToJson(const CompactionRecord& record);

struct Stored {
  std::string id, model, created_at, updated_at, title;
  std::vector<StoredMessage> messages;
  std::optional<ContextRecord> context;
  std::vector<TurnRecord> turns;
  std::vector<CompactionRecord> compaction;
  std::optional<std::int64_t> total_tokens;
  std::vector<std::string> hints;       // metadata.dossier.hints: hints already given
  std::vector<std::string> former_ids;  // metadata.dossier.former_ids: ids before renames
  std::vector<std::string> warnings;
  // kYes: the system message differs from the one that `context` was recorded for. If it was
  // edited, the record's range and hash are those of the blocks it contains now.
  enum class Edited { kNo, kYes } edited = Edited::kNo;

  // Returns the stored system message if the first message is one, else null.
  const StoredMessage* System() const;
  // Returns the index where the history begins, after the system message.
  std::size_t HistoryBegin() const { return System() ? 1 : 0; }
};

// A file edited by hand still loads: its frozen context is used as it is, a compaction of missing
// messages is ignored, both with a warning (repair.h rewrites the records). Errors: kDamaged, as
// Document::Parse: a value of our own metadata with the wrong type.
Result<Stored> ReadStored(const Document& document);
// The same with at most the first message, which the metadata refers to; the others are most of the
// size of a long conversation.
Result<Stored> ReadRecords(const Document& document);

// The known state of a conversation's context.
enum class State { kStateless, kNew, kFrozen, kDisabled, kNoCommands, kLegacyFrozen, kLegacyBare };
// `metadata.context` decides; without it, the context blocks in the system message. nullptr: kNew.
State StateOf(const Stored* stored);

// The system message in two parts: the text, and the context after a blank line. Joined again they
// are the message; a context at another place is left in the text.
struct SystemHalves {
  std::string text, context;
};
SystemHalves SplitSystem(const Stored& stored);

// Returns true if `text` has a line that opens a context block and a later one that closes it.
bool HasContextBlocks(std::string_view text);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_STORED_H_
