// Which files a task is about: words in names, declarations, text and imports, weighed by how rare
// they are (BM25 over fields), then imports and git history between files. A step of Pack.
//
//   const Ranking ranking("fix the budget cascade");
//   RankedText text = ranking.Read(path, code, content);        // in any thread
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

#include "sources/repository/code_facts.h"
#include "sources/repository/git_facts.h"

namespace dossier::sources {

constexpr std::size_t kRankFields = 4;  // path, symbols, imports, text

// How often the words of the task stand in a file.
struct RankedText {
  std::vector<std::array<std::uint32_t, kRankFields>> counts;  // by word of the task
  std::array<std::uint32_t, kRankFields> lengths{};            // words of each field
  std::vector<std::string> imports;
};

struct Rank {
  double score = 0;
  std::vector<std::string> reasons;  // "budget 2.31 (name, symbols)", the greatest first
};

class Ranking {
 public:
  explicit Ranking(std::string_view task);

  bool empty() const { return words_.empty(); }
  RankedText Read(std::string_view path, const CodeFacts& code, std::string_view text) const;
  std::vector<Rank> Score(const std::vector<std::string>& paths,
                          const std::vector<RankedText>& texts, const GitFacts* git) const;

 private:
  std::vector<std::string> words_;  // without their endings, sorted, once each
  std::vector<std::string> given_;  // the same as they stand in the task
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_RANK_H_
