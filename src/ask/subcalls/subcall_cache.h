// Replies of sub-calls that were asked before, in this run or an earlier one.
//
//   SubcallCache cache(memo, SubcallCache::Use::kOn, boundary);
//   const auto key = cache.KeyOf(request, origin);               // none: this request must be
//   asked if (key) if (auto reply = cache.Find(*key)) return *reply; … cache.Keep(*key, reply);
//
// A reply stands for another one only if asking again would give the same: at temperature 0, or
// with a seed. The run's boundary is left out of the key, as it differs from run to run while what
// is asked does not. Thread-safety: all methods from any thread.

#ifndef DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_
#define DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "ask/engine.h"
#include "model/client/client.h"
#include "store/content.h"

namespace dossier::ask {

class SubcallCache {
 public:
  // `memo` may be null: nothing is found or kept.
  SubcallCache(std::shared_ptr<const store::Memo> memo, CacheUse use, std::string boundary)
      : memo_(std::move(memo)), use_(use), boundary_(std::move(boundary)) {}

  // SHA-256 over origin, model, parameters, messages and schema. `origin`: who answers
  // (BoundModel::origin); none if it is empty.
  std::optional<std::string> KeyOf(const model::Request& request, const std::string& origin) const;
  // With CacheUse::kRefresh none is found. The usage is that of the reply when it was made.
  std::optional<model::Reply> Find(std::string_view key) const;
  // Only whole replies that say something are kept. A full disk loses the entry, not the run.
  void Keep(std::string_view key, const model::Reply& reply) const;

 private:
  const std::shared_ptr<const store::Memo> memo_;
  const CacheUse use_;
  const std::string boundary_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SUBCALL_CACHE_H_
