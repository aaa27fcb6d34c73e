#include "store/memo.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/redact.h"

namespace dossier::store {
namespace {

// A link under a fresh name, moved over what stands at `path`: readers see the old or the new one.
Status Link(const std::string& target, const std::string& path) {
  const std::string fresh = fmt::format("{}.{}", path, RandomHex(8));
  if (symlink(target.c_str(), fresh.c_str()) != 0) return MakeErrnoError(errno, path);
  if (rename(fresh.c_str(), path.c_str()) == 0) return {};
  const int failure = errno;
  unlink(fresh.c_str());
  return MakeErrnoError(failure, path);
}

}  // namespace

Result<std::unique_ptr<Memo>> Memo::Open(const std::string& folder, ContentStore& content) {
  const std::string path = folder + "/memo";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path, 0700));
  return std::unique_ptr<Memo>(new Memo(path, content));
}

std::string Memo::PathOf(std::string_view key) const {
  if (!IsSha256Hex(key)) return {};
  return fmt::format("{}/{}/{}", folder_, key.substr(0, 2), key);
}

std::optional<std::string> Memo::Get(std::string_view key) const {
  const std::string path = PathOf(key);
  if (path.empty()) return std::nullopt;
  std::array<char, kHashDigits + 1> target;
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  if (length != static_cast<ssize_t>(kHashDigits)) return std::nullopt;
  auto text = content_.Get(std::string_view(target.data(), kHashDigits));
  if (!text) return std::nullopt;
  return std::move(*text);
}

Status Memo::Put(std::string_view key, std::string_view text) const {
  const std::string path = PathOf(key);
  if (path.empty()) return MakeError(ErrorCode::kInvalidArgument, "'{}' is no SHA-256", key);
  if (!FindSecrets(text).empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const std::string sha256, content_.Put(text));
  if (Status linked = Link(sha256, path); linked) return {};
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/')), 0700));
  return Link(sha256, path);
}

}  // namespace dossier::store
