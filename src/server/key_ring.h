// The API keys of a server, in a file that only its owner can read; only their hashes are stored.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string secret, AddKey(path, {.name = "ann"}, clock));
//   DOSSIER_ASSIGN_OR_RETURN(KeyRing ring, KeyRing::Load(path));
//   if (const std::optional<ServerKey> key = ring.Find("Bearer dsk_…")) Serve(*key);
//
// The file has one key per line, `NAME SHA256 SCOPES CREATED [usd-day] [per-minute]`, mode 0600.
// The secret, `dsk_` and 52 digits of base32 (256 bits), is shown once and stored nowhere. Errors:
// kRefused if others may read the file or it is no regular file of this user; kConfig with
// FILE:LINE; kIo; kLocked. Thread-safety: KeyRing from any thread; the functions from any thread
// and process (they lock PATH.lock).

#ifndef DOSSIER_SERVER_KEY_RING_H_
#define DOSSIER_SERVER_KEY_RING_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::server {

// The permissions of a key: look at runs and files, start and end them, read server metrics.
enum class Scope : std::uint8_t { kRead, kRun, kAdmin };
std::string_view ScopeName(Scope scope);  // "read"

struct ServerKey {
  std::string name;  // letters, digits, '-', '_' and '.'; part of owner()
  std::string sha256;
  std::array<bool, 3> scopes{};  // by Scope
  std::string created;
  std::optional<double> usd_day;  // US dollars
  std::optional<std::int64_t> per_minute;

  // The owner of files, runs and responses. A name that is given to another key later is another
  // owner. The key drawn at a start ("local") belongs to the user, at every start.
  std::string owner() const { return name == "local" ? name : name + "." + sha256.substr(0, 12); }
  bool Has(Scope scope) const { return scopes[static_cast<std::size_t>(scope)]; }
};

struct KeyWish {
  std::string name;
  std::string scopes = "read,run";
  std::optional<double> usd_day;
  std::optional<std::int64_t> per_minute;
};

// Returns a new secret, from the kernel's random numbers.
std::string DrawSecret();
// Appends a key and returns its secret. Errors: also kUsage for an invalid name or scope, or a name
// that is taken.
Result<std::string> AddKey(const std::string& path, const KeyWish& wish, const Clock& clock);
Result<std::vector<ServerKey>> ReadKeys(const std::string& path);
// Errors: also kNotFound, with the nearest names.
Status RevokeKey(const std::string& path, std::string_view name);

class KeyRing {
 public:
  // The file is read again when it has changed, so a revoked key stops working at once.
  static Result<KeyRing> Load(const std::string& path);
  // A ring with one key that is in no file, for the user who started the server.
  static KeyRing Of(std::string_view secret);

  KeyRing(KeyRing&& other) noexcept;
  // Finds the key by the value of the Authorization header, "Bearer dsk_…". Compares with every
  // key, in a time that reveals nothing about either.
  std::optional<ServerKey> Find(std::string_view authorization);

 private:
  KeyRing() = default;
  void Refresh();

  std::mutex mutex_;
  std::string path_;   // "": there is no file
  std::string stamp_;  // identifies the version of the file that was read
  std::vector<ServerKey> keys_;
};

// Limits how often something may happen in a minute, by name.
class MinuteLimit {
 public:
  // Returns true if one more is allowed now; it then counts.
  bool Take(const std::string& name, std::int64_t most, Clock::Steady now);
  // Counts one, and returns the number in the last minute.
  std::int64_t Count(const std::string& name, Clock::Steady now);
  std::int64_t Counted(const std::string& name, Clock::Steady now);

 private:
  std::deque<Clock::Steady>& Recent(const std::string& name, Clock::Steady now);

  std::mutex mutex_;
  std::map<std::string, std::deque<Clock::Steady>> times_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_KEY_RING_H_
