// The memory that a chat reads and writes.
//
//   parts.memory = {.store = store, .branch = "", .consolidate_from = PressureLevel::kHigh};
//
// Thread-safety: plain data; the store's own.

#ifndef DOSSIER_CHAT_CONTEXT_CHAT_MEMORY_H_
#define DOSSIER_CHAT_CONTEXT_CHAT_MEMORY_H_

#include <memory>
#include <optional>
#include <string>

#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::chat {

struct ChatMemory {
  std::shared_ptr<memory::Store> store;          // null: off
  std::string branch;                            // "": the conversation's own, of a new one `root`
  std::shared_ptr<const memory::CallLog> calls;  // null: not logged
  enum class Writes { kNo, kYes } writes = Writes::kYes;  // kNo: a session that saves nothing
  std::optional<memory::PressureLevel> consolidate_from;  // unset: never by itself
  memory::Summarizer summarizer;                          // of consolidation
};

// What stands in a prompt for it; all empty: nothing does.
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

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_CHAT_MEMORY_H_
