// Files by which others act later in the user's name, in folders that a jailed program may change:
// `.git` (hooks, settings that start programs), `.dossier` and `dossier.yml` (what this program
// does), and folders that git takes for a repository whatever they are called.
//
//   const ControlFiles control = ControlFiles::Find({{project, project}});   // before the program
//   for (const auto& file : control.found()) …                    // mounted read-only in the jail
//   for (const std::string& note : control.SetAsideNew(…)) …                 // behind the program
//
// What is there when the jail begins can be made read-only. What is not there cannot: a mount needs
// a place, and an empty `.git` made as a place would stay behind after a crash and is taken for a
// broken repository by other programs. So what the program makes under such a name gets another
// name, `.git.set-aside-1`, under which nobody looks for it. Nothing is removed, since it cannot be
// told from what the user makes at the same time.
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
  // An absolute path of the host, and as the program sees it.
  struct Path {
    std::string host, inside;
  };

  ControlFiles() = default;

  // Looks through `folders` and all below them, the upper ones first, up to 200,000 entries. Links
  // are not followed. A folder that is itself one of these files, or lies in one, is left out:
  // whoever names it means it.
  static ControlFiles Find(const std::vector<Path>& folders);

  // Folders and files; no links, which nothing can be mounted over.
  const std::vector<Path>& found() const { return found_; }
  // Whether all was looked through.
  bool complete() const { return complete_; }

  enum class View { kHost, kInside };
  // kTop: directly in the folders; costs microseconds. kAll: at any depth; only directly in them if
  // Find was not complete.
  enum class Depth { kTop, kAll };
  // Renames what was not there at Find. Returns a line for each: "/p/.git is now .git.set-aside-1",
  // or why it is not.
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
  // A link may be removed, and its number given to something else: the time of its last change is
  // the kernel's.
  std::set<std::tuple<dev_t, ino_t, time_t, long>> known_links_;
  // A name in a folder. Whoever replaces a file that is mounted over is not the program.
  std::set<std::tuple<dev_t, ino_t, std::string>> known_names_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_JAIL_CONTROL_FILES_H_
