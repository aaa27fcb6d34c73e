// Files of a worktree for a model's tools: every path is resolved beneath the worktree by the
// kernel, whatever links and `..` it holds.
//
//   DOSSIER_ASSIGN_OR_RETURN(const TreeFiles files, TreeFiles::Open(worktree.path()));
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text, files.Read("src/a.cc"));
//   DOSSIER_RETURN_IF_ERROR(files.Write("src/new/b.cc", "int b;\n"));
//
// Thread-safety: methods may be called from many threads.

#ifndef DOSSIER_AGENTS_ENGINE_TREE_FILES_H_
#define DOSSIER_AGENTS_ENGINE_TREE_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/files/file.h"
#include "base/result.h"

namespace dossier::agents {

inline constexpr std::uint64_t kMaxToolFile = 4 << 20;  // bytes of a file that a tool reads

class TreeFiles {
 public:
  static Result<TreeFiles> Open(const std::string& root);

  // A regular file. Errors: kNotFound, kPermission ("leads out of the worktree"), kTooLong.
  Result<std::string> Read(const std::string& path) const;
  // Makes missing folders; an existing file keeps its mode. Links are not followed.
  // Errors: kPermission, kIo.
  Status Write(const std::string& path, std::string_view content) const;
  // A file or a link. Errors: kNotFound, kPermission.
  Status Remove(const std::string& path) const;
  // Paths of regular files that `glob` fits ("": all), in byte order, without ignored ones, `.git`
  // and `.agent`.
  Result<std::vector<std::string>> List(const std::string& glob, const CancelToken& cancel) const;

 private:
  TreeFiles(std::string root, UniqueFd folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  Result<UniqueFd> OpenParent(const std::string& path, bool make, std::string* name) const;

  std::string root_;
  UniqueFd folder_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_TREE_FILES_H_
