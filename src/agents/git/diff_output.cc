#include "agents/git/diff_output.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "agents/git/patch.h"
#include "agents/git/path_rules.h"
#include "base/hash.h"
#include "base/task_group.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view out) : out_(out) {}

  Result<DiffOutput> Read() {
    while (at_ < out_.size() && out_[at_] == ':') {
      if (!ReadRaw()) return Fail();
    }
    while (at_ < out_.size() && out_[at_] != '\0') {
      if (!ReadCounts()) return Fail();
    }
    // Only a NUL separates the lists from the text; an unchanged tree has no text.
    if (at_ < out_.size()) ++at_;
    for (const auto& [path, change] : changes_) diff_.changes.push_back(change);
    diff_.text_at = at_;
    return std::move(diff_);
  }

 private:
  tl::unexpected<Error> Fail() const {
    return MakeError(ErrorCode::kProtocol, "git diff-tree: unexpected output at byte {}", at_);
  }

  std::optional<std::string_view> Next() {
    const std::size_t end = out_.find('\0', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view field = out_.substr(at_, end - at_);
    at_ = end + 1;
    return field;
  }

  // Reads ":100644 100755 OLD NEW M" PATH, or "… R100" OLD_PATH PATH. Of two equal new files one is
  // reported as a copy ("C100"), although copies were not requested.
  bool ReadRaw() {
    const auto head = Next();
    if (!head) return false;
    const auto fields = Split(head->substr(1), ' ');
    if (fields.size() != 5 || fields[4].empty()) return false;
    const auto old_mode = ExactNumber<unsigned>(fields[0], 8);
    const auto new_mode = ExactNumber<unsigned>(fields[1], 8);
    const auto path = Next();
    if (!old_mode || !new_mode || !path || path->empty()) return false;
    PathChange change{.path = std::string(*path),
                      .old_mode = *old_mode,
                      .new_mode = *new_mode,
                      .old_blob = std::string(fields[2]),
                      .new_blob = std::string(fields[3])};
    const char kind = fields[4][0];
    return kind == 'R' || kind == 'C' ? AddMoved(std::move(change), kind) : Add(std::move(change));
  }

  bool AddMoved(PathChange change, char kind) {
    const auto path = Next();
    if (!path || path->empty()) return false;
    const std::string none(change.old_blob.size(), '0');
    PathChange added{.path = std::string(*path),
                     .old_path = change.path,
                     .new_mode = change.new_mode,
                     .old_blob = none,
                     .new_blob = std::exchange(change.new_blob, none)};
    change.new_mode = 0;
    return (kind == 'C' || Add(std::move(change))) && Add(std::move(added));
  }

  bool Add(PathChange change) {
    std::string path = change.path;
    return changes_.emplace(std::move(path), std::move(change)).second;
  }

  // Reads "1\t2\tPATH", or "1\t2\t" OLD_PATH PATH; "-\t-\t" for a binary file.
  bool ReadCounts() {
    const auto line = Next();
    if (!line) return false;
    const std::size_t tab = line->find('\t');
    if (tab == std::string_view::npos) return false;
    const std::size_t second = line->find('\t', tab + 1);
    if (second == std::string_view::npos) return false;
    std::string_view path = line->substr(second + 1);
    if (path.empty()) {
      const auto from = Next(), to = Next();
      if (!from || !to) return false;
      MarkBinary(*from, line->starts_with('-'));
      path = *to;
    }
    const auto found = changes_.find(std::string(path));
    if (found == changes_.end()) return false;
    PathChange& change = found->second;
    ++diff_.stat.files;
    if (line->starts_with('-')) {
      change.binary = true;
      return true;
    }
    const auto added = ExactNumber<std::uint64_t>(line->substr(0, tab), 10);
    const auto deleted = ExactNumber<std::uint64_t>(line->substr(tab + 1, second - tab - 1), 10);
    if (!added || !deleted) return false;
    diff_.stat.added += change.added = *added;
    diff_.stat.deleted += change.deleted = *deleted;
    return true;
  }

  void MarkBinary(std::string_view path, bool binary) {
    const auto found = changes_.find(std::string(path));
    if (found != changes_.end()) found->second.binary = binary;
  }

  const std::string_view out_;
  std::size_t at_ = 0;
  std::map<std::string, PathChange> changes_;
  DiffOutput diff_;
};

}  // namespace

Result<DiffOutput> ParseDiffOutput(std::string_view out) { return Reader(out).Read(); }

namespace {

// Puts the parts of `target` before those still to be resolved.
void Prepend(std::string_view target, std::deque<std::string_view>* ahead) {
  const std::vector<std::string_view> parts = Split(target, '/');
  ahead->insert(ahead->begin(), parts.begin(), parts.end());
}

}  // namespace

std::string TreeLinks::WayOut(std::string_view path) const {
  std::vector<std::string> here;  // folders from the root, with links resolved
  std::deque<std::string_view> ahead;
  Prepend(path, &ahead);
  std::string_view through = path;
  for (int links = 0; !ahead.empty();) {
    const std::string_view part = ahead.front();
    ahead.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (here.empty()) return std::string(through);
      here.pop_back();
      continue;
    }
    if (PathProblem(part)) return std::string(through);
    here.emplace_back(part);
    const auto link = targets_.find(Join(here, "/"));
    if (link == targets_.end()) continue;
    if (++links > kMaxLinksOnAWay) return {};
    through = link->first;
    if (link->second.starts_with('/')) return std::string(through);
    here.pop_back();
    Prepend(link->second, &ahead);
  }
  return {};
}

// The part of patch.h that compares two trees.

namespace {

constexpr std::size_t kMaxListBytes = 256 << 20;  // for names, from git

// Returns the arguments of `git diff-tree` for two trees; `output` contains those for the format.
std::vector<std::string> DiffArguments(std::vector<std::string> output, const std::string& from,
                                       const std::string& to) {
  std::vector<std::string> arguments = {
      "diff-tree",     "-r",         "-M50%",           "--no-ext-diff",
      "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"};
  arguments.insert(arguments.end(), output.begin(), output.end());
  arguments.insert(arguments.end(), {from, to});
  return arguments;
}

// Returns the contents of blobs, from one call; nothing for those that git does not have.
Result<std::vector<std::string>> ReadBlobs(const Git& git, const std::vector<std::string>& blobs,
                                           const CancelToken& cancel) {
  std::vector<std::string> contents(blobs.size());
  if (blobs.empty()) return contents;
  DOSSIER_ASSIGN_OR_RETURN(const std::string out,
                           git.Ask(git.Objects(),
                                   {.arguments = {"cat-file", "--batch=%(objectsize)"},
                                    .input = Join(blobs, "\n") + "\n",
                                    .max_output = kMaxListBytes},
                                   cancel));
  std::string_view rest = out;
  for (std::string& content : contents) {
    const std::size_t line = rest.find('\n');
    if (line == std::string_view::npos) break;
    const auto size = ParseSize(rest.substr(0, line));
    if (!size || *size + 1 > rest.size() - line - 1) break;
    content = rest.substr(line + 1, *size);
    rest.remove_prefix(line + 1 + *size + 1);
  }
  return contents;
}

// Reads all links of `tree`.
Result<TreeLinks> ReadTreeLinks(const Git& git, const std::string& tree,
                                const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string out,
                           git.Ask(git.Objects(),
                                   {.arguments = {"ls-tree", "-r", "-z", "--full-tree", tree},
                                    .max_output = kMaxListBytes},
                                   cancel));
  std::vector<std::string> paths, blobs;
  ForEachAtNul(out, [&](std::string_view entry) {  // "120000 blob OBJECT\tPATH"
    constexpr std::string_view kLink = "120000 blob ";
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with(kLink) || tab == std::string_view::npos) return;
    blobs.emplace_back(entry.substr(kLink.size(), tab - kLink.size()));
    paths.emplace_back(entry.substr(tab + 1));
  });
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> targets, ReadBlobs(git, blobs, cancel));
  TreeLinks links;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    links.Add(std::move(paths[i]), std::move(targets[i]));
  }
  return links;
}

// Sets the targets of links in `changes`, and whether they leave `tree`, also by another link.
Status FollowLinks(const Git& git, const std::string& tree, std::vector<PathChange>* changes,
                   const CancelToken& cancel) {
  std::vector<PathChange*> links;
  std::vector<std::string> blobs;
  for (PathChange& change : *changes) {
    if (change.new_mode != kModeLink) continue;
    links.push_back(&change);
    blobs.push_back(change.new_blob);
  }
  if (links.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> targets, ReadBlobs(git, blobs, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const TreeLinks all, ReadTreeLinks(git, tree, cancel));
  for (std::size_t i = 0; i < links.size(); ++i) {
    links[i]->link_target = std::move(targets[i]);
    links[i]->link_way_out = all.WayOut(links[i]->path);
  }
  return {};
}

}  // namespace

Result<Patch> DiffTrees(const Git& git, const std::string& from, const std::string& to,
                        const DiffOptions& options, const CancelToken& cancel) {
  // In parallel, because git compares all files again for counts and for text.
  Result<std::string> lists;
  Result<ProcessResult> text;
  {
    TaskGroup tasks;
    const auto list = [&] {
      lists = git.Ask(git.Objects(),
                      {.arguments = DiffArguments({"-z", "--raw", "--numstat"}, from, to),
                       .max_output = kMaxListBytes},
                      cancel);
    };
    if (!tasks.Run(list)) list();
    text = git.Run(git.Objects(),
                   {.arguments = DiffArguments({"-p", "--binary", "--full-index"}, from, to),
                    .max_output = options.max_patch_bytes},
                   cancel);
  }
  DOSSIER_RETURN_IF_ERROR(lists);
  DOSSIER_RETURN_IF_ERROR(text);
  if (text->exit_code != 0) {
    return MakeError(ErrorCode::kFailed, "git diff-tree: {}", GitComplaint(*text));
  }
  DOSSIER_ASSIGN_OR_RETURN(DiffOutput diff, ParseDiffOutput(*lists));
  Patch patch{.base = from, .tree = to, .changes = std::move(diff.changes), .stat = diff.stat};
  patch.bytes = text->out.size() + text->out_dropped;
  DOSSIER_RETURN_IF_ERROR(FollowLinks(git, to, &patch.changes, cancel));
  if (text->out_dropped == 0) patch.sha256 = Sha256Hex(text->out);
  if (patch.bytes > options.max_patch_bytes) {
    patch.violations.push_back({.rule = "too-large",
                                .value = fmt::format("{}", patch.bytes),
                                .limit = fmt::format("{}", options.max_patch_bytes)});
  } else if (!options.file.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteStateFile(options.file, text->out, Durability::kSurvivesCrash));
    patch.file = options.file;
  }
  return patch;
}

}  // namespace dossier::agents
