#include "memory/records/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <span>
#include <vector>

#include "base/text/redact.h"
#include "base/text/text.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kTierNames[] = {"recall", "archival", "summary"};
constexpr std::string_view kActorNames[] = {"model", "user", "system"};
constexpr std::string_view kHideReasonNames[] = {"evicted", "consolidated", "superseded",
                                                 "deleted", "reverted",     "restored"};

// The keys that the core section does not print come first.
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

bool IsProtectedKey(std::string_view key) { return IsOneOf(key, kProtectedKeys); }
bool IsHiddenKey(std::string_view key) {
  return IsOneOf(key, std::span(kProtectedKeys).first(kHiddenKeys));
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

std::int64_t RedactSecrets(std::string* text) {
  const std::vector<Secret> found = FindSecrets(*text);
  if (found.empty()) return 0;
  *text = Redact(*text, found, [](const Secret&) { return std::string("***"); });
  return static_cast<std::int64_t>(found.size());
}

std::int64_t RedactNamed(std::string_view name, std::string* value) {
  if (KindOfNamedSecret(name, *value).empty()) return RedactSecrets(value);
  *value = "***";
  return 1;
}

namespace {

std::int64_t RedactValue(std::string_view name, Json* value) {
  if (value->is_object()) return RedactJson(&value->as_object());
  std::int64_t count = 0;
  if (value->is_array()) {
    for (Json& element : value->as_array()) count += RedactValue(name, &element);
  } else if (value->is_string()) {
    std::string text(value->as_string());
    count = RedactNamed(name, &text);
    if (count > 0) *value = text;
  }
  return count;
}

}  // namespace

std::int64_t RedactJson(JsonObject* object) {
  std::int64_t count = 0;
  for (auto& field : *object) count += RedactValue(field.key(), &field.value());
  return count;
}

std::int64_t RedactRecord(Record* record) {
  std::int64_t redacted = RedactSecrets(&record->text) + RedactSecrets(&record->ref) +
                          RedactSecrets(&record->thread) + RedactSecrets(&record->kind) +
                          RedactSecrets(&record->phase) + RedactJson(&record->meta);
  for (std::string& tag : record->tags) redacted += RedactSecrets(&tag);
  return redacted;
}

}  // namespace dossier::memory
