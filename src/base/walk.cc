#include "base/walk.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace dossier {
namespace {

constexpr std::uint64_t kMaxIgnoreFile = 4 << 20;  // bytes

// Matches one `[…]` at `*p` (behind the bracket) against `c`; moves *p behind it. A class that never
// closes matches nothing.
bool MatchClass(std::string_view pattern, std::size_t* p, char c) {
  std::size_t at = *p;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool matched = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) {
      *p = at + 1;
      return matched != negated && c != '/';
    }
    char low = pattern[at++];
    if (low == '\\' && at < pattern.size()) low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    matched = matched || (c >= low && c <= high);
  }
  *p = pattern.size();
  return false;
}

// Glob with `*`, `?`, `[…]` that stay inside a name, and `**` between slashes that does not. Each star
// remembers where it may take one byte more; only the last of each kind matters.
class Glob {
 public:
  Glob(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool Match() {
    while (true) {
      if (p_ == pattern_.size() && t_ == text_.size()) return true;
      if (Step()) continue;
      if (!Retry(&star_) && !Retry(&double_star_)) return false;
    }
  }

 private:
  struct Star {
    std::size_t p = 0, t = 0;
    bool active = false, crosses = false;
  };

  bool Step() {
    if (p_ == pattern_.size()) return false;
    const std::string_view rest = pattern_.substr(p_);
    const bool at_name = t_ == 0 || text_[t_ - 1] == '/';
    if (rest.starts_with("**/") && at_name && (p_ == 0 || pattern_[p_ - 1] == '/')) {
      p_ += 3;
      double_star_ = {p_, t_, true, true};
      star_ = {};
      return true;
    }
    if (rest == "**" && (p_ == 0 || pattern_[p_ - 1] == '/')) {  // everything below
      p_ = pattern_.size();
      const bool below = t_ < text_.size();
      t_ = text_.size();
      return below;
    }
    if (rest[0] == '*') {
      while (p_ < pattern_.size() && pattern_[p_] == '*') ++p_;
      star_ = {p_, t_, true, false};
      return true;
    }
    if (t_ == text_.size()) return false;
    return StepByte(rest[0]);
  }

  bool StepByte(char wanted) {
    const char c = text_[t_];
    std::size_t next = p_ + 1;
    bool matched = c == wanted;
    if (wanted == '?') {
      matched = c != '/';
    } else if (wanted == '[') {
      matched = MatchClass(pattern_, &next, c);
    } else if (wanted == '\\' && next < pattern_.size()) {
      matched = c == pattern_[next++];
    }
    if (!matched) return false;
    p_ = next;
    ++t_;
    return true;
  }

  // Lets a star take one byte more; `**/` takes up to the next name.
  bool Retry(Star* star) {
    if (!star->active) return false;
    if (star->crosses) {
      const std::size_t slash = text_.find('/', star->t);
      if (slash == std::string_view::npos) return false;
      star->t = slash + 1;
      star_ = {};
    } else {
      if (star->t == text_.size() || text_[star->t] == '/') {
        star->active = false;
        return false;
      }
      ++star->t;
    }
    p_ = star->p;
    t_ = star->t;
    return true;
  }

  const std::string_view pattern_, text_;
  std::size_t p_ = 0, t_ = 0;
  Star star_, double_star_;
};

std::string JoinPath(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return folder.ends_with('/') ? fmt::format("{}{}", folder, name)
                               : fmt::format("{}/{}", folder, name);
}

std::optional<IgnoreFile> ReadIgnoreFile(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const auto text = ReadFile(path, kMaxIgnoreFile);
  if (!text) return std::nullopt;
  return IgnoreFile(*text);
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

std::string_view KindName(mode_t mode) {
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device";
  return "not a regular file";
}

class Walker {
 public:
  Walker(const WalkOptions& options, const CancelToken& cancel)
      : options_(options), cancel_(cancel) {}

  Result<WalkResult> Run(const std::string& folder) {
    struct stat info {};
    if (stat(folder.c_str(), &info) != 0) return MakeErrnoError(errno, folder);
    if (!S_ISDIR(info.st_mode)) return MakeErrnoError(ENOTDIR, folder);
    seen_.insert({info.st_dev, info.st_ino});
    std::string inside;
    if (options_.ignore == IgnoreRules::kApply) inside = AddRulesAbove(folder);
    DOSSIER_RETURN_IF_ERROR(Walk(folder, inside, 0));
    // Folders are walked in the order of their names with a slash, which is that of whole paths;
    // a root that ends in a slash or not does not matter to it.
    return std::move(result_);
  }

 private:
  // An ignore file and the folder it speaks of, relative to the root of the repository.
  struct Rules {
    std::string folder;
    IgnoreFile file;
  };

  // The rules of the folders above `folder`, up to the root of its repository. Returns where
  // `folder` is in it.
  std::string AddRulesAbove(const std::string& folder) {
    std::error_code error;
    const std::string path = std::filesystem::canonical(folder, error).string();
    if (error) return "";
    std::string root = path;
    while (!Exists(JoinPath(root, ".git"))) {
      if (root == "/" || root.empty()) return "";  // no repository: only ignore files found below
      root = root.substr(0, std::max<std::size_t>(root.rfind('/'), 1));
    }
    if (auto file = ReadIgnoreFile(root + "/.git/info/exclude")) rules_.push_back({"", *file});
    if (path == root) return "";
    const std::string inside = path.substr(root == "/" ? 1 : root.size() + 1);
    std::string above;
    for (const std::string_view name : Split(inside, '/')) {
      const std::string where = above.empty() ? root : JoinPath(root, above);
      if (auto file = ReadIgnoreFile(JoinPath(where, ".gitignore"))) {
        rules_.push_back({above, *file});
      }
      above = JoinPath(above, name);
    }
    return inside;
  }

  bool IsIgnored(const std::string& inside, IgnoreFile::PathKind kind) const {
    for (auto rules = rules_.rbegin(); rules != rules_.rend(); ++rules) {
      std::string_view path = inside;
      if (!rules->folder.empty()) {
        if (!path.starts_with(rules->folder + "/")) continue;
        path.remove_prefix(rules->folder.size() + 1);
      }
      const IgnoreFile::Verdict verdict = rules->file.Match(path, kind);
      if (verdict != IgnoreFile::Verdict::kNone) return verdict == IgnoreFile::Verdict::kIgnored;
    }
    return false;
  }

  // `inside`: `folder` as seen from the root of the repository, or of the walk.
  Status Walk(const std::string& folder, const std::string& inside, int depth) {
    constexpr int kMaxDepth = 256;
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    if (depth > kMaxDepth) {
      result_.skipped.push_back({folder, "nested too deep"});
      return {};
    }
    std::vector<Entry> entries;
    if (const Status listed = List(folder, &entries); !listed) {
      if (depth == 0) return listed;
      result_.skipped.push_back({folder, "permission denied"});
      return {};
    }
    const std::size_t outer_rules = rules_.size();
    if (options_.ignore == IgnoreRules::kApply) {
      if (auto file = ReadIgnoreFile(JoinPath(folder, ".gitignore"))) {
        rules_.push_back({inside, *file});
      }
    }
    for (const Entry& entry : entries) {
      if (result_.stopped) break;
      DOSSIER_RETURN_IF_ERROR(Visit(folder, inside, entry, depth));
    }
    rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(outer_rules), rules_.end());
    return {};
  }

  Status Visit(const std::string& folder, const std::string& inside, const Entry& entry,
               int depth) {
    const std::string path = JoinPath(folder, entry.name);
    const std::string inner = JoinPath(inside, entry.name);
    const bool is_folder = S_ISDIR(entry.mode);
    const auto kind = is_folder ? IgnoreFile::PathKind::kFolder : IgnoreFile::PathKind::kFile;
    if (options_.ignore == IgnoreRules::kApply && IsIgnored(inner, kind)) return {};
    if (entry.link && options_.links == SymbolicLinks::kSkip) return {};
    if (S_ISLNK(entry.mode)) {
      result_.skipped.push_back({path, "broken symbolic link"});
      return {};
    }
    const bool known = !seen_.insert({entry.device, entry.inode}).second;
    if (is_folder) {
      if (known && options_.links == SymbolicLinks::kFollowOnce) return {};
      return Walk(path, inner, depth + 1);
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
    result_.files.push_back(path);
    return {};
  }

  // Sorted so that walking in this order gives paths in byte order: a folder counts as its name
  // with a slash behind.
  Status List(const std::string& folder, std::vector<Entry>* entries) const {
    const std::unique_ptr<DIR, CloseFolder> directory(opendir(folder.c_str()));
    if (!directory) return MakeErrnoError(errno, folder);
    while (const dirent* found = readdir(directory.get())) {
      const std::string_view name = found->d_name;
      if (name == "." || name == ".." || name == ".git") continue;
      if (name.starts_with('.') && options_.hidden == HiddenFiles::kSkip) continue;
      Entry entry{.name = std::string(name)};
      const std::string path = JoinPath(folder, name);
      struct stat info {};
      if (lstat(path.c_str(), &info) != 0) continue;  // gone since
      entry.link = S_ISLNK(info.st_mode);
      if (entry.link && options_.links == SymbolicLinks::kFollowOnce) {
        struct stat target {};
        if (stat(path.c_str(), &target) == 0) info = target;
      }
      entry.mode = info.st_mode;
      entry.device = info.st_dev;
      entry.inode = info.st_ino;
      entries->push_back(std::move(entry));
    }
    const auto key = [](const Entry& entry) {
      return S_ISDIR(entry.mode) ? entry.name + "/" : entry.name;
    };
    std::sort(entries->begin(), entries->end(),
              [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    return {};
  }

  const WalkOptions options_;
  const CancelToken cancel_;
  std::vector<Rules> rules_;  // outermost first
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  WalkResult result_;
};

}  // namespace

Result<WalkResult> WalkFolder(const std::string& folder, const WalkOptions& options,
                              const CancelToken& cancel) {
  return Walker(options, cancel).Run(folder);
}

IgnoreFile::IgnoreFile(std::string_view content) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  for (std::string_view line : Split(content, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    if (line.front() == '!') {
      rule.negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      rule.folder_only = true;
      line.remove_suffix(1);
    }
    if (line.empty()) continue;
    // A slash at the front or inside ties the pattern to the folder of the file.
    rule.anchored = line.find('/') != std::string_view::npos;
    if (line.front() == '/') line.remove_prefix(1);
    rule.pattern = line;
    rules_.push_back(std::move(rule));
  }
}

IgnoreFile::Verdict IgnoreFile::Match(std::string_view path, PathKind kind) const {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folder_only && kind != PathKind::kFolder) continue;
    if (!Glob(rule->pattern, rule->anchored ? path : name).Match()) continue;
    return rule->negated ? Verdict::kKept : Verdict::kIgnored;
  }
  return Verdict::kNone;
}

}  // namespace dossier
