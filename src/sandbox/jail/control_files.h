// Protects files that make others act later in the user's name, in folders that a jailed program
// may change: `.git` (hooks, settings that start programs), `.dossier` and `dossier.yml` (which
// control this program), and folders of any name that git takes for a repository.
//
//   const ControlFiles control = ControlFiles::Find({{project, project}});   // before the program
//   for (const auto& file : control.found()) …                    // mounted read-only in the jail
//   for (const std::string& note : control.SetAsideNew(…)) …                 // behind the program
//
// Files that exist when the jail starts can be mounted read-only. Missing ones cannot: a mount
// needs a mount point, and an empty `.git` as one would remain after a crash, and other programs
// would take it for a broken repository. So what the program creates under such a name is renamed
// to `.git.set-aside-1`, which no program reads. Nothing is removed, since it may be something that
// the user created at the same time.
//
// Thread-safety: a value; SetAsideNew changes folders and may be called in a forked process.

#ifndef DOSSIER_SANDBOX_JAIL_CONTROL_FILES_H_
#define DOSSIER_SANDBOX_JAIL_CONTROL_FILES_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace dossier::sandbox {

class ControlFiles {
 public:
  // A path on the host, and the same path as the program sees it. Absolute.
  struct Path {
    std::string host, inside;
  };

  ControlFiles() = default;

  // Searches `folders` and everything below them, upper levels first, up to 200,000 entries. Links
  // are not followed. A folder that is itself a control file, or is inside one, is skipped, because
  // it was named on purpose.
  static ControlFiles Find(const std::vector<Path>& folders);

  // Folders and files, but no links, over which nothing can be mounted.
  const std::vector<Path>& found() const { return found_; }
  // True if everything was searched.
  bool complete() const { return complete_; }

  enum class View { kHost, kInside };
  // kTop: only entries directly in the folders; takes microseconds. kAll: at any depth, or as kTop
  // if Find was not complete.
  enum class Depth { kTop, kAll };
  // Renames what did not exist at Find. Returns one line each: "/p/.git is now .git.set-aside-1",
  // or the reason why it was not renamed.
  std::vector<std::string> SetAsideNew(View view, Depth depth) const;

 private:
  struct Folder;
  struct Visit;

  void Note(const Folder& folder, std::string_view name, const struct stat& info);
  bool IsKnown(const Folder& folder, std::string_view name, const struct stat& info) const;
  std::string SetAside(const Folder& folder, const std::string& name) const;

  std::vector<Path> folders_;
  std::vector<Path> found_;
  bool complete_ = true;
  std::set<std::pair<dev_t, ino_t>> known_;
  // A link may be removed and its inode number reused, so its change time, which the kernel sets,
  // is compared too.
  std::set<std::tuple<dev_t, ino_t, time_t, long>> known_links_;
  // A name in a folder. If a mounted-over file is replaced, it was not the program that did it.
  std::set<std::tuple<dev_t, ino_t, std::string>> known_names_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_CONTROL_FILES_H_
