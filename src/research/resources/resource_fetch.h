// Brings repositories to this machine.
//
//   const Fetched fetched = FetchRepository(origin, run_folder + "/data/" + origin.name, cancel);
//   if (fetched.status == FetchStatus::kFailed) Say(fetched.reason);
//
// git is started without a shell, without hooks and without a question to the user. A folder that
// is there was fetched whole, and stays. Thread-safety: functions over files.

#ifndef DOSSIER_RESEARCH_RESOURCES_RESOURCE_FETCH_H_
#define DOSSIER_RESEARCH_RESOURCES_RESOURCE_FETCH_H_

#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "research/resources/resources.h"

namespace dossier::research {

struct Fetched {
  FetchStatus status = FetchStatus::kPending;
  std::string reason;  // why it failed
  std::string head;    // commit
};

// "owner/name" is of GitHub; a path or an address is taken as it is.
std::string RepositoryAddress(const std::string& repo);
Fetched FetchRepository(const ResourceOrigin& origin, const std::string& folder,
                        const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCE_FETCH_H_
