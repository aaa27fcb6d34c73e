#include "tokens/files/count_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {
namespace {

constexpr std::size_t kWorthKeeping = 2048;      // bytes; counting shorter texts is as fast
constexpr std::uint64_t kMostBytes = 16u << 20;  // of a file

std::array<std::uint64_t, 4> HashOf(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    const auto digit = static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    words[i / 16] = words[i / 16] << 4 | digit;
  }
  return words;
}

std::string FileName(std::string_view encoding) {
  std::string name(encoding);
  for (char& c : name) {
    const bool plain = IsWordByte(c) || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return name + ".counts";
}

}  // namespace

std::uint64_t CountCache::Check(const Record& record) {
  return internal::HashPiece({reinterpret_cast<const char*>(&record), offsetof(Record, check)});
}

CountCache CountCache::Open(const std::string& folder, std::string_view encoding) {
  CountCache cache;
  if (folder.empty()) return cache;
  cache.path_ = folder + "/" + FileName(encoding);
  if (const auto bytes = ReadFile(cache.path_, kMostBytes)) cache.Read(*bytes);
  return cache;
}

void CountCache::Read(std::string_view bytes) {
  for (Record record; bytes.size() >= sizeof record; bytes.remove_prefix(sizeof record)) {
    std::memcpy(&record, bytes.data(), sizeof record);
    if (Check(record) == record.check && record.tokens >= 0) counts_[record.hash] = record.tokens;
  }
}

std::int64_t CountCache::CountText(std::string_view text, const Counter& counter) {
  if (path_.empty() || text.size() < kWorthKeeping) return counter.CountText(text).tokens;
  Record record{.hash = HashOf(text)};
  if (const auto known = counts_.find(record.hash); known != counts_.end()) return known->second;
  record.tokens = counter.CountText(text).tokens;
  record.check = Check(record);
  counts_[record.hash] = record.tokens;
  new_records_.append(reinterpret_cast<const char*>(&record), sizeof record);
  return record.tokens;
}

bool CountCache::Save() {
  if (path_.empty() || new_records_.empty()) return true;
  if (!MakeFolders(path_.substr(0, path_.rfind('/')), 0700)) return false;
  const UniqueFd fd(
      open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || flock(fd.get(), LOCK_EX) != 0) return false;
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return false;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  // Drops what a killed process left incomplete, or the whole of a file that has grown too large.
  const std::uint64_t kept =
      size + new_records_.size() > kMostBytes ? 0 : size - size % sizeof(Record);
  if (kept != size && ftruncate(fd.get(), static_cast<off_t>(kept)) != 0) return false;
  const bool written = WriteAll(fd.get(), new_records_).has_value();
  if (written) new_records_.clear();
  return written;
}

}  // namespace dossier::tokens
