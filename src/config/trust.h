// The list of project files that a person has looked at and allowed, by real path and SHA-256 of
// the parsed bytes; it lies in the user's state folder.
//
//   TrustStore store(user.state, SystemClock());
//   DOSSIER_ASSIGN_OR_RETURN(const auto known, store.Find(file.real_path));
//   if (!known || known->sha256 != Sha256Hex(file.bytes)) Ask(...);
//   DOSSIER_RETURN_IF_ERROR(store.Approve(file.real_path, file.bytes));
//
// The file is docs/formats/trust.md. Thread-safety: processes and threads exclude each other by a
// lock file; the last approval of a path stands.

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
  std::string path;         // without links
  std::string sha256;       // of the bytes
  std::string approved_at;  // UTC
};

class TrustStore {
 public:
  TrustStore(std::string state_folder, std::shared_ptr<const Clock> clock)
      : folder_(std::move(state_folder)), clock_(std::move(clock)) {}

  // By path. Errors: kDamaged (with the file and the way out), kIo.
  Result<std::vector<Approval>> List() const;
  Result<std::optional<Approval>> Find(std::string_view real_path) const;
  // The bytes that were approved; kNotFound if they are gone.
  Result<std::string> Bytes(const Approval& approval) const;

  Status Approve(const std::string& real_path, std::string_view bytes);
  // False: it was not approved.
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

// Whether `real_path` is below one of the folders of $DOSSIER_TRUST_ROOTS (colons between them).
bool IsBelowTrustRoot(std::string_view real_path, std::string_view roots);

// Layouts and prompts that a project brings along in `.dossier/`: what a model is told, and by that
// a power that needs trust as its configuration does.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto assets, ReadProjectAssets(".dossier"));
//   if (assets) Ask({assets->file, assets->names});
//
// Thread-safety: functions over the file system.

struct ProjectAssets {
  // As one file for whoever approves it: `bytes` are all files with their names, `real_path` is the
  // folder's.
  ConfigFile file;
  std::vector<std::string> names;  // "layouts/ask.yaml", sorted
};

// Nothing, if `folder` holds neither layouts nor prompts. Errors: kConfig for a link or anything
// else but a regular file, or more than 4 MiB of files; kRefused for files of another user or such
// as others may write, and for a folder that is a link to elsewhere.
Result<std::optional<ProjectAssets>> ReadProjectAssets(const std::string& folder);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_TRUST_H_
