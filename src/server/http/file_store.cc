#include "server/http/file_store.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/random.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::server {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLifetime = 30 * 24 * 3600, kLongestLifetime = kLifetime;  // seconds
constexpr std::int64_t kShortestLifetime = 3600;
constexpr std::int64_t kSweepEvery = 3600;  // seconds
constexpr std::size_t kPiece = 1u << 20;    // bytes
constexpr Millis kLockWait{10'000};

bool IsFileId(std::string_view text) {
  constexpr std::string_view kPrefix = "file-";
  return text.starts_with(kPrefix) && text.size() == kPrefix.size() + 24 &&
         std::ranges::all_of(text.substr(kPrefix.size()), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// `name="value"` in a header of a part.
std::string Parameter(std::string_view header, std::string_view name) {
  const std::string wanted = std::string(name) + "=\"";
  for (std::size_t at = header.find(wanted); at != header.npos; at = header.find(wanted, at + 1)) {
    if (at > 0 && header[at - 1] != ' ' && header[at - 1] != ';') continue;
    const std::string_view rest = header.substr(at + wanted.size());
    return std::string(rest.substr(0, rest.find('"')));
  }
  return {};
}

// Makes a safe document name: the last part of a path, without control characters.
std::string CleanName(std::string_view given) {
  const std::size_t slash = given.find_last_of("/\\");
  std::string name(slash == given.npos ? given : given.substr(slash + 1));
  std::erase_if(name, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (!utf8::IsValid(name) || name.empty() || name == "." || name == "..") return "file";
  return name.substr(0, utf8::FloorBoundary(name, 200));
}

// Finds the next delimiter: the whole line, not one that only begins like it.
std::size_t FindDelimiter(std::string_view text, const std::string& line, std::size_t from) {
  const std::string wanted = "\r\n" + line;
  for (std::size_t at = text.find(wanted, from); at != text.npos; at = text.find(wanted, at + 1)) {
    const std::string_view behind = text.substr(at + wanted.size());
    if (behind.starts_with("\r\n") || behind.starts_with("--")) return at;
  }
  return text.npos;
}

}  // namespace

JsonObject StoredFile::ToJson() const {
  return {{"id", id},
          {"object", "file"},
          {"bytes", bytes},
          {"created_at", created},
          {"expires_at", expires},
          {"filename", name},
          {"purpose", purpose},
          {"status", "processed"}};
}

Result<std::vector<FormPart>> ReadForm(std::string_view body, std::string_view type) {
  constexpr std::string_view kType = "multipart/form-data", kMark = "boundary=";
  const std::size_t at = type.find(kMark);
  if (!ToLowerAscii(type).starts_with(kType) || at == type.npos) {
    return MakeError(ErrorCode::kInvalidArgument, "the body must be multipart/form-data");
  }
  std::string_view boundary = type.substr(at + kMark.size());
  boundary = boundary.substr(0, boundary.find(';'));
  if (boundary.size() >= 2 && boundary.front() == '"')
    boundary = boundary.substr(1, boundary.size() - 2);
  const std::string line = "--" + std::string(TrimSpace(boundary));
  const auto damaged = [] {
    return MakeError(ErrorCode::kInvalidArgument, "the multipart body is damaged or cut");
  };
  if (line.size() == 2 || !body.starts_with(line)) return damaged();
  std::vector<FormPart> parts;
  std::string_view rest = body.substr(line.size());
  while (!rest.starts_with("--")) {
    const std::size_t head_end = rest.find("\r\n\r\n");
    const std::size_t end = FindDelimiter(rest, line, head_end == rest.npos ? 0 : head_end);
    if (head_end == rest.npos || end == rest.npos || parts.size() >= 64) return damaged();
    const std::string_view head = rest.substr(0, head_end);
    parts.push_back({.name = Parameter(head, "name"),
                     .filename = Parameter(head, "filename"),
                     .value = end < head_end + 4 ? std::string_view()
                                                 : rest.substr(head_end + 4, end - head_end - 4)});
    rest = rest.substr(end + 2 + line.size());
  }
  return parts;
}

std::string FileStore::FolderOf(std::string_view owner) const {
  return fmt::format("{}/{}", folder_, owner);
}

std::int64_t FileStore::Now() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_->WallNow().time_since_epoch())
      .count();
}

Result<StoredFile> FileStore::Add(std::string_view owner, const std::vector<FormPart>& form) {
  StoredFile file{.id = "file-" + RandomHex(24), .created = Now()};
  std::int64_t lifetime = kLifetime;
  const FormPart* upload = nullptr;
  for (const FormPart& part : form) {
    if (part.name == "file") upload = &part;
    if (part.name == "purpose") file.purpose = std::string(part.value.substr(0, 64));
    if (part.name == "expires_after[seconds]") {
      const auto seconds = ParseDuration(std::string(part.value));
      if (!seconds) return MakeError(ErrorCode::kInvalidArgument, "expires_after: no seconds");
      lifetime = std::clamp(std::chrono::duration_cast<std::chrono::seconds>(*seconds).count(),
                            kShortestLifetime, kLongestLifetime);
    }
  }
  if (!upload) return MakeError(ErrorCode::kInvalidArgument, "file: is missing");
  if (file.purpose.empty()) return MakeError(ErrorCode::kInvalidArgument, "purpose: is missing");
  file.name = CleanName(upload->filename);
  file.bytes = upload->value.size();
  file.expires = file.created + lifetime;
  DOSSIER_ASSIGN_OR_RETURN(auto writer, store::ContentWriter::Start(content_));
  for (std::string_view rest = upload->value; !rest.empty();) {
    DOSSIER_RETURN_IF_ERROR(writer.Write(rest.substr(0, kPiece)));
    rest.remove_prefix(std::min(kPiece, rest.size()));
  }
  DOSSIER_RETURN_IF_ERROR(MakeFolders(FolderOf(owner), 0700));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, Lock());
  if (file.created >= swept_ + kSweepEvery) SweepLocked();
  DOSSIER_ASSIGN_OR_RETURN(const store::StoredBody body, std::move(writer).Finish());
  file.sha256 = body.sha256;
  JsonObject record = file.ToJson();
  record["sha256"] = file.sha256;
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fmt::format("{}/{}.json", FolderOf(owner), file.id),
                                          dossier::ToJson(std::move(record)), 0600));
  return file;
}

Result<FileLock> FileStore::Lock() const {
  return FileLock::Take(folder_ + ".lock", kLockWait, {});
}

Result<StoredFile> FileStore::ReadRecord(const std::string& path) const {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1u << 16));
  DOSSIER_ASSIGN_OR_RETURN(const Json record, ParseJson(text));
  return StoredFile{.id = TextAt(record, "id"),
                    .name = TextAt(record, "filename"),
                    .purpose = TextAt(record, "purpose"),
                    .sha256 = TextAt(record, "sha256"),
                    .bytes = static_cast<std::uint64_t>(FindInt(record, "bytes").value_or(0)),
                    .created = FindInt(record, "created_at").value_or(0),
                    .expires = FindInt(record, "expires_at").value_or(0)};
}

Result<StoredFile> FileStore::Read(const std::string& path) const {
  DOSSIER_ASSIGN_OR_RETURN(StoredFile file, ReadRecord(path));
  if (file.expires > Now() && content_.Has(file.sha256)) return file;
  return MakeError(ErrorCode::kNotFound, "the file {} has expired", file.id);
}

Result<StoredFile> FileStore::Find(std::string_view owner, std::string_view id) const {
  if (IsFileId(id)) {
    auto file = Read(fmt::format("{}/{}.json", FolderOf(owner), id));
    if (file) return file;
  }
  return MakeError(ErrorCode::kNotFound, "no file {} of this key", id);
}

std::vector<StoredFile> FileStore::List(std::string_view owner) const {
  std::vector<StoredFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(FolderOf(owner), error)) {
    if (auto file = Read(entry.path().string())) files.push_back(std::move(*file));
  }
  std::ranges::sort(files, [](const StoredFile& a, const StoredFile& b) {
    return std::tie(b.created, b.id) < std::tie(a.created, a.id);
  });
  return files;
}

Status FileStore::Remove(std::string_view owner, std::string_view id) {
  DOSSIER_ASSIGN_OR_RETURN(const StoredFile file, Find(owner, id));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, Lock());
  DOSSIER_RETURN_IF_ERROR(RemoveAll(fmt::format("{}/{}.json", FolderOf(owner), file.id)));
  SweepLocked();
  return {};
}

void FileStore::Sweep() {
  const auto lock = Lock();
  if (lock) SweepLocked();
}

void FileStore::SweepLocked() {
  swept_ = Now();
  std::set<std::string> named;
  std::error_code error;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at(folder_, error); !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".json") continue;
    const auto file = ReadRecord(at->path().string());
    if (!file) return;  // its bytes are unknown
    if (file->expires > swept_) {
      named.insert(file->sha256);
    } else {
      (void)RemoveAll(at->path().string()).has_value();
    }
  }
  if (error) return;
  // The content store keeps bodies in subfolders.
  const fs::path bodies = fs::path(content_.PathOf(Sha256Hex(""))).parent_path().parent_path();
  for (fs::recursive_directory_iterator at(bodies, error); !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_regular_file(error) && !named.contains(name)) {
      (void)content_.Remove(name).has_value();
    }
  }
}

}  // namespace dossier::server
