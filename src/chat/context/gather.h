// The context commands of a turn, run: from what is declared to blocks with their records.
//
//   CommandContext context(std::move(setup));
//   DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, context.Declared(), options));
//   DOSSIER_ASSIGN_OR_RETURN(const Gathered gathered, context.Gather(need.run, limits, cancel));
//   PlanTurn({.commands = gathered.commands, …}, stored, gathered.blocks, …);
//
// Templates are rendered and variables resolved anew in every call, for those commands only that
// will run. The journal keeps what was gathered, so that an interrupted turn goes on without
// running anything again. Thread-safety: may be called from many threads.

#ifndef DOSSIER_CHAT_CONTEXT_GATHER_H_
#define DOSSIER_CHAT_CONTEXT_GATHER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/text/text.h"
#include "chat/context/frozen.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"
#include "sources/commands/context_run.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// What ran. `commands` are the declared ones, those that ran with their text as it was run.
struct Gathered {
  std::vector<DeclaredCommand> commands;
  std::vector<ContextBlock> blocks;  // one for each index that was asked for, in that order
  std::vector<std::string> warnings;
};

// For the journal, and back. Errors: kDamaged.
Json ToJson(const Gathered& gathered);
Result<Gathered> GatheredOf(const Json& json);

struct GatherLimits {
  const tokens::Counter& counter;
  std::int64_t max_tokens;  // of all blocks together
};

// Where blocks come from; tests give a scripted one.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Those of the configuration, then those of --exec.
  virtual std::vector<DeclaredCommand> Declared() const = 0;
  // Errors: kConfig (a template or a variable; nothing has run then), kContextCommand (one
  // with `fail` failed), kTooLong, kCancelled, kIo.
  virtual Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                                  const CancelToken& cancel) = 0;
};

struct ContextSetup {
  std::vector<sources::ContextCommand> commands;  // of the configuration, then of --exec
  sources::VariableInput variables;
  sources::ContextRunOptions run;
};

class CommandContext final : public BlockSource {
 public:
  explicit CommandContext(ContextSetup setup) : setup_(std::move(setup)) {}

  std::vector<DeclaredCommand> Declared() const override;
  Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                          const CancelToken& cancel) override;

 private:
  Result<std::vector<sources::ContextCommand>> Render(std::span<const std::size_t> run,
                                                      std::vector<std::string>* warnings) const;

  const ContextSetup setup_;
};

// Texts that a person named, files and addresses, as blocks of a turn beside those of the commands.
//
//   TextContext context(commands, {{.name = "notes.txt", .text = "…"}});
//   parts.context = &context;
//
// A text stands where the output of an --exec command would: frozen in a new conversation, before
// the message in one that is there. It is never cut: what does not fit is said by the plan.
// Ownership: the commands outlive it. Thread-safety: as BlockSource.
class TextContext final : public BlockSource {
 public:
  TextContext(BlockSource& commands, std::vector<NamedText> texts)
      : commands_(commands), texts_(std::move(texts)) {}

  std::vector<DeclaredCommand> Declared() const override;
  Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                          const CancelToken& cancel) override;

 private:
  ContextBlock BlockOf(const NamedText& text, std::size_t index, const GatherLimits& limits) const;

  BlockSource& commands_;
  const std::vector<NamedText> texts_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_GATHER_H_
