#include "chat/store/store.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace dossier::chat {
namespace {

constexpr std::size_t kShortestPrefix = 4;  // 3.4

Result<Loaded> ParseLoaded(std::string_view id, std::string bytes) {
  DOSSIER_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(bytes), id));
  DOSSIER_ASSIGN_OR_RETURN(Stored stored, ReadStored(document));
  stored.id = id;
  return Loaded{std::string(id), std::move(document), std::move(stored)};
}

Result<std::int64_t> LastTurn(const Document& document) {
  DOSSIER_ASSIGN_OR_RETURN(const Json metadata, document.ReadMetadata());
  const Json* dossier = Find(metadata, "dossier");
  const Json* turns = dossier ? Find(*dossier, "turns") : nullptr;
  if (!turns || !turns->is_array() || turns->get_array().empty()) return 0;
  return FindInt(turns->get_array().back(), "n").value_or(0);
}

void WarnOfOthers(std::size_t now, std::size_t seen, std::vector<std::string>* warnings) {
  if (now > seen) {
    warnings->push_back(fmt::format(
        "{} messages were added by another process; this answer did not see them", now - seen));
  } else if (now < seen) {
    warnings->push_back(fmt::format("{} messages were taken away by another process", seen - now));
  }
}

Status TrimTo(std::int64_t turn, const Stored& stored, Document* document) {
  const std::size_t end = TurnBegin(stored, turn + 1);
  if (turn < 1 || TurnBegin(stored, turn) == stored.messages.size()) {
    return MakeError(ErrorCode::kNotFound, "conversation {} has no turn {}; it has {}", stored.id,
                     turn, TurnCount(stored));
  }
  if (end == stored.messages.size()) return {};
  std::size_t records = 0, compactions = 0;
  for (const TurnRecord& record : stored.turns) records += record.n > turn ? 1 : 0;
  for (const CompactionRecord& record : stored.compaction) compactions += record.to >= end ? 1 : 0;
  JsonPatch& metadata = document->metadata();
  DOSSIER_RETURN_IF_ERROR(metadata.RemoveLast({"dossier", "turns"}, records));
  DOSSIER_RETURN_IF_ERROR(metadata.RemoveLast({"dossier", "compaction"}, compactions));
  // Counted again in the next turn.
  DOSSIER_RETURN_IF_ERROR(metadata.Remove({"total_tokens"}));
  return document->EraseMessagesFrom(end);
}

std::string BackupTime(Clock::Wall now) {
  std::string out;
  for (const char c : FormatMicros(now).substr(0, 19)) {
    if (c != '-' && c != ':') out += c;
  }
  return out + "Z";
}

}  // namespace

Result<std::string> KeepElsewhere(const std::string& folder, std::string_view id,
                                  const Document& document) {
  const RenderedFile text = document.Render();
  const auto write = [&](const std::string& into) -> Result<std::string> {
    const std::string name = Exists(PathOf(into, id)) ? RecoveredId(id) : std::string(id);
    DOSSIER_RETURN_IF_ERROR(ReplaceFile(into, name, text.pieces()));
    return PathOf(into, name);
  };
  if (!folder.empty() && MakeFolders(folder, 0700)) {
    auto path = write(folder);
    if (path) return path;
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string made, MakeTempFolder("dossier-unsaved"));
  return write(made);
}

std::size_t TurnBegin(const Stored& stored, std::int64_t n) {
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < stored.messages.size(); ++i) {
    if (stored.messages[i].role == "user" && ++seen == n) return i;
  }
  return stored.messages.size();
}

std::int64_t TurnCount(const Stored& stored) {
  return std::count_if(stored.messages.begin(), stored.messages.end(),
                       [](const StoredMessage& message) { return message.role == "user"; });
}

tl::unexpected<Error> ConversationStore::NoSuch(std::string_view id) const {
  const auto ids = Ids();
  return MakeError(ErrorCode::kNotFound, "no conversation '{}' in {}{}", id, folder_,
                   ids ? DidYouMean(id, *ids, 3) : "");
}

Result<std::optional<Loaded>> ConversationStore::Find(std::string_view id) const {
  DOSSIER_ASSIGN_OR_RETURN(auto bytes, ReadConversation(folder_, id));
  if (!bytes) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(Loaded loaded, ParseLoaded(id, std::move(*bytes)));
  return loaded;
}

Result<Loaded> ConversationStore::Load(std::string_view id) const {
  DOSSIER_ASSIGN_OR_RETURN(auto loaded, Find(id));
  if (!loaded) return NoSuch(id);
  return std::move(*loaded);
}

Result<Begun> ConversationStore::BeginCreate(std::string_view id, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(auto existing, Find(id));
  if (existing) return Begun{.creation = {}, .existing = std::move(existing), .unwritable = {}};
  Result<FileLock> lock = LockConversation(folder_, id, lock_wait_, cancel);
  if (!lock) {
    const ErrorCode code = lock.error().code;
    const bool writable =
        code == ErrorCode::kLocked || code == ErrorCode::kCancelled || code == ErrorCode::kDamaged;
    if (writable) return tl::unexpected(lock.error());
    return Begun{.creation = {}, .existing = {}, .unwritable = lock.error()};
  }
  DOSSIER_ASSIGN_OR_RETURN(existing, Find(id));
  if (existing) return Begun{.creation = {}, .existing = std::move(existing), .unwritable = {}};
  return Begun{
      .creation = Creation{std::string(id), std::move(*lock)}, .existing = {}, .unwritable = {}};
}

Status ConversationStore::Write(std::string_view id, const Document& document) const {
  const RenderedFile text = document.Render();
  return ReplaceFile(folder_, id, text.pieces());
}

Result<Saved> ConversationStore::Create(Creation creation, const TurnSave& save,
                                        const FinishedTurn& turn) const {
  Document document = Document::Make(creation.id, save.model, turn.now);
  DOSSIER_RETURN_IF_ERROR(ApplyTurn(save, turn, &document));
  DOSSIER_RETURN_IF_ERROR(Write(creation.id, document));
  return Saved{.id = creation.id, .turn = 1, .warnings = {}};
}

Result<Saved> ConversationStore::Append(const Loaded& seen, const TurnSave& save,
                                        const FinishedTurn& turn, const CancelToken& cancel,
                                        const FileLock* held) const {
  std::optional<FileLock> lock;
  if (!held) {
    DOSSIER_ASSIGN_OR_RETURN(lock, Hold(seen.id, cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(auto bytes, ReadConversation(folder_, seen.id));
  Saved saved{.id = seen.id};
  std::optional<Document> document;
  if (bytes) {
    DOSSIER_ASSIGN_OR_RETURN(document, Document::Parse(std::move(*bytes), seen.id));
    WarnOfOthers(document->message_count(), seen.document.message_count(), &saved.warnings);
  } else {
    document = seen.document;
    lock.reset();
    saved.id = RecoveredId(seen.id);
    saved.warnings.push_back(
        fmt::format("conversation {} was deleted meanwhile; it is saved as {}", seen.id, saved.id));
    DOSSIER_ASSIGN_OR_RETURN(lock, LockConversation(folder_, saved.id, lock_wait_, cancel));
    DOSSIER_RETURN_IF_ERROR(document->SetId(saved.id));
  }
  DOSSIER_RETURN_IF_ERROR(ApplyTurn(save, turn, &*document));
  DOSSIER_ASSIGN_OR_RETURN(saved.turn, LastTurn(*document));
  DOSSIER_RETURN_IF_ERROR(Write(saved.id, *document));
  return saved;
}

Status ConversationStore::Update(std::string_view id, const Change& change,
                                 const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockConversation(folder_, id, lock_wait_, cancel));
  DOSSIER_ASSIGN_OR_RETURN(auto bytes, ReadConversation(folder_, id));
  if (!bytes) {
    DOSSIER_RETURN_IF_ERROR(RemoveFiles(folder_, id));  // the lock file that Take made
    return NoSuch(id);
  }
  const std::string before = *bytes;
  DOSSIER_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(*bytes), id));
  DOSSIER_RETURN_IF_ERROR(change(&document));
  if (document.Render().Joined() == before) return {};
  return Write(id, document);
}

Result<std::string> ConversationStore::Fork(std::string_view id, std::optional<std::int64_t> at,
                                            std::string_view as, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(Loaded source, Load(id));
  const std::string target = as.empty() ? MakeId() : std::string(as);
  const std::string source_hash = Sha256Hex(source.document.Render().Joined());
  const std::int64_t turn = at.value_or(TurnCount(source.stored));
  if (at) DOSSIER_RETURN_IF_ERROR(TrimTo(*at, source.stored, &source.document));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           LockConversation(folder_, target, lock_wait_, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto existing, ReadConversation(folder_, target));
  if (existing) return MakeError(ErrorCode::kNotFound, "conversation '{}' exists", target);
  Document& document = source.document;
  DOSSIER_RETURN_IF_ERROR(document.SetId(target));
  document.SetUpdated(Now());
  DOSSIER_RETURN_IF_ERROR(document.metadata().Set(
      {"dossier", "forked_from"}, JsonObject{{"id", id}, {"turn", turn}, {"sha256", source_hash}}));
  DOSSIER_RETURN_IF_ERROR(Write(target, document));
  return target;
}

Status ConversationStore::Rename(std::string_view id, std::string_view as,
                                 const CancelToken& cancel) const {
  DOSSIER_RETURN_IF_ERROR(CheckId(as));
  if (id == as) return MakeError(ErrorCode::kUsage, "conversation '{}' has this id already", id);
  // Always in the same order, so that two renames do not deadlock.
  const std::string_view first = std::min(id, as), second = std::max(id, as);
  DOSSIER_ASSIGN_OR_RETURN(const FileLock one,
                           LockConversation(folder_, first, lock_wait_, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock two,
                           LockConversation(folder_, second, lock_wait_, cancel));
  DOSSIER_ASSIGN_OR_RETURN(auto loaded, Find(id));
  if (!loaded) return NoSuch(id);
  DOSSIER_ASSIGN_OR_RETURN(const auto taken, ReadConversation(folder_, as));
  if (taken) return MakeError(ErrorCode::kNotFound, "conversation '{}' exists", as);
  Document& document = loaded->document;
  DOSSIER_RETURN_IF_ERROR(document.SetId(as));
  DOSSIER_RETURN_IF_ERROR(document.metadata().Append({"dossier", "former_ids"}, Json(id)));
  DOSSIER_RETURN_IF_ERROR(Write(as, document));
  return RemoveFiles(folder_, id);
}

namespace {

// Returns `here` with the additional messages of `longer`.
Result<Document> Lengthened(Document here, const Document& longer) {
  DOSSIER_ASSIGN_OR_RETURN(const Json before, here.ReadMetadata());
  const Json* dossier = Find(before, "dossier");
  if (dossier && Find(*dossier, "imported")) {
    for (std::size_t i = here.message_count(); i < longer.message_count(); ++i) {
      DOSSIER_ASSIGN_OR_RETURN(Json message, longer.ReadMessage(i));
      here.AppendMessage(std::move(message));
    }
    here.SetUpdated(longer.updated_at());
    return here;
  }
  // A conversation of this program includes the records of its turns.
  Document out = longer;
  if (const Json* title = dossier ? Find(*dossier, "title") : nullptr) {
    DOSSIER_RETURN_IF_ERROR(out.metadata().Set({"dossier", "title"}, *title));
  }
  return out;
}

}  // namespace

Result<ConversationStore::Added> ConversationStore::Add(const Document& document, Adding adding,
                                                        const CancelToken& cancel) const {
  const std::string& id = document.name();
  const bool writes = adding == Adding::kDone;
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const Stored readable, ReadStored(document));
  std::optional<FileLock> lock;
  if (writes) {
    DOSSIER_ASSIGN_OR_RETURN(lock, LockConversation(folder_, id, lock_wait_, cancel));
  }
  DOSSIER_ASSIGN_OR_RETURN(auto existing, Find(id));
  if (!existing) {
    if (writes) DOSSIER_RETURN_IF_ERROR(Write(id, document));
    return Added::kNew;
  }
  const std::size_t here = existing->document.message_count();
  const std::size_t common = std::min(here, document.message_count());
  for (std::size_t i = 0; i < common; ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const Json old, existing->document.ReadMessage(i));
    DOSSIER_ASSIGN_OR_RETURN(const Json added, document.ReadMessage(i));
    if (old != added) return Added::kOther;
  }
  if (document.message_count() <= here) return Added::kThere;
  if (!writes) return Added::kLonger;
  DOSSIER_ASSIGN_OR_RETURN(const Document grown,
                           Lengthened(std::move(existing->document), document));
  DOSSIER_RETURN_IF_ERROR(Write(id, grown));
  return Added::kLonger;
}

Status ConversationStore::Delete(std::string_view id, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockConversation(folder_, id, lock_wait_, cancel));
  const bool there = Exists(PathOf(folder_, id));
  DOSSIER_RETURN_IF_ERROR(RemoveFiles(folder_, id));
  if (!there) return NoSuch(id);
  return {};
}

Result<std::string> ConversationStore::BackUp(std::string_view id,
                                              const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockConversation(folder_, id, lock_wait_, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto bytes, ReadConversation(folder_, id));
  if (!bytes) return NoSuch(id);
  const std::string of_second = PathOf(folder_, id) + ".bak-" + BackupTime(clock_->WallNow());
  std::string path = of_second;
  for (int number = 2; Exists(path); ++number) path = fmt::format("{}-{}", of_second, number);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, *bytes, 0600));
  return path;
}

Result<std::vector<std::string>> ConversationStore::Ids() const {
  DOSSIER_ASSIGN_OR_RETURN(const auto files, ListFolder(folder_));
  std::vector<std::string> ids;
  for (const FileEntry& file : files) ids.push_back(file.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::string> ConversationStore::Resolve(std::string_view prefix) const {
  DOSSIER_RETURN_IF_ERROR(CheckId(prefix));
  if (Exists(PathOf(folder_, prefix))) return std::string(prefix);
  if (prefix.size() < kShortestPrefix) return NoSuch(prefix);
  DOSSIER_ASSIGN_OR_RETURN(const auto ids, Ids());
  std::vector<std::string> found;
  for (const std::string& id : ids) {
    if (id.starts_with(prefix)) found.push_back(id);
  }
  if (found.empty()) return NoSuch(prefix);
  if (found.size() == 1) return found.front();
  constexpr std::size_t kShown = 8;
  const std::string more =
      found.size() > kShown ? fmt::format(" and {} more", found.size() - kShown) : "";
  if (found.size() > kShown) found.resize(kShown);
  return MakeError(ErrorCode::kNotFound, "conversation '{}' is ambiguous: {}{}", prefix,
                   Join(found, ", "), more);
}

}  // namespace dossier::chat
