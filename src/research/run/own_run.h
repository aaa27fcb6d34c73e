// Whether a run's folder is this user's own.
//
//   DOSSIER_ASSIGN_OR_RETURN(OwnRun own, OwnRun::Of(folder));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string config, own.ReadConfig());
//   DOSSIER_RETURN_IF_ERROR(own.Check(config, OwnRun::Trust::kApproved));
//   … own.Remember(ConfigYaml(order.config));   // as the run leaves it
//
// A run's folder says which commands run and what they may read, and it may have come with
// somebody's project. So a resume wants the configuration that this user's own run wrote there
// last, or that the user approved (`dossier trust`). Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_RUN_OWN_RUN_H_
#define DOSSIER_RESEARCH_RUN_OWN_RUN_H_

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

  // The configuration of the run, at most kMaxIdeaBytes.
  Result<std::string> ReadConfig() const;
  Status Remember(std::string_view config);
  // Errors: kRefused, for a configuration that this user has neither written nor approved, and as
  // CheckRunFolder.
  Status Check(std::string_view config, Trust trust) const;

 private:
  OwnRun(std::string folder, config::TrustStore store)
      : folder_(std::move(folder)), store_(std::move(store)) {}
  std::string path() const;

  std::string folder_;  // without links
  config::TrustStore store_;
};

// Errors: kRefused where a link in a run's folder, but inside of workspaces, leads out of it, or
// where a pipe or device stands for a file: this program would read or write there, or hang.
Status CheckRunFolder(const std::string& folder);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_OWN_RUN_H_
