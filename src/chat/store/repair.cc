#include "chat/store/repair.h"

#include <algorithm>
#include <array>

#include "chat/document/stored.h"

namespace dossier::chat {
namespace {

// A part of the metadata that may be taken away so that the rest can be read.
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

// From the least loss to the greatest.
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
  // One part at a time first, so that no more goes than has to.
  Status MakeReadable() {
    if (ReadStored(*document_)) return {};
    for (const Part& part : kParts) {
      Document without = *document_;
      if (!part.RemoveFrom(&without) || !ReadStored(without)) continue;
      return Remove(part);
    }
    for (const Part& part : kParts) {
      Document without = *document_;
      if (!part.RemoveFrom(&without)) continue;  // what is around it is no object
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

  // Reading it has found the blocks that stand there.
  Status DescribeContext() {
    DOSSIER_ASSIGN_OR_RETURN(Stored stored, ReadStored(*document_));
    if (stored.edited == Stored::Edited::kNo) return {};
    ContextRecord& context = *stored.context;
    const Message* system = stored.System();
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
        static_cast<std::size_t>(std::ranges::count(stored.messages, "user", &Message::role));
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

}  // namespace dossier::chat
