#include "research/run/run_listing.h"

#include <fmt/format.h>

#include "research/run.h"

namespace dossier::research {
namespace {

// Maps to the status names that the journal uses for all runs.
std::string_view StatusOfEnd(std::string_view end) {
  if (end == RunEndName(RunEnd::kDone)) return "final";
  return end == RunEndName(RunEnd::kFailed) ? "failed" : "partial";
}

}  // namespace

void RunListing::See(const store::Event& event) {
  if (options_.journal_folder.empty()) return;
  Status done;
  if (event.type == "run.started" || event.type == "run.resumed") {
    done = Begin(event);
  } else if (event.type == "run.finished") {
    done = End(event);
  }
  if (done) return;
  journal_.reset();  // gives up for good
  if (options_.warn) {
    options_.warn(fmt::format("`dossier runs` does not list this run: {}", done.error().message));
  }
}

// A run that was begun on another machine, or whose entry was removed, gets one when resumed.
Status RunListing::Begin(const store::Event& event) {
  DOSSIER_ASSIGN_OR_RETURN(
      journal_, store::Journal::Open(
                    options_.journal_folder,
                    {.clock = options_.clock, .make_id = [run = event.run] { return run; }}));
  const auto listed = journal_->StatusOf(event.run);
  if (listed) return journal_->Append(event.run, 0, "run.resumed", {});
  if (listed.error().code != ErrorCode::kNotFound) return tl::unexpected(listed.error());
  return journal_
      ->StartRun(
          {{"kind", "research"}, {"question", options_.title}, {"folder", options_.run_folder}})
      .transform([](const std::string&) {});
}

Status RunListing::End(const store::Event& event) {
  if (!journal_) return {};
  const Json data(event.data);
  return journal_->Append(
      event.run, 0, "run.finished",
      {{"status", StatusOfEnd(TextAt(data, "status"))}, {"answer", TextAt(data, "reason")}});
}

}  // namespace dossier::research
