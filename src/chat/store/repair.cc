#include "chat/store/repair.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text/text.h"
#include "chat/context/frozen.h"
#include "chat/document/stored.h"
#include "chat/store/save.h"

namespace dossier::chat {
namespace {

// A part of the metadata that may be removed so that the rest can be read.
struct Part {
  std::string_view outer, inner;  // inner "": all of outer

  std::string Name() const {
    return inner.empty() ? fmt::format("metadata.{}", outer)
                         : fmt::format("metadata.{}.{}", outer, inner);
  }
  Status RemoveFrom(Document* document) const {
    if (inner.empty()) return document->metadata().Remove({outer});
    return document->metadata().Remove({outer, inner});
  }
};

// In order of increasing loss.
constexpr std::array kParts = {Part{"dossier", "compaction"}, Part{"dossier", "turns"},
                               Part{"context", ""}, Part{"dossier", ""}};

class Repairer {
 public:
  Repairer(const tokens::Counter& counter, Document* document)
      : counter_(counter), document_(document) {}

  Result<std::vector<std::string>> Run() {
    DOSSIER_RETURN_IF_ERROR(MakeReadable());
    DOSSIER_RETURN_IF_ERROR(NameIt());
    DOSSIER_RETURN_IF_ERROR(DescribeContext());
    DOSSIER_RETURN_IF_ERROR(DropLostCompactions());
    DOSSIER_RETURN_IF_ERROR(DropLostTurns());
    return std::move(done_);
  }

 private:
  // Removes one part at a time, so that no more is lost than necessary.
  Status MakeReadable() {
    if (ReadStored(*document_)) return {};
    for (const Part& part : kParts) {
      Document without = *document_;
      if (!part.RemoveFrom(&without) || !ReadStored(without)) continue;
      return Remove(part);
    }
    for (const Part& part : kParts) {
      Document without = *document_;
      if (!part.RemoveFrom(&without)) continue;  // what is around it is not an object
      DOSSIER_RETURN_IF_ERROR(Remove(part));
      if (ReadStored(*document_)) return {};
    }
    return ReadStored(*document_).map([](const Stored&) {});
  }

  Status Remove(const Part& part) {
    const std::string before = document_->metadata().text();
    DOSSIER_RETURN_IF_ERROR(part.RemoveFrom(document_));
    if (document_->metadata().text() == before) return {};
    done_.push_back(fmt::format("{} could not be read: removed", part.Name()));
    return {};
  }

  Status NameIt() {
    const std::string was = document_->id();
    if (was.empty() || was == document_->name()) return {};
    DOSSIER_RETURN_IF_ERROR(document_->SetId(document_->name()));
    done_.push_back(fmt::format("id '{}' -> '{}', as the file is named", was, document_->name()));
    return {};
  }

  // Reading has found the blocks of the message.
  Status DescribeContext() {
    DOSSIER_ASSIGN_OR_RETURN(Stored stored, ReadStored(*document_));
    if (stored.edited == Stored::Edited::kNo) return {};
    ContextRecord& context = *stored.context;
    const StoredMessage* system = stored.System();
    const std::string text = system ? system->Text() : "";
    context.tokens = counter_.CountText(text.substr(context.offset, context.length)).tokens;
    DOSSIER_RETURN_IF_ERROR(document_->metadata().Set({"context"}, ToJson(context)));
    DOSSIER_RETURN_IF_ERROR(document_->metadata().Remove({"total_tokens"}));
    done_.push_back(
        context.length == 0
            ? "the system message holds no context any more: recorded so"
            : fmt::format("the context stands at bytes {} to {} of the system message: recorded so",
                          context.offset, context.offset + context.length));
    return {};
  }

  Status DropLostCompactions() {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document_));
    DOSSIER_ASSIGN_OR_RETURN(const Json metadata, document_->ReadMetadata());
    const Json* dossier = Find(metadata, "dossier");
    const Json* list = dossier ? Find(*dossier, "compaction") : nullptr;
    if (!list || !list->is_array() || list->get_array().size() == stored.compaction.size()) {
      return {};
    }
    JsonArray kept;
    for (const CompactionRecord& record : stored.compaction) kept.push_back(ToJson(record));
    const std::size_t lost = list->get_array().size() - kept.size();
    done_.push_back(fmt::format("{} compaction{} of messages that are gone: removed", lost,
                                lost == 1 ? "" : "s"));
    return document_->metadata().Set({"dossier", "compaction"}, std::move(kept));
  }

  Status DropLostTurns() {
    DOSSIER_ASSIGN_OR_RETURN(const Stored stored, ReadStored(*document_));
    const auto turns =
        static_cast<std::size_t>(std::ranges::count(stored.messages, "user", &StoredMessage::role));
    if (stored.turns.size() <= turns) return {};
    const std::size_t lost = stored.turns.size() - turns;
    done_.push_back(
        fmt::format("{} record{} of turns that are gone: removed", lost, lost == 1 ? "" : "s"));
    return document_->metadata().RemoveLast({"dossier", "turns"}, lost);
  }

  const tokens::Counter& counter_;
  Document* document_;
  std::vector<std::string> done_;
};

}  // namespace

Result<std::vector<std::string>> Repair(const tokens::Counter& counter, Document* document) {
  return Repairer(counter, document).Run();
}

namespace {

// The blocks at the start of a message, and the text after them.
struct Opened {
  std::vector<NamedBlock> blocks;
  std::string rest;
};

Opened LeadingBlocks(const StoredMessage& message) {
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
  // Blocks that are already in the system message only need their record.
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
    // From the end, because the system message may move all messages down.
    DOSSIER_RETURN_IF_ERROR(DropCopies(first, opened.blocks));
    DOSSIER_RETURN_IF_ERROR(document_->SetContent(first, Json(opened.rest)));
    std::vector<std::string> texts;
    for (const NamedBlock& block : opened.blocks) {
      texts.push_back(block.text);
      out_.lines.push_back(fmt::format("block '{}' -> system message", block.name));
    }
    const StoredMessage* system = stored_.System();
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
