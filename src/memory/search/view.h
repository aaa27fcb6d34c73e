// One branch of a store as of one write. All reads go through a view.
//
//   DOSSIER_ASSIGN_OR_RETURN(View view, store->Snapshot("root"));
//   if (auto entry = view.Core("compiler")) Use(entry->value);
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> window, view.Window(20));   // oldest first
//
// Immutable: later writes, including expiry, are not visible. Cheap to copy. It keeps the store's
// files open, but not the Store itself. Thread-safety: all methods from any thread. Errors, if a
// method can fail: kIo, kDamaged, kLocked of the database.

#ifndef DOSSIER_MEMORY_SEARCH_VIEW_H_
#define DOSSIER_MEMORY_SEARCH_VIEW_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/records/types.h"
#include "memory/search/search.h"

namespace dossier::memory {

// Selects visible records that match everything that is set; newest first by (at, id).
struct RecordFilter {
  std::vector<Tier> tiers;        // empty: all
  std::vector<std::string> tags;  // a record has all of these
  std::optional<std::string> kind;
  std::optional<std::string> thread;
  std::optional<Micros> since, until;
  std::optional<std::int64_t> limit;
};

// Counts for the view's own branch, unless a comment says otherwise.
struct ViewCounts {
  std::int64_t own_events = 0;  // recall, visible, not consolidated
  std::int64_t events = 0;      // recall, visible, including inherited ones
  std::int64_t own_archival = 0;
  std::int64_t archival = 0;              // visible, including inherited ones
  std::int64_t archival_code_points = 0;  // code points of those records
};

class View {
 public:
  struct State;  // view.cc
  explicit View(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const std::string& branch() const;
  Seq at() const;      // newest write of the store that was visible
  Micros now() const;  // expiry was decided as of this time

  // Reads live entries, including inherited ones; the nearest branch takes precedence.
  std::optional<CoreEntry> Core(std::string_view key) const;
  const std::vector<CoreEntry>& AllCore() const;  // by key, in byte order

  // Returns nullopt if it does not exist or this view hides it. Consolidated records are returned.
  Result<std::optional<Record>> Find(std::int64_t id) const;
  // Returns the newest events by (at, id), oldest first, except those consolidated or evicted here.
  Result<std::vector<Record>> Window(int max_events) const;
  Result<std::vector<Record>> Records(const RecordFilter& filter) const;
  Result<ViewCounts> Counts() const;

  // Returns the best hits first. Errors: kUsage ("query is empty").
  Result<std::vector<Hit>> Search(const Query& query) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VIEW_H_
