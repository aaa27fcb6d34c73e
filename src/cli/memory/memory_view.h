// How records, hits, writes and branches of memory are printed.
//
//   call.PrintJson({{"hits", HitsJson(hits, Explain::kNo)}});
//   PrintHits(hits, Explain::kYes, Terminal::Detect(), out);
//
// Lines are one line each, whatever a text holds, and safe for a terminal. Thread-safety: pure but
// for the stream.

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

// `id  score  time  ref  text`, best first; on a terminal cut to its width.
void PrintHits(std::span<const memory::Hit> hits, Explain explain, const Terminal& terminal,
               std::ostream& out);
JsonArray HitsJson(std::span<const memory::Hit> hits, Explain explain);
// A line of the answer to --queries: {"id", "hits": [{"id", "ref", "score", "text"}]}.
JsonObject AnswerJson(const Json& id, std::span<const memory::Hit> hits, Explain explain);

// Indented by depth, children below their parent.
void PrintBranches(const std::vector<memory::Branch>& branches, std::ostream& out);
JsonArray BranchesJson(const std::vector<memory::Branch>& branches);

// `seq  time  branch  actor  op  what  before -> after`.
void PrintHistory(const std::vector<memory::LoggedWrite>& changes, std::ostream& out);
JsonArray HistoryJson(const std::vector<memory::LoggedWrite>& changes);

JsonObject EntryJson(const memory::CoreEntry& entry);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MEMORY_MEMORY_VIEW_H_
