#include "chat/context/context_need.h"

#include <algorithm>

namespace dossier::chat {
namespace {

using Freshness = CommandRecord::Freshness;
using Origin = DeclaredCommand::Origin;
using Config = ContextRule::Config;

enum class Skip { kNo, kYes, kAny };

struct Row {
  State state;
  Skip skip;  // --no-context-exec
  ContextRule rule;
};

// Table 4.1. Columns: commands of the configuration; places of static, dynamic and --exec blocks;
// whether dynamic and --exec blocks before the user text are saved with it.
constexpr Row kRows[] = {
    {State::kStateless,
     Skip::kNo,
     {Config::kAll, Place::kUser, Place::kUser, Place::kUser, Keep::kNo, Keep::kNo}},
    {State::kStateless,
     Skip::kYes,
     {Config::kNone, Place::kNowhere, Place::kNowhere, Place::kUser, Keep::kNo, Keep::kNo}},
    {State::kNew,
     Skip::kNo,
     {Config::kAll, Place::kSystem, Place::kUser, Place::kSystem, Keep::kIfAsked, Keep::kNo}},
    {State::kNew,
     Skip::kYes,
     {Config::kNone, Place::kNowhere, Place::kNowhere, Place::kSystem, Keep::kNo, Keep::kNo}},
    {State::kFrozen,
     Skip::kNo,
     {Config::kDynamic, Place::kNowhere, Place::kUser, Place::kUser, Keep::kIfAsked, Keep::kYes}},
    {State::kLegacyFrozen,
     Skip::kNo,
     {Config::kDynamic, Place::kNowhere, Place::kUser, Place::kUser, Keep::kIfAsked, Keep::kYes}},
    {State::kDisabled,
     Skip::kAny,
     {Config::kNone, Place::kNowhere, Place::kNowhere, Place::kUser, Keep::kNo, Keep::kYes}},
    {State::kNoCommands,
     Skip::kAny,
     {Config::kNone, Place::kNowhere, Place::kNowhere, Place::kUser, Keep::kNo, Keep::kYes}},
    {State::kLegacyBare,
     Skip::kNo,
     {Config::kAll, Place::kUser, Place::kUser, Place::kUser, Keep::kNo, Keep::kYes}},
};

// Any stored conversation under --no-context-exec.
constexpr ContextRule kSkipped = {Config::kNone, Place::kNowhere, Place::kNowhere,
                                  Place::kUser,  Keep::kNo,       Keep::kYes};

ContextRule RuleOf(State state, Skip skip) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) {
    return one.state == state && (one.skip == skip || one.skip == Skip::kAny);
  });
  return row == std::end(kRows) ? kSkipped : row->rule;
}

bool Runs(const DeclaredCommand& command, Config config) {
  if (command.origin == Origin::kExec) return true;
  switch (config) {
    case Config::kAll:
      return true;
    case Config::kDynamic:
      return command.freshness == Freshness::kDynamic;
    case Config::kNone:
      break;
  }
  return false;
}

Status Check(std::span<const DeclaredCommand> commands, const Stored* stored,
             const TurnOptions& options) {
  for (const DeclaredCommand& command : commands) {
    const bool note = command.unchanged == DeclaredCommand::Unchanged::kNote;
    if (note && command.persist != DeclaredCommand::Persist::kYes) {
      return MakeError(ErrorCode::kConfig,
                       "context command '{}': unchanged: note needs persist: true, else the block "
                       "that it points to is not in the conversation",
                       command.name);
    }
  }
  const bool refresh = options.refresh == TurnOptions::Refresh::kYes;
  if (refresh && options.config_commands == TurnOptions::ConfigCommands::kSkip) {
    return MakeError(ErrorCode::kUsage,
                     "--refresh-context and --no-context-exec exclude each other");
  }
  if (refresh && options.store == TurnOptions::Store::kReadOnly) {
    return MakeError(ErrorCode::kUsage, "--refresh-context and --read-only exclude each other");
  }
  if (!stored && options.store == TurnOptions::Store::kReadOnly) {
    return MakeError(ErrorCode::kUsage, "--read-only requires --conversation");
  }
  return {};
}

std::optional<std::string> HintFor(const Stored* stored, State state,
                                   std::span<const DeclaredCommand> commands) {
  const bool without =
      state == State::kDisabled || state == State::kNoCommands || state == State::kLegacyBare;
  if (!stored || !without) return std::nullopt;
  const bool configured =
      std::any_of(commands.begin(), commands.end(),
                  [](const DeclaredCommand& one) { return one.origin == Origin::kConfig; });
  const bool said =
      std::find(stored->hints.begin(), stored->hints.end(), kRefreshHint) != stored->hints.end();
  if (!configured || said) return std::nullopt;
  if (state == State::kLegacyBare) {
    return fmt::format(
        "conversation {} has no frozen context, so the commands run again every "
        "turn; to freeze their output, run: dossier context refresh {}",
        stored->id, stored->id);
  }
  return fmt::format(
      "conversation {} was made without context commands, so they do not run; to "
      "add their output, run: dossier context refresh {}",
      stored->id, stored->id);
}

}  // namespace

std::string ModelHint(std::string_view model) { return "model " + std::string(model); }

std::string_view OriginName(Origin origin) { return origin == Origin::kExec ? "exec" : "config"; }

Result<ContextNeed> NeedOf(const Stored* stored, std::span<const DeclaredCommand> commands,
                           const TurnOptions& options) {
  const bool stateless = options.kind == TurnOptions::Kind::kStateless;
  if (!stateless) DOSSIER_RETURN_IF_ERROR(Check(commands, stored, options));
  ContextNeed need{.state = stateless ? State::kStateless : StateOf(stored)};
  const bool skip = options.config_commands == TurnOptions::ConfigCommands::kSkip;
  // A refresh makes the context as if the conversation were new.
  const bool refresh = options.refresh == TurnOptions::Refresh::kYes;
  const State row = refresh ? State::kNew : need.state;
  need.rule = RuleOf(row, skip ? Skip::kYes : Skip::kNo);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (Runs(commands[i], need.rule.config)) need.run.push_back(i);
  }
  if (!refresh && !skip) need.hint = HintFor(stored, need.state, commands);
  return need;
}

}  // namespace dossier::chat
