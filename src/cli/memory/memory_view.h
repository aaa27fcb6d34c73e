// Prints records, hits, writes and branches of memory.
//
//   call.PrintJson({{"hits", HitsJson(hits, Explain::kNo)}});
//   PrintHits(hits, Explain::kYes, Terminal::Detect(), out);
//
// Each item is one line, whatever its text contains, and safe for a terminal. Thread-safety: pure
// except for the stream.

#ifndef DOSSIER_CLI_MEMORY_MEMORY_VIEW_H_
#define DOSSIER_CLI_MEMORY_MEMORY_VIEW_H_

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "cli/terminal/terminal.h"
#include "memory/search/search.h"
#include "memory/store/store.h"

namespace dossier::cli {

enum class Explain : std::uint8_t { kNo, kYes };  // --explain

// Prints `id  score  time  ref  text`, best first, cut to the width of a terminal.
void PrintHits(std::span<const memory::Hit> hits, Explain explain, const Terminal& terminal,
               std::ostream& out);
JsonArray HitsJson(std::span<const memory::Hit> hits, Explain explain);
// Returns one line of the answer to --queries: {"id", "hits": [{"id", "ref", "score", "text"}]}.
JsonObject AnswerJson(const Json& id, std::span<const memory::Hit> hits, Explain explain);

// Indents by depth, children below their parent.
void PrintBranches(const std::vector<memory::Branch>& branches, std::ostream& out);
JsonArray BranchesJson(const std::vector<memory::Branch>& branches);

// Prints `seq  time  branch  actor  op  what  before -> after`.
void PrintHistory(const std::vector<memory::LoggedWrite>& changes, std::ostream& out);
JsonArray HistoryJson(const std::vector<memory::LoggedWrite>& changes);

JsonObject EntryJson(const memory::CoreEntry& entry);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MEMORY_MEMORY_VIEW_H_
