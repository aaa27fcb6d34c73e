// Who may use a server: keys in a file that only its owner can read, known by their hashes.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string secret, AddKey(path, {.name = "ann"}, clock));
//   DOSSIER_ASSIGN_OR_RETURN(KeyRing ring, KeyRing::Load(path));
//   if (const std::optional<ServerKey> key = ring.Find("Bearer dsk_…")) Serve(*key);
//
// The file: one key a line, `NAME SHA256 SCOPES CREATED [usd-day] [per-minute]`, mode 0600. The
// secret, `dsk_` and 52 digits of base32 (256 bits), is shown once and stored nowhere.
// Errors: kRefused for a file that others may read or that is no regular file of this user's;
// kConfig with FILE:LINE; kIo; kLocked. Thread-safety: KeyRing from any thread; the functions from
// any thread and process, which PATH.lock keeps apart.

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

// What a key is for: looking at runs and files, starting and ending them, numbers of the server.
enum class Scope : std::uint8_t { kRead, kRun, kAdmin };
std::string_view ScopeName(Scope scope);  // "read"

struct ServerKey {
  std::string name;  // letters, digits, '-', '_' and '.'; whose things are whose
  std::string sha256;
  std::array<bool, 3> scopes{};  // by Scope
  std::string created;
  std::optional<double> usd_day;  // US dollars
  std::optional<std::int64_t> per_minute;

  // Whose files, runs and responses are whose: a name that is given to another key later is another
  // owner. The key of a start is the user's own, at each start.
  std::string owner() const { return name == "local" ? name : name + "." + sha256.substr(0, 12); }
  bool Has(Scope scope) const { return scopes[static_cast<std::size_t>(scope)]; }
};

struct KeyWish {
  std::string name;
  std::string scopes = "read,run";
  std::optional<double> usd_day;
  std::optional<std::int64_t> per_minute;
};

// A secret drawn from the kernel.
std::string DrawSecret();
// Appends a key, and gives its secret. Errors: also kUsage for a name or scope that is none, or a
// name that is taken.
Result<std::string> AddKey(const std::string& path, const KeyWish& wish, const Clock& clock);
Result<std::vector<ServerKey>> ReadKeys(const std::string& path);
// Errors: also kNotFound, with the nearest names.
Status RevokeKey(const std::string& path, std::string_view name);

class KeyRing {
 public:
  // The file is read again once it has changed, so that a key that is revoked ends at once.
  static Result<KeyRing> Load(const std::string& path);
  // One key, in no file, for the user who started the server.
  static KeyRing Of(std::string_view secret);

  KeyRing(KeyRing&& other) noexcept;
  // By the value of the header Authorization, "Bearer dsk_…". Compares with every key, in a time
  // that says nothing about either.
  std::optional<ServerKey> Find(std::string_view authorization);

 private:
  KeyRing() = default;
  void Refresh();

  std::mutex mutex_;
  std::string path_;   // "": never read
  std::string stamp_;  // of the file as it was read
  std::vector<ServerKey> keys_;
};

// How often something may happen in a minute, by name.
class MinuteLimit {
 public:
  // Whether one more is allowed now; it then counts.
  bool Take(const std::string& name, std::int64_t most, Clock::Steady now);
  // Counts one, and tells how many there are.
  std::int64_t Count(const std::string& name, Clock::Steady now);
  std::int64_t Counted(const std::string& name, Clock::Steady now);

 private:
  std::deque<Clock::Steady>& Recent(const std::string& name, Clock::Steady now);

  std::mutex mutex_;
  std::map<std::string, std::deque<Clock::Steady>> times_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_KEY_RING_H_
