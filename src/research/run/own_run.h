// Whether a run's folder is this user's own.
//
//   DOSSIER_ASSIGN_OR_RETURN(OwnRun own, OwnRun::Of(folder));
//   DOSSIER_RETURN_IF_ERROR(own.Check(OwnRun::Trust::kApproved));   // of a resume
//   DOSSIER_RETURN_IF_ERROR(own.Begin(ConfigYaml(order.config)));   // which the run writes anew
//   … the run …
//   DOSSIER_RETURN_IF_ERROR(own.End());
//
// A run's folder says which commands run and what they may read, and it may have come with
// somebody's project. So a resume wants the configuration that this user's own run wrote there
// last, or that the user approved (`dossier trust`). Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_RUN_OWN_RUN_H_
#define DOSSIER_RESEARCH_RUN_OWN_RUN_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "config/trust.h"

namespace dossier::research {

class OwnRun {
 public:
  enum class Trust { kApproved, kGiven };  // kGiven: the caller vouches for the configuration

  // Errors: those of opening `folder` and of the user's folders.
  static Result<OwnRun> Of(const std::string& folder);

  // Of a run that is there. Errors: kRefused, for a configuration that this user has neither
  // written nor approved, and as CheckRunFolder.
  Status Check(Trust trust);
  // Remembers what the run is about to write as this user's own; nothing where the caller vouched.
  Status Begin(std::string_view config);
  // A run that was refused before it wrote anything is approved as it was.
  Status End();

 private:
  OwnRun(std::string folder, config::TrustStore store)
      : folder_(std::move(folder)), store_(std::move(store)) {}
  std::string path() const;
  Result<std::string> ReadConfig() const;

  std::string folder_;  // without links
  config::TrustStore store_;
  Trust trust_ = Trust::kApproved;
  std::optional<std::string> before_;  // the configuration that was checked
};

// Errors: kRefused where a link in a run's folder, but inside of workspaces, leads out of it, or
// where a pipe or device stands for a file: this program would read or write there, or hang.
Status CheckRunFolder(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_OWN_RUN_H_
