#include "research/run/run_listing.h"

#include <fmt/format.h>

#include "research/run.h"

namespace dossier::research {
namespace {

// As the journal names the ends of all runs.
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
  journal_.reset();  // nothing more is tried
  if (options_.warn) {
    options_.warn(fmt::format("`dossier runs` does not list this run: {}", done.error().message));
  }
}

// A run that another machine began, or whose entry was removed, gets one when it is resumed.
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
