// Runs the context commands of a turn: turns declarations into blocks with their records.
//
//   CommandContext context(std::move(setup));
//   DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, context.Declared(), options));
//   DOSSIER_ASSIGN_OR_RETURN(const Gathered gathered, context.Gather(need.run, limits, cancel));
//   PlanTurn({.commands = gathered.commands, …}, stored, gathered.blocks, …);
//
// Each call renders templates and resolves variables anew, only for commands that will run. The
// journal stores the blocks, so that an interrupted turn resumes without running anything again.
// Thread-safety: may be called from many threads.

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

// The gathered output. `commands` are the declared ones; those that ran have the text that was run.
struct Gathered {
  std::vector<DeclaredCommand> commands;
  std::vector<ContextBlock> blocks;  // one for each requested index, in that order
  std::vector<std::string> warnings;
};

// Convert to and from the journal's form. Errors: kDamaged.
Json ToJson(const Gathered& gathered);
Result<Gathered> GatheredOf(const Json& json);

struct GatherLimits {
  const tokens::Counter& counter;
  std::int64_t max_tokens;  // for all blocks together
};

// The source of context blocks; tests use a scripted one.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Returns the commands of the configuration, then those of --exec.
  virtual std::vector<DeclaredCommand> Declared() const = 0;
  // Errors: kConfig (a template or a variable; nothing has run in this case), kContextCommand (a
  // command with `fail` failed), kTooLong, kCancelled, kIo.
  virtual Result<Gathered> Gather(std::span<const std::size_t> run, const GatherLimits& limits,
                                  const CancelToken& cancel) = 0;
};

struct ContextSetup {
  std::vector<sources::ContextCommand> commands;  // configured ones, then those of --exec
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

// Adds texts that the user named (files, URLs) to a turn as blocks, beside those of the commands.
//
//   TextContext context(commands, {{.name = "notes.txt", .text = "…"}});
//   parts.context = &context;
//
// A text goes where the output of an --exec command would: frozen in a new conversation, before the
// message in an existing one. It is never cut; the plan reports what does not fit. Ownership: the
// commands must outlive it. Thread-safety: as BlockSource.
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
