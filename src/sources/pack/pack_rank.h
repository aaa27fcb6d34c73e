// Ranks files by how well they match a task: words in names, declarations, text and imports,
// weighted by how rare they are (BM25 over fields), then links between files by imports and git
// history. A step of Pack.
//
//   const TaskRanking ranking("fix the budget cascade");
//   TaskWordCounts text = ranking.Read(path, code, content);        // in any thread
//   std::vector<Rank> ranks = ranking.Score(paths, texts, git); // all at once
//
// Thread-safety: immutable after construction.

#ifndef DOSSIER_SOURCES_PACK_PACK_RANK_H_
#define DOSSIER_SOURCES_PACK_PACK_RANK_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/pack/pack.h"
#include "sources/repository/code_facts.h"
#include "sources/repository/repo_facts.h"

namespace dossier::sources {

constexpr std::size_t kRankFields = 4;  // path, symbols, imports, text

// Counts of the task's words in a file.
struct TaskWordCounts {
  std::vector<std::array<std::uint32_t, kRankFields>> counts;  // by word of the task
  std::array<std::uint32_t, kRankFields> lengths{};            // number of words in each field
  std::vector<std::string> imports;
};

struct Rank {
  double score = 0;
  std::vector<std::string> reasons;  // "budget 2.31 (name, symbols)", largest first
};

class TaskRanking {
 public:
  explicit TaskRanking(std::string_view task);

  bool empty() const { return words_.empty(); }
  TaskWordCounts Read(std::string_view path, const CodeFacts& code, std::string_view text) const;
  std::vector<Rank> Score(const std::vector<std::string>& paths,
                          const std::vector<TaskWordCounts>& texts, const GitFacts* git) const;

 private:
  std::vector<std::string> words_;  // without their endings, sorted, no duplicates
  std::vector<std::string> given_;  // the same words as in the task
};

// Orders files so that those that change often come late, and chooses their forms so that all fit.
// Steps of Pack.
//
// Thread-safety: pure functions.

// An item to be ordered. `unchanged`: as in HEAD.
struct OrderKey {
  std::string path;
  bool unchanged = false;
};

// Returns the indices of `keys` in their new order. `order` must not be kDefault. kChanged: by last
// commit, oldest first (first those older than the newest 1,000 commits), then modified, then
// untracked files; ties by path bytes. kSticky: the order of `manifest`, then new files by path.
std::vector<std::size_t> OrderFiles(PackOrder order, const std::vector<OrderKey>& keys,
                                    const GitFacts* git, const std::vector<std::string>& manifest);

// Returns a manifest: one path a line, with line ends in names as %0A or %0D and percent as %25.
std::string WriteManifest(const PackedFiles& packed);
// Errors: kDamaged with the line.
Result<std::vector<std::string>> ReadManifest(std::string_view text, std::string_view file);

// Sets `form` and `why` of files so that their tokens are at most `tokens`. Among files of equal
// priority all become outlines before any is only named, the largest first. Remaining budget then
// restores files, the most important first.
void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files);

// Returns the tokens of `file` in `form`, without its line in the list.
std::int64_t TokensOf(const PackedFile& file, Form form);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_RANK_H_
