// Checks that the files that steer a run were written by this user's own run, or approved.
//
//   DOSSIER_ASSIGN_OR_RETURN(const OwnRun own, OwnRun::Of(folder, OwnRun::Trust::kApproved));
//   DOSSIER_RETURN_IF_ERROR(own.Check());   // of a resume
//   order.approve = own.Approver();         // remembers what the run is about to write
//
// Three files say what a run may do: which commands run and which folders they see (config.yaml,
// resources.yaml), and where its memory is (run.json). The folder may come from another person's
// project. So a resume requires that these files are as this user's own run last wrote them, or as
// the user approved them (`dossier trust`). Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_RUN_OWN_RUN_H_
#define DOSSIER_RESEARCH_RUN_OWN_RUN_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/locations.h"
#include "base/result.h"
#include "config/trust.h"
#include "research/run.h"

namespace dossier::research {

class OwnRun {
 public:
  enum class Trust { kApproved, kGiven };  // kGiven: the caller vouches for the folder

  // Errors: those of opening `folder` and of the user's folders.
  static Result<OwnRun> Of(const std::string& folder, Trust trust);

  // Checks an existing run. Errors: kRefused for files that this user has neither written nor
  // approved, and those of CheckRunFolder.
  Status Check() const;
  // For RunOrder::approve; empty with kGiven: what other callers vouch for is not remembered.
  std::function<Status(std::string_view name, std::string_view text)> Approver() const;

 private:
  OwnRun(std::string folder, config::TrustStore store, Trust trust)
      : folder_(std::move(folder)), store_(std::move(store)), trust_(trust) {}
  Result<bool> IsApproved(const std::string& path) const;

  std::string folder_;  // without links
  config::TrustStore store_;
  Trust trust_;
};

// Errors: kRefused if a link in a run's folder leads out of it, to nothing, or to a place where a
// command can replace the target, or if a pipe or device has the name of a file: this program would
// read or write there, or hang. Files that commands leave in workspaces and in a jail's system are
// not checked.
Status CheckRunFolder(const std::string& folder);

// Sets what every run uses of this machine and its user: clock, environment, sandboxes, probe cache
// and journal. `order` has its folder and configuration already. Errors: those of MakeBackends.
Status UseOwnMachine(const UserFolders& user, RunOrder* order);
// Returns the order of the run in `folder` (absolute), for a resume; `config` was read before.
// Errors: those of reading run.json and the idea.
Result<RunOrder> StoredOrder(const std::string& folder, RunConfig config);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_OWN_RUN_H_
