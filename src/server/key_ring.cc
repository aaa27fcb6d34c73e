#include "server/key_ring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/text.h"

namespace dossier::server {
namespace {

constexpr std::string_view kPrefix = "dsk_";
constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";  // RFC 4648, lower case
constexpr std::string_view kScopeNames[] = {"read", "run", "admin"};
constexpr std::uint64_t kMostBytes = 1u << 20;
constexpr Millis kMinute{60'000};
constexpr Millis kLockKeysFor{5'000};

// Identifies a version of a file.
std::string StampOf(const struct stat& info) {
  return fmt::format("{}:{}:{}:{}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

Status CheckPrivate(const std::string& path, const struct stat& info) {
  if (info.st_uid != geteuid()) {
    return MakeError(ErrorCode::kRefused,
                     "{} belongs to another user; keys are read from your own "
                     "files only",
                     path);
  }
  if ((info.st_mode & 077) == 0) return {};
  return MakeError(ErrorCode::kRefused,
                   "{} has the mode {:04o}, so others may read its keys; chmod 600 {}", path,
                   info.st_mode & 07777, ShellQuote(path));
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name != "local" &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

template <typename Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(value >= 0)) return {};
  return value;
}

Result<std::array<bool, 3>> ScopesOf(std::string_view text) {
  std::array<bool, 3> out{};
  for (const std::string_view word : Split(text, ',')) {
    const auto* found = std::ranges::find(kScopeNames, word);
    if (found == std::end(kScopeNames)) {
      return MakeError(ErrorCode::kUsage, "--scope {}: there are read, run and admin", word);
    }
    out[static_cast<std::size_t>(found - std::begin(kScopeNames))] = true;
  }
  return out;
}

std::string ScopeText(const ServerKey& key) {
  std::string out;
  for (std::size_t i = 0; i < key.scopes.size(); ++i) {
    if (key.scopes[i]) out += (out.empty() ? "" : ",") + std::string(kScopeNames[i]);
  }
  return out;
}

std::string LineOf(const ServerKey& key) {
  std::string line = fmt::format("{} {} {} {}", key.name, key.sha256, ScopeText(key), key.created);
  if (key.usd_day || key.per_minute) {
    line += key.usd_day ? fmt::format(" {}", *key.usd_day) : " -";
  }
  if (key.per_minute) line += fmt::format(" {}", *key.per_minute);
  return line + "\n";
}

Result<ServerKey> ParseKey(std::string_view line, std::string_view place) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  const auto wrong = [&](std::string_view what) {
    return MakeError(ErrorCode::kConfig,
                     "{}: {}; a line is NAME SHA256 SCOPES CREATED [usd-day] [per-minute]", place,
                     what);
  };
  if (words.size() < 4 || words.size() > 6) return wrong("not a key");
  ServerKey key{.name = std::string(words[0]),
                .sha256 = std::string(words[1]),
                .created = std::string(words[3])};
  if (!IsName(key.name)) return wrong("no name of a key");
  if (!IsSha256Hex(key.sha256)) return wrong("no SHA-256 of a key");
  const auto scopes = ScopesOf(words[2]);
  if (!scopes) return wrong("unknown scope");
  key.scopes = *scopes;
  if (words.size() > 4 && words[4] != "-") {
    key.usd_day = NumberOf<double>(words[4]);
    if (!key.usd_day) return wrong("no sum of money a day");
  }
  if (words.size() > 5) {
    key.per_minute = NumberOf<std::int64_t>(words[5]);
    if (!key.per_minute) return wrong("no number of requests a minute");
  }
  return key;
}

Result<std::vector<ServerKey>> ParseKeys(const std::string& path, std::string_view text) {
  std::vector<ServerKey> keys;
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    const std::string_view trimmed = TrimSpace(line);
    if (trimmed.empty() || trimmed.starts_with('#')) continue;
    DOSSIER_ASSIGN_OR_RETURN(ServerKey key, ParseKey(trimmed, fmt::format("{}:{}", path, number)));
    keys.push_back(std::move(key));
  }
  return keys;
}

// Reads the keys, with the stamp of exactly that version.
Result<std::vector<ServerKey>> ReadStamped(const std::string& path, std::string* stamp) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  DOSSIER_RETURN_IF_ERROR(CheckPrivate(path, info));
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadAll(fd.get(), path, kMostBytes));
  *stamp = StampOf(info);
  return ParseKeys(path, text);
}

// Held from reading to writing a file: else changes of another process in between would be lost.
Result<FileLock> LockKeys(const std::string& path) {
  return FileLock::Take(path + ".lock", kLockKeysFor, {});
}

Status WriteKeys(const std::string& path, const std::vector<ServerKey>& keys) {
  std::string text;
  for (const ServerKey& key : keys) text += LineOf(key);
  return WriteFileAtomic(path, text, 0600);
}

// Both have 64 digits; compares every byte, in constant time.
bool SameHash(std::string_view a, std::string_view b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return differs == 0;
}

}  // namespace

std::string_view ScopeName(Scope scope) { return kScopeNames[static_cast<std::size_t>(scope)]; }

std::string DrawSecret() {
  std::string out(kPrefix);
  std::uint64_t bits = 0;
  int left = 0;
  for (int i = 0; i < 52; ++i) {
    if (left < 5) {
      bits = SystemEntropy();
      left = 64;
    }
    out += kBase32[bits & 31u];
    bits >>= 5;
    left -= 5;
  }
  return out;
}

Result<std::vector<ServerKey>> ReadKeys(const std::string& path) {
  std::string stamp;
  return ReadStamped(path, &stamp);
}

Result<std::string> AddKey(const std::string& path, const KeyWish& wish, const Clock& clock) {
  if (!IsName(wish.name)) {
    return MakeError(
        ErrorCode::kUsage,
        "{}: a key's name is of letters, digits, '-', '_' and '.', at most 64, begins with no "
        "'.' and is not \"local\"",
        wish.name);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto scopes, ScopesOf(wish.scopes));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockKeys(path));
  std::vector<ServerKey> keys;
  if (Exists(path)) {
    DOSSIER_ASSIGN_OR_RETURN(keys, ReadKeys(path));
  }
  if (std::ranges::find(keys, wish.name, &ServerKey::name) != keys.end()) {
    return MakeError(ErrorCode::kUsage, "{}: {} has a key of this name; revoke it first", wish.name,
                     path);
  }
  std::string secret = DrawSecret();
  keys.push_back({.name = wish.name,
                  .sha256 = Sha256Hex(secret),
                  .scopes = scopes,
                  .created = FormatTime(clock.WallNow()),
                  .usd_day = wish.usd_day,
                  .per_minute = wish.per_minute});
  DOSSIER_RETURN_IF_ERROR(WriteKeys(path, keys));
  return secret;
}

Status RevokeKey(const std::string& path, std::string_view name) {
  DOSSIER_RETURN_IF_ERROR(ReadKeys(path));  // without a file, leave no lock file
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, LockKeys(path));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ServerKey> keys, ReadKeys(path));
  std::vector<std::string> names;
  for (const ServerKey& key : keys) names.push_back(key.name);
  if (std::erase_if(keys, [&](const ServerKey& key) { return key.name == name; }) > 0) {
    return WriteKeys(path, keys);
  }
  const auto nearest = NearestNames(name, names);
  return MakeError(ErrorCode::kNotFound, "{} has no key {}{}", path, name,
                   nearest.empty() ? "" : "; near: " + Join(nearest, ", "));
}

Result<KeyRing> KeyRing::Load(const std::string& path) {
  KeyRing ring;
  ring.path_ = path;
  DOSSIER_ASSIGN_OR_RETURN(ring.keys_, ReadStamped(path, &ring.stamp_));
  return ring;
}

KeyRing KeyRing::Of(std::string_view secret) {
  KeyRing ring;
  ring.keys_.push_back(
      {.name = "local", .sha256 = Sha256Hex(secret), .scopes = {true, true, true}});
  return ring;
}

KeyRing::KeyRing(KeyRing&& other) noexcept
    : path_(std::move(other.path_)),
      stamp_(std::move(other.stamp_)),
      keys_(std::move(other.keys_)) {}

void KeyRing::Refresh() {
  struct stat info{};
  const bool there = stat(path_.c_str(), &info) == 0;
  if (there && StampOf(info) == stamp_) return;
  // If the file is gone, damaged or open to others, no key is valid until it is repaired.
  auto keys = there ? ReadStamped(path_, &stamp_) : MakeErrnoError(errno, path_);
  keys_ = keys ? std::move(*keys) : std::vector<ServerKey>();
  if (!there) stamp_.clear();
}

std::optional<ServerKey> KeyRing::Find(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer)) return {};
  const std::string hash = Sha256Hex(authorization.substr(kBearer.size()));
  const std::lock_guard lock(mutex_);
  if (!path_.empty()) Refresh();
  std::optional<ServerKey> found;
  for (const ServerKey& key : keys_) {
    if (SameHash(key.sha256, hash)) found = key;
  }
  return found;
}

std::deque<Clock::Steady>& MinuteLimit::Recent(const std::string& name, Clock::Steady now) {
  std::erase_if(times_, [&](const auto& entry) {
    return entry.second.empty() || now - entry.second.back() > kMinute;
  });
  auto& times = times_[name];
  while (!times.empty() && now - times.front() > kMinute) times.pop_front();
  return times;
}

bool MinuteLimit::Take(const std::string& name, std::int64_t most, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  auto& times = Recent(name, now);
  if (static_cast<std::int64_t>(times.size()) >= most) return false;
  times.push_back(now);
  return true;
}

std::int64_t MinuteLimit::Count(const std::string& name, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  auto& times = Recent(name, now);
  times.push_back(now);
  return static_cast<std::int64_t>(times.size());
}

std::int64_t MinuteLimit::Counted(const std::string& name, Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(Recent(name, now).size());
}

}  // namespace dossier::server
