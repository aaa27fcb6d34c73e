// One branch of a store as of one write: the only thing that is read.
//
//   DOSSIER_ASSIGN_OR_RETURN(View view, store->Snapshot("root"));
//   if (auto entry = view.Core("compiler")) Use(entry->value);
//   DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> window, view.Window(20));   // oldest first
//
// Immutable: writes that come later, expiry included, do not show. Cheap to copy. It keeps the
// store's files open, not the Store itself. Thread-safety: all methods from any thread.
// Errors: kIo, kDamaged, kLocked of the database, where a method can fail.

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

// Visible records that match all that is set; newest first by (at, id).
struct RecordFilter {
  std::vector<Tier> tiers;        // empty: all
  std::vector<std::string> tags;  // all of them
  std::optional<std::string> kind;
  std::optional<std::string> thread;
  std::optional<Micros> since, until;
  std::optional<std::int64_t> limit;
};

// Of the view's own branch unless said otherwise.
struct ViewCounts {
  std::int64_t own_events = 0;  // recall, visible, not consolidated
  std::int64_t events = 0;      // recall, visible, inherited ones too
  std::int64_t own_archival = 0;
  std::int64_t archival = 0;              // visible, inherited ones too
  std::int64_t archival_code_points = 0;  // of all visible ones
};

class View {
 public:
  struct State;  // view.cc
  explicit View(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const std::string& branch() const;
  Seq at() const;      // the newest write of the store that could be seen
  Micros now() const;  // what is expired was decided then

  // Live entries, inherited ones too: the nearest branch wins.
  std::optional<CoreEntry> Core(std::string_view key) const;
  const std::vector<CoreEntry>& AllCore() const;  // by key, in byte order

  // None if there is none or this view does not show it. Consolidated records are shown.
  Result<std::optional<Record>> Find(std::int64_t id) const;
  // The newest events by (at, id) less those consolidated or evicted here; oldest first.
  Result<std::vector<Record>> Window(int max_events) const;
  Result<std::vector<Record>> Records(const RecordFilter& filter) const;
  Result<ViewCounts> Counts() const;

  // Best first. Errors: kUsage ("query is empty").
  Result<std::vector<Hit>> Search(const Query& query) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VIEW_H_
