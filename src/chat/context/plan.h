// Decides what one turn sends and saves; only this and NeedOf decide it.
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

// The memory texts in the prompt of a chat.
//
//   input.memory = {.help = help, .core = shown.core, .rest = shown.rest, .boundary = boundary};
//
// Thread-safety: plain data.

// If all texts are empty, the prompt has no memory.
struct MemoryTexts {
  std::string help;      // describes the operations
  std::string core;      // changes only when core does
  std::string rest;      // selected for this turn
  std::string results;   // what the previous reply read
  std::string feedback;  // why the previous reply was not accepted
  std::string boundary;  // of fences around stored text: 32 hex digits, the same for all turns
  // kBlockAlone: the text of the reply is kept; only its block is requested again.
  enum class Asked { kReply, kBlockAlone } asked = Asked::kReply;
};

struct TurnInput {
  std::vector<DeclaredCommand> commands;  // as given to NeedOf
  TurnOptions options;
  std::string prompt;                          // not empty
  std::string system_text;                     // from flags or configuration; "": none
  std::string id, model;                       // the conversation's id; the model of this turn
  std::string now;                             // FormatMicros
  std::optional<std::int64_t> reserve_output;  // tokens
  // For agent mode: the turns of the model and its tools since the user text, and the tools.
  std::vector<assembly::Turn> steps;
  std::vector<assembly::ToolSpec> tools;
  // Records that this turn adds to those of the file (compact.h); they already shape the request.
  std::vector<CompactionRecord> compaction;
  std::int64_t keep_turns = 2;  // the value used to plan the compaction
  MemoryTexts memory;
  driver::UserSections user_sections;   // sections that the user's layout adds
  std::vector<assembly::Block> images;  // sent with the prompt
};

// The data to save after the reply; see save.h.
struct TurnSave {
  enum class Kind { kNothing, kCreate, kAppend } kind = Kind::kNothing;
  std::string model;                      // for a new conversation
  std::string title;                      // for a conversation without a user message
  std::optional<std::string> adopted;     // the model that becomes the conversation's
  std::optional<std::string> system;      // for a new or refreshed conversation; "": none
  std::optional<ContextRecord> context;   // likewise
  std::string replaced;                   // the context before a refresh; "": none
  std::string user;                       // content of the user message
  std::vector<assembly::Block> images;    // placed before it
  std::int64_t base = 0;                  // number of messages that this turn saw
  std::int64_t tokens = 0;                // of what is added, without the reply
  std::optional<std::int64_t> recounted;  // tokens of all older messages, if the file has no count
  Json dynamic;                           // for turns[]: name and hash of each dynamic block
  std::vector<CompactionRecord> compaction;
  std::vector<std::string> hints;  // given in this turn
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

// `blocks` has one entry for each index in `run` of NeedOf, in that order. `stored` is nullptr for
// a new or stateless conversation. Errors: kTooLong with tokens by section, kUsage (no prompt),
// those of NeedOf and Assemble.
Result<TurnPlan> PlanTurn(const TurnInput& input, const Stored* stored,
                          std::span<const ContextBlock> blocks, const assembly::Layout& layout,
                          const assembly::Capability& capability, const tokens::Counter& counter);

// Returns the history as a request holds it: without the system message, compacted according to
// `records`, which are indexes into the messages of `stored`.
std::vector<assembly::Turn> HistoryView(const Stored& stored,
                                        std::span<const CompactionRecord> records,
                                        std::int64_t keep_turns, const tokens::Counter& counter,
                                        std::vector<std::string>* warnings);

// A requested system text is sent or refused, never dropped silently. Errors: kUsage if the
// conversation has another one and --replace-system is not given.
Status CheckSystemText(const TurnOptions& options, std::string_view text, const Stored& stored);

// Returns the model of a turn: the requested one, else the conversation's, else the
// configuration's.
std::string ChooseModel(std::string_view stored, std::string_view asked_for,
                        std::string_view configured);

// Returns the title of a conversation that begins with `prompt`: its first 60 characters on one
// line, without context blocks.
std::string TitleOf(std::string_view prompt);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_PLAN_H_
