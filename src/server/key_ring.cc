#include "server/key_ring.h"

#include <sys/stat.h>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::server {
namespace {

constexpr std::uint64_t kMostKeyBytes = 1 << 20;
constexpr std::string_view kBearer = "Bearer ";

// Without a way to tell by the time how much of it was right.
bool EqualInConstantTime(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    differs = static_cast<unsigned char>(differs | (one[i] ^ other[i]));
  }
  return differs == 0;
}

}  // namespace

Result<KeyRing> KeyRing::Load(const std::string& path) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  DOSSIER_RETURN_IF_ERROR(CheckFileOwner(info, path));
  if ((info.st_mode & 077) != 0) {
    return MakeError(ErrorCode::kRefused,
                     "{} has the mode {:04o}: others may read it; run: chmod 600 {}", path,
                     info.st_mode & 0777, ShellQuote(path));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadAll(fd.get(), path, kMostKeyBytes));
  KeyRing ring;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    const std::string_view content = TrimSpace(line.substr(0, line.find('#')));
    if (content.empty()) continue;
    std::vector<std::string_view> words;
    for (const std::string_view word : Split(content, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (words.size() < 3 || !IsSha256Hex(words[1])) {
      return MakeError(ErrorCode::kConfig, "{}:{}: a line is NAME SHA256 SCOPES CREATED", path,
                       number);
    }
    AccessKey key{.name = std::string(words[0]), .sha256 = std::string(words[1])};
    for (const std::string_view scope : Split(words[2], ',')) key.scopes.emplace_back(scope);
    ring.keys_.push_back(std::move(key));
  }
  return ring;
}

const AccessKey* KeyRing::Find(std::string_view authorization) const {
  const bool bearer = authorization.starts_with(kBearer);
  const std::string given = Sha256Hex(bearer ? authorization.substr(kBearer.size()) : "");
  const AccessKey* found = nullptr;
  for (const AccessKey& key : keys_) {
    if (EqualInConstantTime(key.sha256, given)) found = &key;
  }
  return bearer ? found : nullptr;
}

}  // namespace dossier::server
