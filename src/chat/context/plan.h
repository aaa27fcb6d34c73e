// What one turn sends and saves. With NeedOf it is the only place that decides it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const TurnPlan plan,
//                            PlanTurn(input, &stored, blocks, layout, capability, *counter));
//   Send(plan.request.messages);
//   ApplyTurn(plan.save, finished, &document);           // save.h, once the reply is there
//
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_PLAN_H_
#define DOSSIER_CHAT_CONTEXT_PLAN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "chat/context/frozen.h"
#include "chat/document/stored.h"
#include "driver/section_reader.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// What stands in a chat's prompt of its memory.
//
//   input.memory = {.help = help, .core = shown.core, .rest = shown.rest, .boundary = boundary};
//
// Thread-safety: plain data.

// All empty: nothing stands there.
struct MemoryTexts {
  std::string help;      // of the operations
  std::string core;      // changes only when core does
  std::string rest;      // about this turn
  std::string results;   // what the reply before this one read
  std::string feedback;  // why the reply before this one was no answer
  std::string boundary;  // of the fences around stored text: 32 hex digits, the conversation's own
  // kBlockAlone: the text of the reply is kept, only its block is asked for again.
  enum class Asked { kReply, kBlockAlone } asked = Asked::kReply;
};

struct TurnInput {
  std::vector<DeclaredCommand> commands;  // as given to NeedOf
  TurnOptions options;
  std::string prompt;                          // not empty
  std::string system_text;                     // of flags or configuration; "" is none
  std::string id, model;                       // of the conversation; the model that this turn asks
  std::string now;                             // FormatMicros
  std::optional<std::int64_t> reserve_output;  // tokens
  // What the model and its tools did since the user text, and the tools: agent mode.
  std::vector<assembly::Turn> steps;
  std::vector<assembly::ToolSpec> tools;
  // Records that this turn adds to those of the file (compact.h); they shape the request already.
  std::vector<CompactionRecord> compaction;
  std::int64_t keep_turns = 2;  // as the compaction was planned with
  MemoryTexts memory;
  driver::UserSections user_sections;   // what the user's layout adds
  std::vector<assembly::Block> images;  // that go with the prompt
};

// What to save after the reply; see save.h.
struct TurnSave {
  enum class Kind { kNothing, kCreate, kAppend } kind = Kind::kNothing;
  std::string model;                      // of a new conversation
  std::string title;                      // of a conversation without a message of the user
  std::optional<std::string> adopted;     // the model that becomes the conversation's
  std::optional<std::string> system;      // of a new or refreshed conversation; "" is none
  std::optional<ContextRecord> context;   // likewise
  std::string replaced;                   // the context before a refresh; "" is none
  std::string user;                       // content of the user's message
  std::vector<assembly::Block> images;    // that stand before it
  std::int64_t base = 0;                  // messages that this turn saw
  std::int64_t tokens = 0;                // of what is added, without the reply
  std::optional<std::int64_t> recounted;  // of all older messages, where the file does not say
  Json dynamic;                           // of turns[]: name and hash of each dynamic block
  std::vector<CompactionRecord> compaction;
  std::vector<std::string> hints;  // said in this turn
};

struct TurnPlan {
  assembly::Assembled request;
  TurnSave save;
  Json context;  // list for --json: name, outcome, bytes, bytes_kept, tokens, zone, sha256
  std::int64_t frozen_tokens = 0;  // of the frozen context in the system message
  std::int64_t turn = 1;           // its number
  std::vector<std::string> warnings;
  std::optional<std::string> hint;
};

// `blocks`: one for each index of NeedOf's `run`, in that order. `stored` is nullptr for a new or
// stateless conversation.
// Errors: kTooLong with tokens by section, kUsage (no prompt), those of NeedOf and Assemble.
Result<TurnPlan> PlanTurn(const TurnInput& input, const Stored* stored,
                          std::span<const ContextBlock> blocks, const assembly::Layout& layout,
                          const assembly::Capability& capability, const tokens::Counter& counter);

// The history as a request holds it: without the system message, compacted as `records` say.
// `records` are indexes into the messages of `stored`.
std::vector<assembly::Turn> HistoryView(const Stored& stored,
                                        std::span<const CompactionRecord> records,
                                        std::int64_t keep_turns, const tokens::Counter& counter,
                                        std::vector<std::string>* warnings);

// A system text that is asked for is sent, or refused: never left out in silence. Errors: kUsage
// where the conversation has another one and --replace-system is not given.
Status CheckSystemText(const TurnOptions& options, std::string_view text, const Stored& stored);

// The model of a turn: the one that is asked for beats the conversation's, which beats the
// configuration's.
std::string ChooseModel(std::string_view stored, std::string_view asked_for,
                        std::string_view configured);

// The title of a conversation that begins with `prompt`: its first 60 characters on one line,
// context blocks left out.
std::string TitleOf(std::string_view prompt);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_PLAN_H_
