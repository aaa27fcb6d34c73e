// What a stored conversation says: its messages word by word, how its context was made, its turns.
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

using dossier::ToJson;  // beside those of records

// One message, with every key that its file gives it.
struct StoredMessage {
  std::string role;
  Json json;  // an object

  // The text: content, or the text parts of a list of parts, joined by one blank line.
  std::string Text() const;
};

// metadata.context.commands[]: one command as it ran when the context was made.
struct CommandRecord {
  std::string name, command;  // secrets are ***
  std::string origin;         // config, exec
  enum class Freshness { kStatic, kDynamic } freshness = Freshness::kStatic;
  std::string on_failure;  // warn, ignore, fail
  std::string outcome;     // ok, exit, signal, timeout, start_error
  int status = 0;
  std::int64_t duration_ms = 0;
  std::uint64_t bytes = 0, bytes_kept = 0;
  std::int64_t tokens = 0;
  std::string sha256;  // of the whole output
  Json notes;
};

// metadata.context.
struct ContextRecord {
  enum class Mode { kStatic, kDisabled, kNone } mode = Mode::kNone;
  std::string source = "created";  // created, migrated, refreshed
  std::string executed_at;
  std::uint64_t offset = 0, length = 0;  // bytes of messages[0].content
  std::string sha256, system_sha256;     // of the context, of the whole system message
  std::int64_t tokens = 0;
  std::vector<CommandRecord> commands;
  Json history;  // list: contexts that a refresh replaced
};
std::string_view ModeName(ContextRecord::Mode mode);  // "static"
Json ToJson(const ContextRecord& context);

// metadata.dossier.turns[].
struct TurnRecord {
  std::int64_t n = 0;
  std::string at, model;
  std::int64_t base = 0;  // messages that the answer saw
  Json usage, dynamic, tools;
  enum class Reply { kComplete, kIncomplete } reply = Reply::kComplete;
  std::string run;  // of the journal
  Json memory;      // {store, branch, conversation, seq}; null without memory
};
Json ToJson(const TurnRecord& turn);

// metadata.dossier.compaction[]; `from` and `to` are indexes of messages, both included. Entries
// with one id were made by one compaction.
struct CompactionRecord {
  std::int64_t id = 0;
  std::size_t from = 0, to = 0;
  std::string method;  // outputs: blocks and tool results become a line; summary; stub
  std::string text;    // of summary and stub
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
  std::vector<std::string> hints;       // metadata.dossier.hints: said already
  std::vector<std::string> former_ids;  // metadata.dossier.former_ids: before it was renamed
  std::vector<std::string> warnings;
  // Whether the system message is the one that `context` was recorded for. Where it was edited, the
  // record's place and hash are those of the blocks that stand in it now.
  enum class Edited { kNo, kYes } edited = Edited::kNo;

  // The stored system message, if the first message is one.
  const StoredMessage* System() const;
  // Where the history begins: behind the system message.
  std::size_t HistoryBegin() const { return System() ? 1 : 0; }
};

// A file that was edited by hand loads: a frozen context is taken as it stands, a compaction of
// messages that are gone is left out, both with a warning (repair.h writes the records anew).
// Errors: kDamaged, as Document::Parse: a value of our own metadata with the wrong type.
Result<Stored> ReadStored(const Document& document);
// The same with at most the first message, which the metadata speaks of; the others are most of a
// long conversation.
Result<Stored> ReadRecords(const Document& document);

// What is known of a conversation's context.
enum class State { kStateless, kNew, kFrozen, kDisabled, kNoCommands, kLegacyFrozen, kLegacyBare };
// `metadata.context` decides; without it, context blocks in the system message. nullptr: kNew.
State StateOf(const Stored* stored);

// The system message in two parts: the text, and behind a blank line the context. Joined by it they
// are the message again; a context that stands elsewhere is left in the text.
struct SystemHalves {
  std::string text, context;
};
SystemHalves SplitSystem(const Stored& stored);

// Whether `text` holds a line that opens a context block and later one that ends it.
bool HasContextBlocks(std::string_view text);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_STORED_H_
