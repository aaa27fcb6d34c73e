#include "base/files/walk.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>
#include <utility>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/text/text.h"

namespace dossier {
namespace {

// Trailing spaces do not count unless a backslash precedes them; other white space does.
std::string_view TrimTrailingSpaces(std::string_view line) {
  std::size_t keep = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\') {
      if (++at == line.size()) return line;
      keep = at + 1;
    } else if (line[at] != ' ') {
      keep = at + 1;
    }
  }
  return line.substr(0, keep);
}

using Verdict = IgnoreFile::Verdict;
using PathKind = IgnoreFile::PathKind;

constexpr std::uint64_t kMaxIgnoreFile = 4 << 20;  // bytes

std::string JoinPath(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  path = folder;
  if (!folder.ends_with('/')) path += '/';
  return path.append(name);
}

// Inside a work tree git does not follow a link to an ignore file; elsewhere it does.
enum class LinkedFile : std::uint8_t { kRefuse, kFollow };

std::optional<IgnoreFile> ReadIgnoreFile(const std::string& path, LinkedFile linked,
                                         CaseSensitivity letters) {
  struct stat info{};
  const int failed =
      linked == LinkedFile::kRefuse ? lstat(path.c_str(), &info) : stat(path.c_str(), &info);
  if (failed != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto text = ReadFile(path, kMaxIgnoreFile);
  if (!text) return std::nullopt;
  return IgnoreFile(*text, letters);
}

std::string DefaultGlobalIgnoreFile() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config && *config) return std::string(config) + "/git/ignore";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.config/git/ignore" : "";
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

struct Entry {
  std::string name;
  mode_t mode = 0;
  std::uint64_t device = 0, inode = 0;
  bool link = false;
};

mode_t ModeOf(unsigned char type) {
  switch (type) {
    case DT_REG:
      return S_IFREG;
    case DT_DIR:
      return S_IFDIR;
    case DT_LNK:
      return S_IFLNK;
    case DT_SOCK:
      return S_IFSOCK;
    case DT_FIFO:
      return S_IFIFO;
    case DT_CHR:
      return S_IFCHR;
    case DT_BLK:
      return S_IFBLK;
    default:
      return 0;
  }
}

std::string_view KindName(mode_t mode) {
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device";
  return "not a regular file";
}

// The rules at the current place of the walk: git's, then one list per extra file name.
class RuleStack {
 public:
  RuleStack(const std::vector<std::string>& extra_names, CaseSensitivity letters)
      : letters_(letters), lists_(1 + extra_names.size()) {
    names_.emplace_back(".gitignore");
    names_.insert(names_.end(), extra_names.begin(), extra_names.end());
  }

  using Mark = std::vector<std::size_t>;
  Mark mark() const {
    Mark mark;
    for (const auto& list : lists_) mark.push_back(list.size());
    return mark;
  }
  void Restore(const Mark& mark) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      lists_[i].erase(lists_[i].begin() + static_cast<std::ptrdiff_t>(mark[i]), lists_[i].end());
    }
  }

  // Adds a file of git that is in no folder of the tree.
  void AddGit(const std::string& path) {
    if (path.empty()) return;
    if (auto file = ReadIgnoreFile(path, LinkedFile::kFollow, letters_)) {
      lists_[0].push_back({"", std::move(*file)});
    }
  }

  // Adds all ignore files of `folder`, which is `inside` relative to the root. `present` says
  // whether a name exists, if known.
  template <typename Present>
  void AddFolder(const std::string& folder, const std::string& inside, Present present) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!present(names_[i])) continue;
      auto file = ReadIgnoreFile(JoinPath(folder, names_[i]), LinkedFile::kRefuse, letters_);
      if (!file) continue;
      lists_[i].push_back({inside.empty() ? "" : inside + "/", std::move(*file)});
    }
  }

  Verdict Git(std::string_view path, PathKind kind) const { return Ask(lists_[0], path, kind); }

  // The verdict of the extra files; the last name has priority.
  Verdict Extra(std::string_view path, PathKind kind) const {
    for (std::size_t i = lists_.size(); i-- > 1;) {
      const Verdict verdict = Ask(lists_[i], path, kind);
      if (verdict != Verdict::kNone) return verdict;
    }
    return Verdict::kNone;
  }

 private:
  struct Rules {
    std::string base;  // the folder they apply to, from the root, with a trailing slash; or ""
    IgnoreFile file;
  };

  static Verdict Ask(const std::vector<Rules>& list, std::string_view path, PathKind kind) {
    for (auto rules = list.rbegin(); rules != list.rend(); ++rules) {
      if (!path.starts_with(rules->base)) continue;
      const Verdict verdict = rules->file.Match(path.substr(rules->base.size()), kind);
      if (verdict != Verdict::kNone) return verdict;
    }
    return Verdict::kNone;
  }

  const CaseSensitivity letters_;
  std::vector<std::string> names_;
  std::vector<std::vector<Rules>> lists_;  // indexed as names_; in each, outermost first
};

class Walker {
 public:
  Walker(const WalkOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel), rules_(options.extra_ignore_files, options.letters) {}

  Result<WalkResult> Run(const std::string& folder) {
    struct stat info{};
    if (stat(folder.c_str(), &info) != 0) return MakeErrnoError(errno, folder);
    if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, folder);
    seen_.insert({info.st_dev, info.st_ino});
    Place place{.folder = folder};
    if (options_.ignore == IgnoreRules::kApply) AddRulesAbove(&place);
    // Folders are walked in the order of their names with a trailing slash, which is that of whole
    // paths; a trailing slash of the root makes no difference.
    DOSSIER_RETURN_IF_ERROR(Walk(place));
    return std::move(result_);
  }

 private:
  struct Place {
    std::string folder;
    std::string inside;  // `folder` relative to the root of the repository, or of the walk
    int depth = 0;
    bool tracked_only = false;  // git ignores the folder: only files in the index count
  };

  void AddRulesAbove(Place* place) {
    const auto git = FindGitFolders(place->folder);
    if (!git) return;  // no repository: only ignore files found below
    rules_.AddGit(options_.global_ignore_file ? *options_.global_ignore_file
                                              : DefaultGlobalIgnoreFile());
    rules_.AddGit(git->common + "/info/exclude");
    const std::string path = CanonicalOf(place->folder);
    if (path == git->root) return;
    place->inside = path.substr(git->root == "/" ? 1 : git->root.size() + 1);
    std::string above;
    for (const std::string_view name : Split(place->inside, '/')) {
      const std::string where = above.empty() ? git->root : JoinPath(git->root, above);
      rules_.AddFolder(where, above, [](const std::string&) { return true; });
      above = JoinPath(above, name);
    }
  }

  static std::string CanonicalOf(const std::string& folder) {
    const std::unique_ptr<char, void (*)(void*)> real(realpath(folder.c_str(), nullptr), std::free);
    return real ? real.get() : folder;
  }

  Status Walk(const Place& place) {
    constexpr int kMaxDepth = 256;
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    if (place.depth > kMaxDepth) {
      result_.skipped.push_back({place.folder, "nested too deep"});
      return {};
    }
    std::vector<Entry> entries;
    if (const Status listed = List(place.folder, &entries); !listed) {
      if (place.depth == 0) return listed;
      result_.skipped.push_back({place.folder, "permission denied"});
      return {};
    }
    const RuleStack::Mark outer = rules_.mark();
    if (options_.ignore == IgnoreRules::kApply) {
      rules_.AddFolder(place.folder, place.inside,
                       [&](const std::string& name) { return dot_files_.contains(name); });
    }
    for (const Entry& entry : entries) {
      if (result_.stopped) break;
      DOSSIER_RETURN_IF_ERROR(Visit(place, entry));
    }
    rules_.Restore(outer);
    return {};
  }

  enum class Choice : std::uint8_t { kTake, kLeave, kTrackedOnly };

  Choice Choose(const Place& place, const std::string& inner, PathKind kind) const {
    if (options_.ignore == IgnoreRules::kDisregard) return Choice::kTake;
    const Verdict extra = rules_.Extra(inner, kind);
    if (extra == Verdict::kIgnored) return Choice::kLeave;
    if (extra == Verdict::kKept && !place.tracked_only) return Choice::kTake;
    if (!place.tracked_only && rules_.Git(inner, kind) != Verdict::kIgnored) return Choice::kTake;
    return IsTracked(inner, kind) ? Choice::kTrackedOnly : Choice::kLeave;
  }

  bool IsTracked(const std::string& inner, PathKind kind) const {
    if (options_.tracked.empty()) return false;
    const std::string key = kind == PathKind::kFolder ? inner + "/" : inner;
    const auto found = std::lower_bound(options_.tracked.begin(), options_.tracked.end(), key);
    if (found == options_.tracked.end()) return false;
    return kind == PathKind::kFolder ? found->starts_with(key) : *found == key;
  }

  Status Visit(const Place& place, const Entry& entry) {
    const std::string inner = JoinPath(place.inside, entry.name);
    const bool is_folder = S_ISDIR(entry.mode);
    const Choice choice = Choose(place, inner, is_folder ? PathKind::kFolder : PathKind::kFile);
    if (choice == Choice::kLeave) return {};
    if (entry.link && options_.links == SymbolicLinks::kSkip) return {};
    std::string path = JoinPath(place.folder, entry.name);
    if (S_ISLNK(entry.mode)) {
      result_.skipped.push_back({path, "broken symbolic link"});
      return {};
    }
    const bool known = options_.links == SymbolicLinks::kFollowOnce &&
                       !seen_.insert({entry.device, entry.inode}).second;
    if (is_folder) {
      if (known) return {};
      if (options_.nested == NestedRepositories::kSkip && IsWorkTree(path)) {
        result_.skipped.push_back({path, "a repository of its own"});
        return {};
      }
      return Walk({path, inner, place.depth + 1, choice == Choice::kTrackedOnly});
    }
    if (entry.link && known) return {};
    if (!S_ISREG(entry.mode)) {
      result_.skipped.push_back({path, std::string(KindName(entry.mode))});
      return {};
    }
    if (result_.files.size() == options_.max_files) {
      result_.stopped = true;
      return {};
    }
    result_.files.push_back(std::move(path));
    return {};
  }

  // Sorted so that the walk gives paths in byte order: a folder sorts as its name with a slash.
  Status List(const std::string& folder, std::vector<Entry>* entries) {
    const std::unique_ptr<DIR, CloseFolder> directory(opendir(folder.c_str()));
    if (!directory) return MakeErrnoError(errno, folder);
    dot_files_.clear();
    while (const dirent* found = readdir(directory.get())) {
      const std::string_view name = found->d_name;
      if (name == "." || name == ".." || name == ".git") continue;
      if (name.starts_with('.')) dot_files_.emplace(name);
      if (name.starts_with('.') && options_.hidden == HiddenFiles::kSkip) continue;
      Entry entry{.name = std::string(name), .mode = ModeOf(found->d_type)};
      if (!Complete(folder, &entry)) continue;  // vanished meanwhile
      entries->push_back(std::move(entry));
    }
    const auto key = [](const Entry& entry) {
      return S_ISDIR(entry.mode) ? entry.name + "/" : entry.name;
    };
    std::sort(entries->begin(), entries->end(),
              [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    return {};
  }

  // Adds what the listing does not tell: the kind on some file systems; the target of a link.
  bool Complete(const std::string& folder, Entry* entry) const {
    const bool follow = options_.links == SymbolicLinks::kFollowOnce;
    entry->link = S_ISLNK(entry->mode);
    if (entry->mode != 0 && !follow) return true;
    const std::string path = JoinPath(folder, entry->name);
    struct stat info{};
    if (lstat(path.c_str(), &info) != 0) return false;
    entry->link = S_ISLNK(info.st_mode);
    if (entry->link && follow) {
      struct stat target{};
      if (stat(path.c_str(), &target) == 0) info = target;
    }
    entry->mode = info.st_mode;
    entry->device = info.st_dev;
    entry->inode = info.st_ino;
    return true;
  }

  const WalkOptions options_;
  const CancelToken cancel_;
  RuleStack rules_;
  std::set<std::string, std::less<>> dot_files_;  // of the last folder listed
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  WalkResult result_;
};

}  // namespace

IgnoreFile::IgnoreFile(std::string_view content, CaseSensitivity letters) : letters_(letters) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  for (std::string_view line : Split(content, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    Add(TrimTrailingSpaces(line.substr(0, line.find('\0'))));
  }
}

void IgnoreFile::Add(std::string_view line) {
  Rule rule;
  if (line.starts_with('!')) {
    rule.negated = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    rule.folder_only = true;
    line.remove_suffix(1);
  }
  if (line.empty()) return;
  // A slash at the front or inside ties the pattern to the folder of the file.
  rule.anchored = line.find('/') != std::string_view::npos;
  if (line.front() == '/') line.remove_prefix(1);
  if (!rule.anchored && line.front() == '*' && LiteralPrefix(line.substr(1)) == line.size() - 1) {
    rule.suffix = true;
    rule.literal = line.substr(1);
  } else {
    // Git matches the rest as a separate pattern, so in "a**/b" the stars are at its start.
    const std::size_t literal = rule.anchored ? LiteralPrefix(line) : 0;
    rule.literal = line.substr(0, literal);
    if (LiteralPrefix(line) == line.size()) {
      rule.literal = line;
    } else {
      rule.rest.emplace(line.substr(literal), letters_);
    }
  }
  if (letters_ == CaseSensitivity::kInsensitive) rule.literal = ToLowerAscii(rule.literal);
  rules_.push_back(std::move(rule));
}

bool IgnoreFile::Matches(const Rule& rule, std::string_view text) {
  if (rule.suffix) return text.ends_with(rule.literal);
  if (!text.starts_with(rule.literal)) return false;
  text.remove_prefix(rule.literal.size());
  return rule.rest ? rule.rest->Matches(text) : text.empty();
}

IgnoreFile::Verdict IgnoreFile::Match(std::string_view path, PathKind kind) const {
  std::string lower;
  if (letters_ == CaseSensitivity::kInsensitive) path = lower = ToLowerAscii(path);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folder_only && kind != PathKind::kFolder) continue;
    if (!Matches(*rule, rule->anchored ? path : name)) continue;
    return rule->negated ? Verdict::kKept : Verdict::kIgnored;
  }
  return Verdict::kNone;
}

Result<WalkResult> WalkFolder(const std::string& folder, const WalkOptions& options,
                              const CancelToken& cancel) {
  return Walker(options, cancel).Run(folder);
}

}  // namespace dossier
