// The entry of a run in the user's journal, by which `dossier runs` finds it. What the run did is
// in its own journal, in its folder; the entry says which folder that is, and how the run ended.
//
//   RunListing listing({.journal_folder = data + "/runs", .run_folder = folder, .title = title});
//   log_watch = [&](const store::Event& event) { listing.See(event); };
//
// An entry that cannot be written costs the run nothing: `warn` says so once. Thread-safety: See
// may be called from any thread, one call at a time.

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

  // Of each event of the run, as it is recorded. While this object lives the run counts as running.
  void See(const store::Event& event);

 private:
  Status Begin(const store::Event& event);
  Status End(const store::Event& event);

  const Options options_;
  std::unique_ptr<store::Journal> journal_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_RUN_LISTING_H_
