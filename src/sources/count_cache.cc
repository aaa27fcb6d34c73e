#include "sources/count_cache.h"

#include <limits>

#include "base/file.h"
#include "base/hash.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kKeyBytes = 16, kEntryBytes = 20, kSealDigits = 64;
constexpr std::size_t kMaxEntries = 200'000;  // 4 MB
constexpr std::size_t kSmallText = 200;       // bytes; faster counted than looked up

std::string KeyOf(std::string_view text) { return Sha256Hex(text).substr(0, 2 * kKeyBytes); }

std::string Packed(std::string_view hex) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(value(hex[i]) << 4 | value(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

CountCache::CountCache(const std::string& folder, const tokens::Counter& counter)
    : counter_(counter) {
  const std::string name = counter.name();
  const bool plain = name.find_first_of("/:") == std::string::npos;
  if (folder.empty() || !counter.exact() || !plain) return;
  folder_ = folder;
  path_ = fmt::format("{}/{}.counts", folder, name);
  head_ = fmt::format("dossier.counts/1 {}\n", name);
  Load();
}

void CountCache::Load() {
  const auto text = ReadFile(path_, 64 << 20);
  if (!text || text->size() < head_.size() + kSealDigits || !text->starts_with(head_)) return;
  const std::string_view body = std::string_view(*text).substr(0, text->size() - kSealDigits);
  if (Sha256Hex(body) != std::string_view(*text).substr(body.size())) return;
  const std::string_view entries = body.substr(head_.size());
  for (std::size_t at = 0; at + kEntryBytes <= entries.size(); at += kEntryBytes) {
    std::uint32_t count = 0;
    for (int i = 3; i >= 0; --i) {
      count = count << 8 | static_cast<unsigned char>(entries[at + kKeyBytes + static_cast<std::size_t>(i)]);
    }
    kept_.emplace_hint(kept_.end(), entries.substr(at, kKeyBytes), count);
  }
}

std::int64_t CountCache::Count(std::string_view text) {
  if (path_.empty() || text.size() < kSmallText) return counter_.CountText(text).upper();
  const std::string key = Packed(KeyOf(text));
  if (const auto found = kept_.find(key); found != kept_.end()) {
    const std::lock_guard lock(mutex_);
    used_.insert(*found);
    return found->second;
  }
  const std::int64_t tokens = counter_.CountText(text).upper();
  if (tokens <= std::numeric_limits<std::uint32_t>::max()) {
    const std::lock_guard lock(mutex_);
    fresh_.emplace(key, static_cast<std::uint32_t>(tokens));
  }
  return tokens;
}

Status CountCache::Save() {
  if (path_.empty() || fresh_.empty()) return {};
  auto all = kept_.size() + fresh_.size() > kMaxEntries ? used_ : kept_;
  all.merge(fresh_);
  std::string text = head_;
  for (const auto& [key, count] : all) {
    text += key;
    for (int shift = 0; shift < 32; shift += 8) text += static_cast<char>(count >> shift & 0xFF);
  }
  text += Sha256Hex(text);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_));
  return WriteFileAtomic(path_, text);
}

}  // namespace dossier::sources
