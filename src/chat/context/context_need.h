// Which commands run in a turn, and where their output goes: table 4.1, as a table.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, commands, options));
//   for (std::size_t index : need.run) Run(commands[index]);
//
// Together with PlanTurn (plan.h) it alone decides what runs, is sent and is saved. Thread-safety:
// pure functions over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_CONTEXT_NEED_H_
#define DOSSIER_CHAT_CONTEXT_CONTEXT_NEED_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/document/stored.h"

namespace dossier::chat {

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
enum class Place { kNowhere, kSystem, kUser };
// Whether a block before the user text is saved with it.
enum class Keep { kNo, kIfAsked, kYes };

// One row of table 4.1.
struct ContextRule {
  enum class Config { kAll, kDynamic, kNone } config;  // which commands of the configuration run
  Place fixed, dynamic, exec;
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

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_CONTEXT_NEED_H_
