#include "chat/context/text_context.h"

#include "assembly/sources/fence.h"
#include "base/hash.h"
#include "sources/commands/context_blocks.h"

namespace dossier::chat {

std::vector<DeclaredCommand> TextContext::Declared() const {
  std::vector<DeclaredCommand> out = commands_.Declared();
  for (const NamedText& text : texts_) {
    out.push_back({.name = assembly::MarkerName(text.name),
                   .command = text.name,
                   .origin = DeclaredCommand::Origin::kExec,
                   .kind = DeclaredCommand::Kind::kText});
  }
  return out;
}

Result<Gathered> TextContext::Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                                     const CancelToken& cancel) {
  const std::size_t commands = commands_.Declared().size();
  std::vector<std::size_t> programs;
  for (const std::size_t index : run) {
    if (index < commands) programs.push_back(index);
  }
  DOSSIER_ASSIGN_OR_RETURN(Gathered gathered, commands_.Gather(programs, limits, cancel));
  // What the commands say of themselves once they ran stays.
  const std::vector<DeclaredCommand> all = Declared();
  gathered.commands.insert(gathered.commands.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(commands), all.end());
  for (const std::size_t index : run) {
    if (index < commands) continue;
    gathered.blocks.push_back(BlockOf(texts_[index - commands], index, limits));
  }
  return gathered;
}

ContextBlock TextContext::BlockOf(const NamedText& text, std::size_t index,
                                  const GatherLimits& limits) const {
  sources::CommandResult result{.bytes = text.text.size(), .text = text.text};
  while (result.text.ends_with('\n') || result.text.ends_with('\r')) result.text.pop_back();
  result.kept = result.text.size();
  ContextBlock block{
      .command = index, .text = sources::RenderBlock(text.name, result), .record = {}};
  block.record.outcome = "ok";
  block.record.bytes = text.text.size();
  block.record.bytes_kept = result.text.size();
  block.record.tokens = limits.counter.CountText(block.text).tokens;
  block.record.sha256 = Sha256Hex(text.text);
  return block;
}

}  // namespace dossier::chat
