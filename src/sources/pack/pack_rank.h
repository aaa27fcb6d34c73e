// Ranks files by how well they fit a task: words in names, declarations, text and imports, weighed
// by how rare they are (BM25 over fields), then imports and git history between files. A step of
// Pack.
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

// How often the words of the task stand in a file.
struct TaskWordCounts {
  std::vector<std::array<std::uint32_t, kRankFields>> counts;  // by word of the task
  std::array<std::uint32_t, kRankFields> lengths{};            // words of each field
  std::vector<std::string> imports;
};

struct Rank {
  double score = 0;
  std::vector<std::string> reasons;  // "budget 2.31 (name, symbols)", the greatest first
};

class TaskRanking {
 public:
  explicit TaskRanking(std::string_view task);

  bool empty() const { return words_.empty(); }
  TaskWordCounts Read(std::string_view path, const CodeFacts& code, std::string_view text) const;
  std::vector<Rank> Score(const std::vector<std::string>& paths,
                          const std::vector<TaskWordCounts>& texts, const GitFacts* git) const;

 private:
  std::vector<std::string> words_;  // without their endings, sorted, once each
  std::vector<std::string> given_;  // the same as they stand in the task
};

// In which order files stand, so that what changes often stands late, and in which form, so that
// all fit. Steps of Pack.
//
// Thread-safety: pure functions.

// What is ordered; `unchanged`: as in HEAD.
struct OrderKey {
  std::string path;
  bool unchanged = false;
};

// Indices of `keys` in their new order. `order` is not kDefault. kChanged: last commit oldest first
// (those before the newest 1,000 commits foremost), then modified files, then untracked ones; ties
// by the bytes of the path. kSticky: the order of `manifest`, new files behind by path.
std::vector<std::size_t> OrderFiles(PackOrder order, const std::vector<OrderKey>& keys,
                                    const GitFacts* git, const std::vector<std::string>& manifest);

// A manifest as text: one path a line; a line end in a name is %0A or %0D, a percent sign %25.
std::string WriteManifest(const PackedFiles& packed);
// Errors: kDamaged with the line.
Result<std::vector<std::string>> ReadManifest(std::string_view text, std::string_view file);

// Shrinks files until they fit: sets `form` and `why` so that the tokens of the files come to at
// most `tokens`. Of one priority all become outlines before one is only named, the largest first;
// then what is left over brings files back, the most important first.
void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files);

// Tokens of `file` in `form`, without its line in the list.
std::int64_t TokensOf(const PackedFile& file, Form form);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_RANK_H_
