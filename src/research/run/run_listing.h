// The entry of a run in the user's journal, through which `dossier runs` finds it. The run's own
// journal records what it did; the entry says which folder that is in, and how the run ended.
//
//   RunListing listing({.journal_folder = data + "/runs", .run_folder = folder, .title = title});
//   log_watch = [&](const store::Event& event) { listing.See(event); };
//
// Failing to write an entry does not harm the run: `warn` says so once. Thread-safety: See may be
// called from any thread, one call at a time.

#ifndef DOSSIER_RESEARCH_RUN_RUN_LISTING_H_
#define DOSSIER_RESEARCH_RUN_RUN_LISTING_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::research {

class RunListing {
 public:
  struct Options {
    std::string journal_folder;  // of the user's journal; "": the run is not listed
    std::string run_folder;      // absolute
    std::string title;
    std::shared_ptr<const Clock> clock;
    std::function<void(std::string_view)> warn;  // may be empty
  };
  explicit RunListing(Options options) : options_(std::move(options)) {}

  // Receives each recorded event of the run. While this object exists, the run counts as running.
  void See(const store::Event& event);

 private:
  Status Begin(const store::Event& event);
  Status End(const store::Event& event);

  const Options options_;
  std::unique_ptr<store::Journal> journal_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_LISTING_H_
