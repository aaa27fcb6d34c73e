// Caches replies of sub-calls from this run and earlier ones.
//
//   SubcallCache cache(memo, SubcallCache::Use::kOn, boundary);
//   const auto key = cache.KeyOf(request, origin);               // none: this request must be
//   asked if (key) if (auto reply = cache.Find(*key)) return *reply; … cache.Keep(*key, reply);
//
// A reply is reused only if asking again would give the same: at temperature 0, or with a seed; or
// if the code asked for it, as map_llm(remember=True) does. The key leaves out the run's boundary,
// which differs from run to run while the request does not. Thread-safety: all methods from any thread.

#ifndef DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_
#define DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "model/client/client.h"
#include "store/content.h"

namespace dossier::ask {

class SubcallCache {
 public:
  // `memo` may be null: nothing is found or kept.
  SubcallCache(std::shared_ptr<const store::Memo> memo, CacheUse use, std::string boundary)
      : memo_(std::move(memo)), use_(use), boundary_(std::move(boundary)) {}

  // kRepeatable: only a request whose reply would be the same again. kAny: code wants it so.
  enum class Which { kRepeatable, kAny };
  // Returns the SHA-256 over origin, model, parameters, messages and schema. `origin` tells who
  // answers (BoundModel::origin); none if it is empty.
  std::optional<std::string> KeyOf(const model::Request& request, const std::string& origin,
                                   Which which) const;
  // Finds nothing with CacheUse::kRefresh. The usage is that of the original reply.
  std::optional<model::Reply> Find(std::string_view key) const;
  // Returns the key for map_llm(remember=True), which keeps the label of a text by text,
  // instruction, labels and model, at any temperature. Otherwise none in the same cases as KeyOf.
  std::optional<std::string> KeyOfLabel(std::string_view text, std::string_view instruction,
                                        const std::vector<std::string>& labels,
                                        std::string_view model, std::string_view origin) const;
  std::optional<std::string> FindLabel(std::string_view key) const;
  void KeepLabel(std::string_view key, std::string_view label) const;

  // Keeps only complete replies with content. A full disk loses the entry, not the run.
  void Keep(std::string_view key, const model::Reply& reply) const;

 private:
  const std::shared_ptr<const store::Memo> memo_;
  const CacheUse use_;
  const std::string boundary_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_
