#include "conversation/frozen.h"

#include <algorithm>

#include "base/hash.h"

namespace dossier::conversation {
namespace {

constexpr std::string_view kEnd = "--- End Context ---";
constexpr std::string_view kOpeners[] = {"--- Context: ", "--- Context Error: "};

// The name in a line that opens a block; "" if it opens none.
std::string_view OpenedBlock(std::string_view line) {
  for (const std::string_view opener : kOpeners) {
    if (!line.starts_with(opener) || !line.ends_with(" ---")) continue;
    if (line.size() < opener.size() + 4) continue;
    return line.substr(opener.size(), line.size() - opener.size() - 4);
  }
  return {};
}

CommandRecord RecordOf(const DeclaredCommand& command, const ContextBlock& block,
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

// Joins text and context, and says where the context stands.
Frozen Compose(std::string_view system_text, std::string context, ContextRecord record,
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

const NamedBlock* FindBlock(const std::vector<NamedBlock>& blocks, std::string_view name) {
  const auto found = std::find_if(blocks.begin(), blocks.end(),
                                  [name](const NamedBlock& block) { return block.name == name; });
  return found == blocks.end() ? nullptr : &*found;
}

// The system message of a file without metadata, or with blocks elsewhere than at its end.
SystemParts PartsForRefresh(const Stored& stored) {
  SystemParts parts = SplitSystem(stored);
  if (!parts.context.empty() || !HasContextBlocks(parts.text)) return parts;
  const std::vector<NamedBlock> blocks = BlocksOf(parts.text);
  const std::size_t begin = parts.text.find(blocks.front().text);
  if (begin == std::string::npos) return parts;
  const std::size_t text_end = begin >= 2 ? begin - 2 : 0;
  return {.text = parts.text.substr(0, text_end), .context = parts.text.substr(begin)};
}

}  // namespace

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
    record.commands.push_back(RecordOf(command, block, counter));
    texts.push_back(block.text);
  }
  return Compose(system_text, JoinBlocks(texts), std::move(record), counter);
}

std::vector<NamedBlock> BlocksOf(std::string_view context) {
  std::vector<NamedBlock> blocks;
  std::size_t begin = 0;
  std::string_view open;
  for (std::size_t at = 0; at <= context.size();) {
    const std::size_t end = std::min(context.find('\n', at), context.size());
    const std::string_view line = context.substr(at, end - at);
    if (const std::string_view name = OpenedBlock(line); !name.empty() && open.empty()) {
      open = name;
      begin = at;
    } else if (line == kEnd && !open.empty()) {
      blocks.push_back({std::string(open), std::string(context.substr(begin, end - begin))});
      open = {};
    }
    at = end + 1;
  }
  return blocks;
}

Refreshed Refresh(const Stored& stored, std::span<const DeclaredCommand> commands,
                  std::span<const ContextBlock> blocks, std::string_view now,
                  const tokens::Counter& counter) {
  const SystemParts parts = PartsForRefresh(stored);
  const std::vector<NamedBlock> old_blocks = BlocksOf(parts.context);
  Refreshed out{.replaced = parts.context};
  ContextRecord record{.mode = ContextRecord::Mode::kStatic, .source = "refreshed",
                       .executed_at = std::string(now)};
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (const ContextBlock& block : blocks) {
    const DeclaredCommand& command = commands[block.command];
    record.commands.push_back(RecordOf(command, block, counter));
    const std::vector<NamedBlock> read = BlocksOf(block.text);
    // The name as it stands in the marker, which may be a cleaned form of the command's.
    const std::string name = read.empty() ? command.name : read.front().name;
    const NamedBlock* before = FindBlock(old_blocks, name);
    names.push_back(name);
    texts.push_back(block.text);
    const bool same = before && before->text == block.text;
    out.changes.push_back({name, !before ? "new" : same ? "same" : "changed"});
  }
  for (const NamedBlock& block : old_blocks) {
    if (std::find(names.begin(), names.end(), block.name) != names.end()) continue;
    const CommandRecord* was = nullptr;
    if (stored.context) {
      for (const CommandRecord& one : stored.context->commands) {
        if (one.name == block.name) was = &one;
      }
    }
    if (was && was->origin == "exec") {
      record.commands.push_back(*was);
      texts.push_back(block.text);
      out.changes.push_back({block.name, "not refreshed"});
    } else {
      out.changes.push_back({block.name, "gone"});
    }
  }
  JsonArray history;
  if (stored.context && stored.context->history.is_array()) {
    history = stored.context->history.get_array();
  }
  if (!parts.context.empty()) {
    history.push_back(JsonObject{{"sha256", Sha256Hex(parts.context)},
                                 {"replaced_at", now},
                                 {"bytes", parts.context.size()}});
  }
  record.history = std::move(history);
  out.frozen = Compose(parts.text, JoinBlocks(texts), std::move(record), counter);
  return out;
}

}  // namespace dossier::conversation
