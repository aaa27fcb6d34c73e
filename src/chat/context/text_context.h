// Texts that a person named, files and addresses, as blocks of a turn beside those of the commands.
//
//   TextContext context(commands, {{.name = "notes.txt", .text = "…"}});
//   parts.context = &context;
//
// A text stands where the output of an --exec command would: frozen in a new conversation, before
// the message in one that is there. It is never cut: what does not fit is said by the plan.
// Ownership: the commands outlive it. Thread-safety: as ContextSource.

#ifndef DOSSIER_CHAT_CONTEXT_TEXT_CONTEXT_H_
#define DOSSIER_CHAT_CONTEXT_TEXT_CONTEXT_H_

#include <span>
#include <string>
#include <vector>

#include "chat/context/gather.h"

namespace dossier::chat {

struct NamedText {
  std::string name, text;  // UTF-8
};

class TextContext final : public ContextSource {
 public:
  TextContext(ContextSource& commands, std::vector<NamedText> texts)
      : commands_(commands), texts_(std::move(texts)) {}

  std::vector<DeclaredCommand> Declared() const override;
  Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                          const CancelToken& cancel) override;

 private:
  ContextBlock BlockOf(const NamedText& text, std::size_t index, const GatherLimits& limits) const;

  ContextSource& commands_;
  const std::vector<NamedText> texts_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_TEXT_CONTEXT_H_
