#include "chat/context/frozen.h"

#include <algorithm>

#include "base/hash.h"
#include "sources/commands/context_command.h"
#include "store/content.h"

namespace dossier::chat {
namespace {

CommandRecord FrozenRecord(const DeclaredCommand& command, const ContextBlock& block,
                           const tokens::Counter& counter) {
  CommandRecord record = block.record;
  record.name = command.name;
  record.command = command.command;
  record.origin = OriginName(command.origin);
  record.freshness = command.freshness;
  record.on_failure = command.on_failure;
  record.tokens = counter.CountText(block.text).tokens;
  return record;
}

const NamedBlock* FindBlock(const std::vector<NamedBlock>& blocks, std::string_view name) {
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [name](const NamedBlock& block) { return block.name == name; });
  return found == blocks.end() ? nullptr : &*found;
}

const CommandRecord* FindRecord(const Stored& stored, std::string_view name) {
  if (!stored.context) return nullptr;
  for (const CommandRecord& one : stored.context->commands) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string_view WhatHappened(const NamedBlock* before, std::string_view now) {
  if (!before) return now.empty() ? "same" : "new";
  if (now.empty()) return "gone";
  return before->text == now ? "same" : "changed";
}

// Replaces old blocks with new ones.
class Refreshing {
 public:
  Refreshing(const Stored& stored, std::span<const DeclaredCommand> commands,
             const tokens::Counter& counter)
      : stored_(stored),
        commands_(commands),
        counter_(counter),
        parts_(PartsAround(stored)),
        old_(BlocksOf(parts_.context)) {}

  Refreshed Run(std::span<const ContextBlock> blocks, OtherBlocks others, std::string_view now) {
    if (others == OtherBlocks::kStay) {
      InPlace(blocks);
    } else {
      Anew(blocks);
    }
    const std::string context = JoinBlocks(texts_);
    const std::string replaced = context == parts_.context ? "" : parts_.context;
    record_.mode = ContextRecord::Mode::kStatic;
    record_.source = "refreshed";
    record_.executed_at = now;
    record_.history = History(replaced, now);
    return {.frozen = Compose(parts_.text, context, std::move(record_), counter_),
            .changes = std::move(changes_),
            .replaced = replaced};
  }

 private:
  void Anew(std::span<const ContextBlock> blocks) {
    for (const ContextBlock& block : blocks) Take(block);
    for (const NamedBlock& block : old_) {
      if (Taken(block.name)) continue;
      const CommandRecord* was = FindRecord(stored_, block.name);
      if (was && was->origin == "exec") {
        Keep(block);
      } else {
        changes_.push_back({block.name, "gone", block.text, ""});
      }
    }
  }

  void InPlace(std::span<const ContextBlock> blocks) {
    for (const NamedBlock& block : old_) {
      const auto fresh = std::find_if(blocks.begin(), blocks.end(), [&](const ContextBlock& one) {
        return NameOf(one) == block.name;
      });
      if (fresh == blocks.end()) {
        Keep(block);
      } else {
        Take(*fresh);
      }
    }
    for (const ContextBlock& block : blocks) {
      if (!Taken(NameOf(block))) Take(block);
    }
  }

  // Returns the name in the marker, which may be a cleaned form of the command's.
  std::string NameOf(const ContextBlock& block) const {
    const std::vector<NamedBlock> read = BlocksOf(block.text);
    return read.empty() ? commands_[block.command].name : read.front().name;
  }

  bool Taken(std::string_view name) const {
    return std::any_of(changes_.begin(), changes_.end(),
                       [name](const BlockChange& change) { return change.name == name; });
  }

  void Take(const ContextBlock& block) {
    const std::string name = NameOf(block);
    const NamedBlock* before = FindBlock(old_, name);
    record_.commands.push_back(FrozenRecord(commands_[block.command], block, counter_));
    texts_.push_back(block.text);
    changes_.push_back({name, std::string(WhatHappened(before, block.text)),
                        before ? before->text : "", block.text});
  }

  void Keep(const NamedBlock& block) {
    if (const CommandRecord* was = FindRecord(stored_, block.name)) {
      record_.commands.push_back(*was);
    }
    texts_.push_back(block.text);
    changes_.push_back({block.name, std::string(kNotRefreshed), block.text, block.text});
  }

  JsonArray History(const std::string& replaced, std::string_view now) const {
    JsonArray history;
    if (stored_.context && stored_.context->history.is_array()) {
      history = stored_.context->history.get_array();
    }
    if (!replaced.empty()) {
      history.push_back(JsonObject{
          {"sha256", Sha256Hex(replaced)}, {"replaced_at", now}, {"bytes", replaced.size()}});
    }
    return history;
  }

  const Stored& stored_;
  const std::span<const DeclaredCommand> commands_;
  const tokens::Counter& counter_;
  const SystemHalves parts_;
  const std::vector<NamedBlock> old_;
  ContextRecord record_;
  std::vector<std::string> texts_;
  std::vector<BlockChange> changes_;
};

}  // namespace

Frozen Compose(std::string_view system_text, std::string_view context, ContextRecord record,
               const tokens::Counter& counter) {
  Frozen out{.system = std::string(system_text), .record = std::move(record)};
  if (!out.system.empty() && !context.empty()) out.system += "\n\n";
  out.record.offset = context.empty() ? 0 : out.system.size();
  out.record.length = context.size();
  out.record.sha256 = Sha256Hex(context);
  out.record.tokens = counter.CountText(context).tokens;
  out.system += context;
  out.record.system_sha256 = Sha256Hex(out.system);
  return out;
}

SystemHalves PartsAround(const Stored& stored) {
  SystemHalves parts = SplitSystem(stored);
  if (!parts.context.empty()) return parts;
  std::vector<std::string> around, blocks;
  std::string_view rest = parts.text;
  std::size_t at = 0;
  for (const sources::BlockSpan& span : sources::FindBlocks(parts.text)) {
    std::string_view before = rest.substr(0, span.offset - at);
    while (before.ends_with('\n')) before.remove_suffix(1);
    around.emplace_back(before);
    blocks.push_back(parts.text.substr(span.offset, span.length));
    at = span.offset + span.length;
    rest = std::string_view(parts.text).substr(at);
    while (rest.starts_with('\n')) rest.remove_prefix(1), ++at;
  }
  if (blocks.empty()) return parts;
  around.emplace_back(rest);
  return {.text = JoinBlocks(around), .context = JoinBlocks(blocks)};
}

std::string JoinBlocks(std::span<const std::string> blocks) {
  std::string out;
  for (const std::string& block : blocks) {
    if (block.empty()) continue;
    if (!out.empty()) out += "\n\n";
    out += block;
  }
  return out;
}

Frozen Freeze(std::string_view system_text, std::span<const DeclaredCommand> commands,
              std::span<const ContextBlock> blocks, ContextRecord::Mode mode,
              std::string_view executed_at, const tokens::Counter& counter) {
  ContextRecord record{.mode = mode, .executed_at = std::string(executed_at)};
  std::vector<std::string> texts;
  for (const ContextBlock& block : blocks) {
    const DeclaredCommand& command = commands[block.command];
    record.commands.push_back(FrozenRecord(command, block, counter));
    texts.push_back(block.text);
  }
  return Compose(system_text, JoinBlocks(texts), std::move(record), counter);
}

std::vector<NamedBlock> BlocksOf(std::string_view context) {
  std::vector<NamedBlock> blocks;
  for (const sources::BlockSpan& span : sources::FindBlocks(context)) {
    blocks.push_back({span.name, std::string(context.substr(span.offset, span.length))});
  }
  return blocks;
}

Refreshed Refresh(const Stored& stored, std::span<const DeclaredCommand> commands,
                  std::span<const ContextBlock> blocks, std::string_view now,
                  const tokens::Counter& counter, OtherBlocks others) {
  return Refreshing(stored, commands, counter).Run(blocks, others, now);
}

Status KeepReplacedContext(const std::string& content_folder, std::string_view text) {
  if (text.empty() || content_folder.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::string sha256, content->Put(text));
  return {};
}

std::vector<ReplacedContext> ReplacedContexts(const Stored& stored) {
  std::vector<ReplacedContext> out;
  const JsonArray* history = stored.context ? stored.context->history.if_array() : nullptr;
  if (!history) return out;
  for (const Json& one : *history) {
    out.push_back({.sha256 = TextAt(one, "sha256"),
                   .replaced_at = TextAt(one, "replaced_at"),
                   .bytes = static_cast<std::uint64_t>(
                       std::max<std::int64_t>(FindInt(one, "bytes").value_or(0), 0))});
  }
  return out;
}

Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced) {
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  if (content->Has(replaced.sha256)) return content->Get(replaced.sha256);
  return MakeError(ErrorCode::kNotFound,
                   "the context that was replaced at {} is not kept on this machine (sha256 {})",
                   replaced.replaced_at, replaced.sha256);
}

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

// Table 4.1. Columns: configured commands that run; places of static, dynamic and --exec blocks;
// whether dynamic and --exec blocks before the user text are saved with it.
constexpr Row kRows[] = {
    {State::kStateless,
     Skip::kNo,
     {Config::kAll, BlockPlace::kUser, BlockPlace::kUser, BlockPlace::kUser, Keep::kNo, Keep::kNo}},
    {State::kStateless,
     Skip::kYes,
     {Config::kNone, BlockPlace::kNowhere, BlockPlace::kNowhere, BlockPlace::kUser, Keep::kNo,
      Keep::kNo}},
    {State::kNew,
     Skip::kNo,
     {Config::kAll, BlockPlace::kSystem, BlockPlace::kUser, BlockPlace::kSystem, Keep::kIfAsked,
      Keep::kNo}},
    {State::kNew,
     Skip::kYes,
     {Config::kNone, BlockPlace::kNowhere, BlockPlace::kNowhere, BlockPlace::kSystem, Keep::kNo,
      Keep::kNo}},
    {State::kFrozen,
     Skip::kNo,
     {Config::kDynamic, BlockPlace::kNowhere, BlockPlace::kUser, BlockPlace::kUser, Keep::kIfAsked,
      Keep::kYes}},
    {State::kLegacyFrozen,
     Skip::kNo,
     {Config::kDynamic, BlockPlace::kNowhere, BlockPlace::kUser, BlockPlace::kUser, Keep::kIfAsked,
      Keep::kYes}},
    {State::kDisabled,
     Skip::kAny,
     {Config::kNone, BlockPlace::kNowhere, BlockPlace::kNowhere, BlockPlace::kUser, Keep::kNo,
      Keep::kYes}},
    {State::kNoCommands,
     Skip::kAny,
     {Config::kNone, BlockPlace::kNowhere, BlockPlace::kNowhere, BlockPlace::kUser, Keep::kNo,
      Keep::kYes}},
    {State::kLegacyBare,
     Skip::kNo,
     {Config::kAll, BlockPlace::kUser, BlockPlace::kUser, BlockPlace::kUser, Keep::kNo,
      Keep::kYes}},
};

// For any stored conversation under --no-context-exec.
constexpr ContextRule kSkipped = {
    Config::kNone, BlockPlace::kNowhere, BlockPlace::kNowhere, BlockPlace::kUser, Keep::kNo,
    Keep::kYes};

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
  // A refresh makes the context as for a new conversation.
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
