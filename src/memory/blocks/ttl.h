// How long a core entry lives.
//
//   std::optional<Ttl> ttl = ParseTtl("2h");      // also "30s 10m 7d 4w", seconds, an RFC 3339
//   time entry.expires_at = ttl->ExpiryAt(now);
//
// Thread-safety: plain data; pure functions.

#ifndef DOSSIER_MEMORY_BLOCKS_TTL_H_
#define DOSSIER_MEMORY_BLOCKS_TTL_H_

#include <optional>
#include <string_view>

#include "base/json/json.h"
#include "memory/records/types.h"

namespace dossier::memory {

struct Ttl {
  enum class Kind : std::uint8_t { kAfter, kAt } kind = Kind::kAfter;
  Micros time = 0;  // a span from now on, or an instant

  Micros ExpiryAt(Micros now) const { return kind == Kind::kAt ? time : now + time; }
};

// None if it is neither; spans are above 0 and at most 100 years.
std::optional<Ttl> ParseTtl(std::string_view text);
std::optional<Ttl> ParseTtl(const Json& value);  // a text, or a number of seconds

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_TTL_H_
