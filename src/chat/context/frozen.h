// The frozen context: blocks that are put into the system message once, and their record.
//
//   const Frozen frozen = Freeze("You are helpful.", commands, blocks,
//   ContextRecord::Mode::kStatic,
//                                now, *counter);
//   frozen.system;    // "You are helpful.\n\n--- Context: Git Status ---\n…"
//   frozen.record;    // metadata.context
//
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_FROZEN_H_
#define DOSSIER_CHAT_CONTEXT_FROZEN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/document/stored.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// Decides which commands run in a turn and where their output goes: table 4.1 in code.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, commands, options));
//   for (std::size_t index : need.run) Run(commands[index]);
//
// Only this and PlanTurn (plan.h) decide what runs, is sent and is saved. Thread-safety: pure
// functions over plain data.

// The properties of a configured or --exec command that the decision needs.
struct DeclaredCommand {
  enum class Origin { kConfig, kExec };
  enum class Persist { kNo, kYes };       // for a dynamic command: whether its block is saved
  enum class Unchanged { kFull, kNote };  // for a repeated block
  enum class Kind { kProgram, kText };    // kText: no program runs

  std::string name;
  std::string command;  // as rendered, with secrets as ***; for the records
  Origin origin = Origin::kConfig;
  CommandRecord::Freshness freshness = CommandRecord::Freshness::kStatic;
  Persist persist = Persist::kNo;
  Unchanged unchanged = Unchanged::kFull;
  std::string on_failure = "warn";
  Kind kind = Kind::kProgram;
};
std::string_view OriginName(DeclaredCommand::Origin origin);  // "config"

struct TurnOptions {
  enum class Kind { kConversation, kStateless } kind = Kind::kConversation;
  enum class ConfigCommands {
    kRun,
    kSkip
  } config_commands = ConfigCommands::kRun;                          // --no-context-exec
  enum class Refresh { kNo, kYes } refresh = Refresh::kNo;           // --refresh-context
  enum class Store { kWritten, kReadOnly } store = Store::kWritten;  // --read-only
  enum class Compat { kNo, kYes } compat = Compat::kNo;
  // The source of the system text. kAsked: a flag, so a conversation with a different one refuses
  // it. kReplaces: a flag that may replace the conversation's own.
  enum class System { kConfigured, kAsked, kReplaces } system = System::kConfigured;
  // kYes: this turn's model becomes the conversation's (--adopt).
  enum class Adopt { kNo, kYes } adopt = Adopt::kNo;
};

// The place of a block.
enum class BlockPlace { kNowhere, kSystem, kUser };
// Decides if a block before the user text is saved with it.
enum class Keep { kNo, kIfAsked, kYes };

// One row of table 4.1.
struct ContextRule {
  enum class Config { kAll, kDynamic, kNone } config;  // which commands of the configuration run
  BlockPlace fixed, dynamic, exec;
  Keep keep_dynamic, keep_exec;
};

struct ContextNeed {
  State state = State::kNew;
  ContextRule rule{};
  std::vector<std::size_t> run;     // indexes, in order
  std::optional<std::string> hint;  // for the user, once per conversation
};

// `commands` are in the order of their blocks: those of the configuration, then those of --exec.
// `stored` is nullptr for a conversation that does not exist yet. Errors: kConfig (`unchanged:
// note` without `persist: true`), kUsage (two options exclude each other).
Result<ContextNeed> NeedOf(const Stored* stored, std::span<const DeclaredCommand> commands,
                           const TurnOptions& options);

// The name under which metadata.dossier.hints records that the hint was given.
inline constexpr std::string_view kRefreshHint = "refresh";
// The same for the warning that the answering model is not the conversation's.
std::string ModelHint(std::string_view model);  // "model gpt-4o"

// The output of one command.
struct ContextBlock {
  std::size_t command = 0;  // index in the declared commands
  std::string text;         // between its markers; "" if a failure is ignored
  CommandRecord record;     // outcome, status, sizes, hash; NeedOf's declaration fills the rest
};

// Joins `blocks` with one blank line; empty blocks are skipped.
std::string JoinBlocks(std::span<const std::string> blocks);

struct Frozen {
  std::string system;  // text of the system message; "" means there is none
  ContextRecord record;
};
// `blocks` are in their final order. `executed_at` is a UTC time with microseconds.
Frozen Freeze(std::string_view system_text, std::span<const DeclaredCommand> commands,
              std::span<const ContextBlock> blocks, ContextRecord::Mode mode,
              std::string_view executed_at, const tokens::Counter& counter);

// Puts the same context after another system text: `context` is the text that `record` describes.
Frozen Compose(std::string_view system_text, std::string_view context, ContextRecord record,
               const tokens::Counter& counter);

// Splits the system message even if its blocks are not at its end or no record gives their place:
// everything around the blocks is text.
SystemHalves PartsAround(const Stored& stored);

// A block of a context, with its name.
struct NamedBlock {
  std::string name;
  std::string text;
};
std::vector<NamedBlock> BlocksOf(std::string_view context);

// The effect of a refresh on each block: `same changed new gone`, or `not refreshed` for a block
// whose command did not run (an --exec command that was not given again, or not the one of
// --block).
inline constexpr std::string_view kNotRefreshed = "not refreshed";
struct BlockChange {
  std::string name;
  std::string what;
  std::string before, now;  // the block's text; "" if there is none
};
struct Refreshed {
  Frozen frozen;
  std::vector<BlockChange> changes;
  // The old context, for the content store; "" if there was none or it did not change.
  std::string replaced;
};
// The treatment of blocks that are not among the new ones: those of the configuration are removed
// and those of --exec stay, or all stay in place.
enum class OtherBlocks { kGo, kStay };

// Keeps the system text of `stored` and replaces its context. Without a stored system message, the
// configured `system_text` is not used: the stored state wins.
Refreshed Refresh(const Stored& stored, std::span<const DeclaredCommand> commands,
                  std::span<const ContextBlock> blocks, std::string_view now,
                  const tokens::Counter& counter, OtherBlocks others = OtherBlocks::kGo);

// The texts of contexts that a refresh replaced: metadata.context.history has their hashes, the
// content store has the texts.
//
//   DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
//   for (const ReplacedContext& one : ReplacedContexts(stored)) {
//     DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadReplacedContext(content_folder, one));
//   }
//
// Thread-safety: a function over files.

// Called before the conversation's file changes, so that a failure loses nothing. Stores nothing if
// the text or `content_folder` is empty. Errors: those of the content store.
Status KeepReplacedContext(const std::string& content_folder, std::string_view text);

// An entry of metadata.context.history.
struct ReplacedContext {
  std::string sha256, replaced_at;
  std::uint64_t bytes = 0;
};
// Returns the oldest first.
std::vector<ReplacedContext> ReplacedContexts(const Stored& stored);

// Errors: kNotFound if the text is not stored here; those of the content store.
Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_FROZEN_H_
