// The half of patch.h that compares two trees.

#include <utility>

#include "agents/git/diff_output.h"
#include "agents/git/patch.h"
#include "agents/git/tree_links.h"
#include "base/hash.h"
#include "base/task_group.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

constexpr std::size_t kMaxListBytes = 256 << 20;  // of names, from git

// The arguments of `git diff-tree` for two trees; `output` holds those that choose its format.
std::vector<std::string> DiffArguments(std::vector<std::string> output, const std::string& from,
                                       const std::string& to) {
  std::vector<std::string> arguments = {
      "diff-tree",     "-r",         "-M50%",           "--no-ext-diff",
      "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"};
  arguments.insert(arguments.end(), output.begin(), output.end());
  arguments.insert(arguments.end(), {from, to});
  return arguments;
}

// The content of blobs, in one call; of those that git does not have nothing.
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

// All links of `tree`.
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

// Where the links among `changes` lead, and whether they leave `tree` behind another one.
Status FollowLinks(const Git& git, const std::string& tree, std::vector<Change>* changes,
                   const CancelToken& cancel) {
  std::vector<Change*> links;
  std::vector<std::string> blobs;
  for (Change& change : *changes) {
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
  // Side by side: for counts and for text git compares all files anew.
  Result<std::string> lists;
  Result<ProcessResult> text;
  {
    TaskGroup tasks;
    tasks.Run([&] {
      lists = git.Ask(git.Objects(),
                      {.arguments = DiffArguments({"-z", "--raw", "--numstat"}, from, to),
                       .max_output = kMaxListBytes},
                      cancel);
    });
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
