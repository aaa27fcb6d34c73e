// The frozen context: blocks that enter the system message once, and their record.
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

// Which commands run in a turn, and where their output goes: table 4.1, as a table.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, commands, options));
//   for (std::size_t index : need.run) Run(commands[index]);
//
// Together with PlanTurn (plan.h) it alone decides what runs, is sent and is saved. Thread-safety:
// pure functions over plain data.

// A command of the configuration or of --exec, as far as the decision needs it.
struct DeclaredCommand {
  enum class Origin { kConfig, kExec };
  enum class Persist { kNo, kYes };       // of a dynamic one: its block is saved too
  enum class Unchanged { kFull, kNote };  // of a repeat
  enum class Kind { kProgram, kText };    // kText: nothing runs for it

  std::string name;
  std::string command;  // rendered, secrets as ***; for the records
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
  // Where the system text comes from. kAsked: a flag, so that a conversation which has another one
  // refuses it. kReplaces: a flag that may take the place of the conversation's own.
  enum class System { kConfigured, kAsked, kReplaces } system = System::kConfigured;
  // Whether the model of this turn becomes the conversation's (--adopt).
  enum class Adopt { kNo, kYes } adopt = Adopt::kNo;
};

// Where a block stands.
enum class BlockPlace { kNowhere, kSystem, kUser };
// Whether a block before the user text is saved with it.
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
  std::optional<std::string> hint;  // for the user, once a conversation
};

// `commands` in the order in which their blocks stand: those of the configuration, then --exec.
// `stored` is nullptr for a conversation that is not there yet.
// Errors: kConfig (`unchanged: note` without `persist: true`), kUsage (two options exclude each
// other).
Result<ContextNeed> NeedOf(const Stored* stored, std::span<const DeclaredCommand> commands,
                           const TurnOptions& options);

// The name under which metadata.dossier.hints remembers that the hint was given.
inline constexpr std::string_view kRefreshHint = "refresh";
// The same for the warning that another model than the conversation's answers.
std::string ModelHint(std::string_view model);  // "model gpt-4o"

// What one command gave.
struct ContextBlock {
  std::size_t command = 0;  // index in the declared commands
  std::string text;         // between its markers; "" where a failure is ignored
  CommandRecord record;     // outcome, status, sizes, hash; the declared part is filled in
};

// `blocks` joined by one blank line; those without text give nothing.
std::string JoinBlocks(std::span<const std::string> blocks);

struct Frozen {
  std::string system;  // text of the system message; "" means there is none
  ContextRecord record;
};
// `blocks` in the order in which they stand. `executed_at` is a time in UTC with microseconds.
Frozen Freeze(std::string_view system_text, std::span<const DeclaredCommand> commands,
              std::span<const ContextBlock> blocks, ContextRecord::Mode mode,
              std::string_view executed_at, const tokens::Counter& counter);

// The same context behind another system text: `context` is the text that `record` is about.
Frozen Compose(std::string_view system_text, std::string_view context, ContextRecord record,
               const tokens::Counter& counter);

// The system message in two parts, also where its blocks stand elsewhere than at its end or no
// record says where: what stands around the blocks is text.
SystemHalves PartsAround(const Stored& stored);

// The blocks of the context of `stored`, by name, as they stand.
struct NamedBlock {
  std::string name;
  std::string text;
};
std::vector<NamedBlock> BlocksOf(std::string_view context);

// What a refresh does to each block: `same changed new gone`, or `not refreshed` for a block whose
// command did not run: that of an --exec that was not given again, or any but --block.
inline constexpr std::string_view kNotRefreshed = "not refreshed";
struct BlockChange {
  std::string name;
  std::string what;
  std::string before, now;  // the blocks; "" where there is none
};
struct Refreshed {
  Frozen frozen;
  std::vector<BlockChange> changes;
  // The old context, for the content store; "" if there was none, or it is the same.
  std::string replaced;
};
// What becomes of blocks that are not among the new ones: those of the configuration go and those
// of --exec stay, or all stay where they are.
enum class OtherBlocks { kGo, kStay };

// The system text of `stored` stays; its context is replaced. For a conversation without a system
// message, `system_text` of the configuration is not taken: the stored state wins.
Refreshed Refresh(const Stored& stored, std::span<const DeclaredCommand> commands,
                  std::span<const ContextBlock> blocks, std::string_view now,
                  const tokens::Counter& counter, OtherBlocks others = OtherBlocks::kGo);

// The texts of contexts that a refresh replaced: metadata.context.history names their hashes, the
// content store keeps the texts.
//
//   DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
//   for (const ReplacedContext& one : ReplacedContexts(stored)) {
//     DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadReplacedContext(content_folder, one));
//   }
//
// Thread-safety: a function over files.

// Called before the conversation's file changes, so that a failure loses nothing. Nothing is kept
// of an empty text, nor if `content_folder` is "". Errors: those of the content store.
Status KeepReplacedContext(const std::string& content_folder, std::string_view text);

// An entry of metadata.context.history.
struct ReplacedContext {
  std::string sha256, replaced_at;
  std::uint64_t bytes = 0;
};
// The oldest first.
std::vector<ReplacedContext> ReplacedContexts(const Stored& stored);

// Errors: kNotFound if the text is not kept here, those of the content store.
Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_FROZEN_H_
