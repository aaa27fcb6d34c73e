#include "chat/store/migrate.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/text.h"
#include "chat/context/frozen.h"
#include "chat/document/stored.h"
#include "chat/store/save.h"

namespace dossier::chat {
namespace {

// The blocks that open a message, and the text behind them.
struct Opened {
  std::vector<NamedBlock> blocks;
  std::string rest;
};

Opened LeadingBlocks(const Message& message) {
  const Json* content = Find(message.json, "content");
  if (message.role != "user" || !content || !content->is_string()) return {};
  const std::string text = message.Text();
  Opened out;
  std::string_view rest = text;
  for (NamedBlock& block : BlocksOf(text)) {
    if (!rest.starts_with(block.text)) break;
    rest.remove_prefix(block.text.size());
    const std::size_t next = rest.find_first_not_of('\n');
    rest.remove_prefix(std::min(next, rest.size()));
    out.blocks.push_back(std::move(block));
  }
  out.rest = rest;
  return out;
}

CommandRecord RecordOf(const NamedBlock& block, const tokens::Counter& counter) {
  CommandRecord record{.name = block.name, .origin = "config", .on_failure = "warn"};
  record.outcome = block.text.starts_with("--- Context Error: ") ? "exit" : "ok";
  record.bytes = record.bytes_kept = block.text.size();
  record.tokens = counter.CountText(block.text).tokens;
  record.sha256 = Sha256Hex(block.text);
  return record;
}

class Migrator {
 public:
  Migrator(const MigrateOptions& options, std::string_view now, const tokens::Counter& counter,
           Document* document)
      : options_(options), now_(now), counter_(counter), document_(document) {}

  Result<Migration> Run() {
    DOSSIER_ASSIGN_OR_RETURN(const auto moved, document_->MoveForeignKeys());
    for (const std::string& key : moved) {
      out_.lines.push_back(fmt::format("key '{}' -> metadata.dossier.foreign", key));
    }
    DOSSIER_ASSIGN_OR_RETURN(stored_, ReadStored(*document_));
    if (stored_.context) return std::move(out_);
    if (StateOf(&stored_) == State::kLegacyFrozen) {
      DOSSIER_RETURN_IF_ERROR(Describe());
    } else {
      DOSSIER_RETURN_IF_ERROR(Move());
    }
    return std::move(out_);
  }

 private:
  // Blocks that stand in the system message already only need their record.
  Status Describe() {
    const std::string system = stored_.System()->Text();
    const std::vector<NamedBlock> blocks = BlocksOf(system);
    const std::size_t begin = system.find(blocks.front().text);
    const std::size_t end = system.rfind(blocks.back().text) + blocks.back().text.size();
    Frozen frozen{.system = system, .record = Record(blocks)};
    frozen.record.offset = begin;
    frozen.record.length = end - begin;
    frozen.record.sha256 = Sha256Hex(system.substr(begin, end - begin));
    frozen.record.tokens = counter_.CountText(system.substr(begin, end - begin)).tokens;
    frozen.record.system_sha256 = Sha256Hex(system);
    out_.lines.push_back(fmt::format("{} blocks in the system message: described", blocks.size()));
    return document_->metadata().Set({"context"}, ToJson(frozen.record));
  }

  Status Move() {
    std::size_t first = 0;
    while (first < stored_.messages.size() && stored_.messages[first].role != "user") ++first;
    if (first == stored_.messages.size()) return {};
    const Opened opened = LeadingBlocks(stored_.messages[first]);
    if (opened.blocks.empty()) return {};
    // From the end, as the system message may push all messages down.
    DOSSIER_RETURN_IF_ERROR(DropCopies(first, opened.blocks));
    DOSSIER_RETURN_IF_ERROR(document_->SetContent(first, Json(opened.rest)));
    std::vector<std::string> texts;
    for (const NamedBlock& block : opened.blocks) {
      texts.push_back(block.text);
      out_.lines.push_back(fmt::format("block '{}' -> system message", block.name));
    }
    const Message* system = stored_.System();
    const std::string context = JoinBlocks(texts);
    Frozen frozen{.system = system ? system->Text() : "", .record = Record(opened.blocks)};
    if (!frozen.system.empty()) frozen.system += "\n\n";
    frozen.record.offset = frozen.system.size();
    frozen.record.length = context.size();
    frozen.record.sha256 = Sha256Hex(context);
    frozen.record.tokens = counter_.CountText(context).tokens;
    frozen.system += context;
    frozen.record.system_sha256 = Sha256Hex(frozen.system);
    DOSSIER_RETURN_IF_ERROR(document_->metadata().Remove({"total_tokens"}));
    return ApplyContext(frozen, now_, document_);
  }

  Status DropCopies(std::size_t first, const std::vector<NamedBlock>& moved) {
    std::size_t copies = 0, kept = 0;
    for (std::size_t i = first + 1; i < stored_.messages.size(); ++i) {
      const Opened opened = LeadingBlocks(stored_.messages[i]);
      std::vector<std::string> staying;
      for (const NamedBlock& block : opened.blocks) {
        if (Goes(block, moved)) {
          ++copies;
        } else {
          staying.push_back(block.text);
        }
      }
      kept += staying.size();
      if (staying.size() == opened.blocks.size()) continue;
      staying.push_back(opened.rest);
      DOSSIER_RETURN_IF_ERROR(document_->SetContent(i, Json(JoinBlocks(staying))));
    }
    if (copies > 0) out_.lines.push_back(fmt::format("{} later copies removed", copies));
    if (kept > 0) {
      out_.lines.push_back(fmt::format("{} later blocks differ and stay (--drop-changed)", kept));
    }
    return {};
  }

  bool Goes(const NamedBlock& block, const std::vector<NamedBlock>& moved) const {
    return std::any_of(moved.begin(), moved.end(), [&](const NamedBlock& one) {
      if (one.text == block.text) return true;
      return options_.changed == MigrateOptions::Changed::kDrop && one.name == block.name;
    });
  }

  ContextRecord Record(const std::vector<NamedBlock>& blocks) const {
    ContextRecord record{.mode = ContextRecord::Mode::kStatic,
                         .source = "migrated",
                         .executed_at = stored_.created_at};
    for (const NamedBlock& block : blocks) record.commands.push_back(RecordOf(block, counter_));
    return record;
  }

  const MigrateOptions& options_;
  std::string_view now_;
  const tokens::Counter& counter_;
  Document* document_;
  Stored stored_;
  Migration out_;
};

}  // namespace

Result<Migration> Migrate(const MigrateOptions& options, std::string_view now,
                          const tokens::Counter& counter, Document* document) {
  return Migrator(options, now, counter, document).Run();
}

}  // namespace dossier::chat
