#include "memory/records/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <span>

namespace dossier::memory {
namespace {

constexpr std::string_view kTierNames[] = {"recall", "archival", "summary"};
constexpr std::string_view kActorNames[] = {"model", "user", "system"};
constexpr std::string_view kHideReasonNames[] = {"evicted", "consolidated", "superseded",
                                                 "deleted", "reverted",     "restored"};

// Those that are not printed in the core section stand first.
constexpr std::string_view kProtectedKeys[] = {"RESOURCE_INDEX",  "resource_index_json",
                                               "resource_digest", "resource_used",
                                               "idea_md_hash",    "CoreDigest"};
constexpr std::size_t kHiddenKeys = 5;

template <typename Enum>
std::optional<Enum> FindName(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

bool IsAmong(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace

std::string_view TierName(Tier tier) { return kTierNames[static_cast<std::size_t>(tier)]; }
std::optional<Tier> FindTier(std::string_view name) { return FindName<Tier>(kTierNames, name); }

std::string_view ActorName(Actor actor) { return kActorNames[static_cast<std::size_t>(actor)]; }

std::string_view HideReasonName(HideReason reason) {
  return kHideReasonNames[static_cast<std::size_t>(reason)];
}
std::optional<HideReason> FindHideReason(std::string_view name) {
  return FindName<HideReason>(kHideReasonNames, name);
}

bool IsProtectedKey(std::string_view key) { return IsAmong(kProtectedKeys, key); }
bool IsHiddenKey(std::string_view key) {
  return IsAmong(std::span(kProtectedKeys).first(kHiddenKeys), key);
}

std::string FormatMicrosTime(Micros time) {
  constexpr Micros kSecond = 1'000'000;
  const Micros fraction = ((time % kSecond) + kSecond) % kSecond;
  const std::time_t seconds = (time - fraction) / kSecond;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     fraction);
}

}  // namespace dossier::memory
