#include "server/contexts/context_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "inspect/description/hint.h"
#include "store/content.h"

namespace dossier::server {
namespace {

constexpr std::string_view kSchema = "dossier.context/1";
constexpr std::size_t kIdDigits = 12;
constexpr std::uint64_t kMostRecordBytes = 64u << 20;
constexpr std::string_view kNewPrefix = "new-";
constexpr std::chrono::hours kAbandoned{24};  // age of a folder whose maker must have died

std::string IdOf(const JsonArray& documents) {
  Sha256 hash;
  for (const Json& document : documents) {
    hash.Update(TextAt(document, "name") + '\0' + TextAt(document, "sha256") + '\n');
  }
  return "c" + hash.Hex().substr(0, kIdDigits);
}

// One element of "documents" in the record.
JsonObject DocumentRecord(const ask::ContextDocument& document, const ask::StoredText& text) {
  JsonObject out{{"name", document.name},
                 {"path", document.path},
                 {"sha256", text.sha256},
                 {"bytes", text.map.bytes().size()}};
  if (text.named) {
    out["named"] = JsonObject{{"path", text.named->path},
                              {"bytes", text.named->bytes},
                              {"modified_ns", text.named->modified_ns}};
  }
  return out;
}

std::string FormatOf(const ask::ContextSet& set) {
  std::string format;
  for (const ask::ContextDocument& document : set.documents()) {
    const std::string_view one = inspect::FormatName(document.description.format);
    if (!format.empty() && format != one) return "mixed";
    format = one;
  }
  return format;
}

std::string HintOf(const ask::ContextSet& set) {
  std::vector<inspect::Description> descriptions;
  for (const ask::ContextDocument& document : set.documents()) {
    descriptions.push_back(document.description);
    descriptions.back().name = document.name;
  }
  return descriptions.size() == 1 ? inspect::RenderHint(descriptions[0], {})
                                  : inspect::RenderHint(descriptions, {});
}

// Waits for all copies. Adds one element per document to `records`.
Result<std::shared_ptr<OpenContext>> Finish(std::shared_ptr<const ask::ContextSet> set,
                                            JsonArray* records) {
  auto out = std::make_shared<OpenContext>();
  std::vector<ask::TextDocument> documents;
  for (std::size_t i = 0; i < set->documents().size(); ++i) {
    const ask::ContextDocument& document = set->documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const ask::StoredText* text, set->Stored(i));
    documents.push_back({document.name, text->map.bytes(),
                         text->description ? *text->description : document.description});
    records->push_back(DocumentRecord(document, *text));
    if (!text->changed.empty()) out->notes.push_back(text->changed);
    out->notes.insert(out->notes.end(), document.warnings.begin(), document.warnings.end());
  }
  out->id = IdOf(*records);
  out->summary = {{"context", out->id},
                  {"documents", records->size()},
                  {"bytes", set->bytes()},
                  {"characters", set->characters()},
                  {"format", FormatOf(*set)}};
  out->hint = HintOf(*set);
  out->notes.insert(out->notes.end(), set->notes().begin(), set->notes().end());
  out->documents = std::make_unique<ask::DocumentService>(std::move(documents));
  out->set = std::move(set);
  return out;
}

void Touch(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

std::optional<Clock::Wall> ModifiedAt(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return Clock::Wall(std::chrono::duration_cast<Clock::Wall::duration>(
      std::chrono::nanoseconds(NanosSinceEpoch(info.st_mtim))));
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = opendir(folder.c_str());
  if (!dir) return names;
  while (const dirent* entry = readdir(dir)) names.emplace_back(entry->d_name);
  closedir(dir);
  return names;
}

// Checks that a file recorded by path is still the one that was read.
Status CheckNamed(std::string_view id, const Json& named) {
  const std::string path = TextAt(named, "path");
  struct stat info{};
  const bool same = stat(path.c_str(), &info) == 0 &&
                    info.st_size == FindInt(named, "bytes").value_or(-1) &&
                    NanosSinceEpoch(info.st_mtim) == FindInt(named, "modified_ns").value_or(-1);
  if (same) return {};
  return MakeError(ErrorCode::kNotFound,
                   "context {}: {} has changed or is gone since it was opened, and is too large to "
                   "be copied; open it again",
                   id, path);
}

}  // namespace

bool IsContextId(std::string_view text) {
  return text.size() == kIdDigits + 1 && text[0] == 'c' &&
         text.find_first_not_of("0123456789abcdef", 1) == text.npos;
}

ContextStore::ContextStore(ContextStoreOptions options) : options_(std::move(options)) {}

std::string ContextStore::FolderOf(std::string_view id) const {
  return fmt::format("{}/contexts/{}", options_.folder, id);
}

Result<std::shared_ptr<const OpenContext>> ContextStore::Add(
    const std::vector<ask::ContextSource>& sources, const std::string& name,
    ask::ContextOptions how, const CancelToken& cancel) {
  const std::string fresh = FolderOf(std::string(kNewPrefix) + RandomHex(16));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(fresh, 0700));
  auto add = [&]() -> Result<std::shared_ptr<const OpenContext>> {
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(fresh));
    how.content = content.get();
    how.copy_limit = options_.copy_limit;
    const bool redacted = how.redact_unless.has_value();
    DOSSIER_ASSIGN_OR_RETURN(auto set, ask::LoadContext(sources, how, cancel));
    JsonArray records;
    DOSSIER_ASSIGN_OR_RETURN(const auto context, Finish(std::move(set), &records));
    context->name = name;
    const Json record = JsonObject{{"schema", kSchema},
                                   {"id", context->id},
                                   {"name", name},
                                   {"opened", FormatTime(options_.clock->WallNow())},
                                   {"redacted", redacted},
                                   {"summary", context->summary},
                                   {"documents", std::move(records)}};
    const std::string text = ToJson(record) + "\n";
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fresh + "/context.json", text, 0600));
    // The same content may exist already, perhaps damaged: then the folders change places at once,
    // and the old one is removed. Texts that are mapped stay readable.
    const std::string final_folder = FolderOf(context->id);
    const auto move = [&](unsigned how_moved) {
      return renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, final_folder.c_str(), how_moved) == 0;
    };
    if (!move(RENAME_NOREPLACE) && (errno != EEXIST || !move(RENAME_EXCHANGE))) {
      return MakeErrnoError(errno, final_folder);
    }
    Remember(context);
    const std::lock_guard lock(mutex_);
    added_.insert(context->id);
    return context;
  };
  auto added = add();
  (void)RemoveAll(fresh);
  return added;
}

Result<Json> ContextStore::ReadRecord(std::string_view id) const {
  const std::string path = FolderOf(id) + "/context.json";
  if (!IsContextId(id) || !Exists(path)) {
    std::vector<std::string> ids;
    for (const KnownContext& record : List()) ids.push_back(record.id);
    return MakeError(ErrorCode::kNotFound, "there is no context {}{}; open makes one", id,
                     DidYouMean(id, ids));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMostRecordBytes));
  auto record = ParseJson(text);
  const Json* documents = record ? dossier::Find(*record, "documents") : nullptr;
  if (!documents || !documents->is_array() || IdOf(documents->get_array()) != id) {
    return MakeError(ErrorCode::kDamaged, "the record of context {} is damaged ({}); open it again",
                     id, path);
  }
  return record;
}

Result<std::vector<ask::ContextSource>> ContextStore::SourcesOf(std::string_view id) const {
  DOSSIER_ASSIGN_OR_RETURN(const Json record, ReadRecord(id));
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(FolderOf(id)));
  std::vector<ask::ContextSource> sources;
  for (const Json& document : dossier::Find(record, "documents")->get_array()) {
    const std::string path = TextAt(document, "path"), sha256 = TextAt(document, "sha256");
    ask::ContextSource source{.name = TextAt(document, "name")};
    if (const Json* named = dossier::Find(document, "named")) {
      DOSSIER_RETURN_IF_ERROR(CheckNamed(id, *named));
      source.path = TextAt(*named, "path");
    } else if (path.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(source.text, content->Get(sha256));
    } else {
      source.path = content->PathOf(sha256);
    }
    source.shown = path;
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<std::shared_ptr<const OpenContext>> ContextStore::Find(std::string_view id,
                                                              const CancelToken& cancel) {
  if (auto live = Live(id)) {
    Touch(FolderOf(id) + "/context.json");
    return live;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json record, ReadRecord(id));
  DOSSIER_ASSIGN_OR_RETURN(const auto sources, SourcesOf(id));
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(FolderOf(id)));
  ask::ContextOptions how{.content = content.get()};
  how.copy_limit = options_.copy_limit;
  DOSSIER_ASSIGN_OR_RETURN(auto set, ask::LoadContext(sources, how, cancel));
  JsonArray records;
  DOSSIER_ASSIGN_OR_RETURN(const auto context, Finish(std::move(set), &records));
  if (context->id != id) {
    return MakeError(ErrorCode::kDamaged,
                     "the texts of context {} are not those that were opened; open them again", id);
  }
  context->name = TextAt(record, "name");
  // The summary as opened: a copy is always UTF-8, whatever the file is.
  if (const Json* summary = dossier::Find(record, "summary"); summary && summary->is_object()) {
    context->summary = summary->get_object();
  }
  Touch(FolderOf(id) + "/context.json");
  Remember(context);
  return std::shared_ptr<const OpenContext>(context);
}

Result<KnownContext> ContextStore::Look(std::string_view id) const {
  DOSSIER_ASSIGN_OR_RETURN(const Json record, ReadRecord(id));
  KnownContext out{.id = std::string(id), .name = TextAt(record, "name"), .used = {}};
  const Json* redacted = dossier::Find(record, "redacted");
  out.redacted = redacted && redacted->is_bool() && redacted->get_bool();
  if (const Json* summary = dossier::Find(record, "summary"); summary && summary->is_object()) {
    out.summary = summary->get_object();
  }
  for (const Json& document : dossier::Find(record, "documents")->get_array()) {
    std::string path = TextAt(document, "path");
    if (path.empty()) {
      ++out.texts;
    } else {
      out.paths.push_back(std::move(path));
    }
  }
  out.used = ModifiedAt(FolderOf(id) + "/context.json").value_or(Clock::Wall());
  return out;
}

bool ContextStore::Added(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  return added_.contains(id);
}

std::vector<KnownContext> ContextStore::List() const {
  std::vector<KnownContext> out;
  for (const std::string& name : NamesIn(options_.folder + "/contexts")) {
    if (!IsContextId(name) || !Exists(FolderOf(name) + "/context.json")) continue;
    if (auto record = Look(name)) out.push_back(std::move(*record));
  }
  std::ranges::sort(out, [](const KnownContext& a, const KnownContext& b) {
    return a.used != b.used ? a.used > b.used : a.id < b.id;
  });
  return out;
}

Status ContextStore::Drop(const JsonArray& documents, Clock::Wall until) {
  const std::string id = IdOf(documents);
  const auto record = Look(id);
  if (!record || !record->paths.empty() || record->used > until) return {};
  DOSSIER_RETURN_IF_ERROR(RemoveAll(FolderOf(id)));
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const auto& open) { return open->id == id; });
  return {};
}

Result<std::vector<std::string>> ContextStore::Collect(std::chrono::hours unused,
                                                       std::size_t most) {
  const Clock::Wall now = options_.clock->WallNow();
  std::vector<std::string> dropped;
  std::size_t kept = 0;
  for (const KnownContext& record : List()) {
    if (now - record.used <= unused && kept < most) {
      ++kept;
      continue;
    }
    DOSSIER_RETURN_IF_ERROR(RemoveAll(FolderOf(record.id)));
    dropped.push_back(record.id);
  }
  for (const std::string& name : NamesIn(options_.folder + "/contexts")) {
    const auto made = ModifiedAt(FolderOf(name));
    if (!name.starts_with(kNewPrefix) || !made || now - *made < kAbandoned) continue;
    DOSSIER_RETURN_IF_ERROR(RemoveAll(FolderOf(name)));
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const auto& open) { return std::ranges::count(dropped, open->id) > 0; });
  return dropped;
}

std::shared_ptr<const OpenContext> ContextStore::Live(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(open_, id, [](const auto& open) { return open->id; });
  if (found == open_.end()) return nullptr;
  std::rotate(found, found + 1, open_.end());
  return open_.back();
}

void ContextStore::Remember(const std::shared_ptr<const OpenContext>& context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(open_, [&](const auto& open) { return open->id == context->id; });
  open_.push_back(context);
  if (open_.size() > options_.open_contexts) open_.erase(open_.begin());
}

}  // namespace dossier::server
