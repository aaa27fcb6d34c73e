// Checks that the files that steer a run are as this user's own run wrote them, or approved them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const OwnRun own, OwnRun::Of(folder, OwnRun::Trust::kApproved));
//   DOSSIER_RETURN_IF_ERROR(own.Check());   // of a resume
//   order.approve = own.Approver();         // remembers what the run is about to write
//
// Three files of a run say what it may do: which commands run and which folders they see
// (config.yaml, resources.yaml), and where its memory is (run.json). The folder may have come with
// somebody's project. So a resume wants these files as this user's own run wrote them last, or as
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

  // Of a run that is there. Errors: kRefused, for files that this user has neither written nor
  // approved, and as CheckRunFolder.
  Status Check() const;
  // For RunOrder::approve; empty where the caller vouched: what others say is not remembered.
  std::function<Status(std::string_view name, std::string_view text)> Approver() const;

 private:
  OwnRun(std::string folder, config::TrustStore store, Trust trust)
      : folder_(std::move(folder)), store_(std::move(store)), trust_(trust) {}
  Result<bool> IsApproved(const std::string& path) const;

  std::string folder_;  // without links
  config::TrustStore store_;
  Trust trust_;
};

// Errors: kRefused where a link in a run's folder leads out of it, to nothing, or to where a
// command may exchange it for another, and where a pipe or device stands for a file: this program
// would read or write there, or hang. What commands leave in workspaces and in the system of a jail
// is not looked at.
Status CheckRunFolder(const std::string& folder);

// What every run takes of this machine and its user: clock, environment, sandboxes, the cache of
// probes and the journal. `order` has its folder and configuration. Errors: those of MakeBackends.
Status UseOwnMachine(const UserFolders& user, RunOrder* order);
// The order of the run in `folder`, absolute, for a resume; its configuration is read already.
// Errors: those of reading run.json and the idea.
Result<RunOrder> StoredOrder(const std::string& folder, RunConfig config);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_OWN_RUN_H_
