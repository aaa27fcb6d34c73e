// What stands in a chat's prompt of its memory.
//
//   input.memory = {.help = help, .core = shown.core, .rest = shown.rest, .boundary = boundary};
//
// Thread-safety: plain data.

#ifndef DOSSIER_CHAT_CONTEXT_MEMORY_TEXTS_H_
#define DOSSIER_CHAT_CONTEXT_MEMORY_TEXTS_H_

#include <string>

namespace dossier::chat {

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

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_MEMORY_TEXTS_H_
