// The list of project files that a person has approved, by real path and SHA-256 of the parsed
// bytes. It is stored in the user's state folder.
//
//   TrustStore store(user.state, SystemClock());
//   DOSSIER_ASSIGN_OR_RETURN(const auto known, store.Find(file.real_path));
//   if (!known || known->sha256 != Sha256Hex(file.bytes)) Ask(...);
//   DOSSIER_RETURN_IF_ERROR(store.Approve(file.real_path, file.bytes));
//
// docs/formats/trust.md describes the file. Thread-safety: a lock file serialises processes and
// threads; the last approval of a path is kept.

#ifndef DOSSIER_CONFIG_TRUST_H_
#define DOSSIER_CONFIG_TRUST_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/edit.h"

namespace dossier::config {

struct Approval {
  std::string path;         // links resolved
  std::string sha256;       // of the bytes
  std::string approved_at;  // UTC
};

class TrustStore {
 public:
  TrustStore(std::string state_folder, std::shared_ptr<const Clock> clock)
      : folder_(std::move(state_folder)), clock_(std::move(clock)) {}

  // Sorted by path. Errors: kDamaged (with the file and how to fix it), kIo.
  Result<std::vector<Approval>> List() const;
  Result<std::optional<Approval>> Find(std::string_view real_path) const;
  // Returns the approved bytes; kNotFound if they are gone.
  Result<std::string> Bytes(const Approval& approval) const;

  Status Approve(const std::string& real_path, std::string_view bytes);
  // Returns false if it was not approved.
  Result<bool> Revoke(std::string_view real_path);

  std::string file() const { return folder_ + "/trust.json"; }

 private:
  Status Change(const std::function<void(std::vector<Approval>*)>& change);

  std::string folder_;
  std::shared_ptr<const Clock> clock_;
};

// Approvals of a model that conversations of a project name are kept under the folder of these,
// this mark and the model.
inline constexpr std::string_view kStoredModelMark = "model=";

// Returns true if `real_path` is below a folder of $DOSSIER_TRUST_ROOTS (colon-separated).
bool IsBelowTrustRoot(std::string_view real_path, std::string_view roots);

// Layouts and prompts that a project has in `.dossier/`. They control what a model is told, so they
// need trust like the project's configuration.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto assets, ReadProjectAssets(".dossier"));
//   if (assets) Ask({assets->file, assets->names});
//
// Thread-safety: functions over the file system.

struct ProjectAssets {
  // Presented as one file for approval: `bytes` holds all files with their names, `real_path` is
  // the path of the folder.
  ConfigFile file;
  std::vector<std::string> names;  // "layouts/ask.yaml", sorted
};

// Returns nullopt if `folder` has neither layouts nor prompts. Errors: kConfig for a link or
// anything else that is not a regular file, or for over 4 MiB of files; kRefused for files that
// belong to another user or are writable by others, and for a folder that is a link to elsewhere.
Result<std::optional<ProjectAssets>> ReadProjectAssets(const std::string& folder);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_TRUST_H_
