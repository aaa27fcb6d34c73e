// The memory of a run as one document, which the paper is written from.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FinalMemory memory, MakeFinalMemory(services, results, cancel));
//   request.sections.push_back({"final_memory", memory.text});
//
// Written with no best node, with no memory and with no model, too: then from what is there.
// Errors: those of Caller::Call and of the memory store; kIo.
//
// Thread-safety: called by the thread of the run alone.

#ifndef DOSSIER_RESEARCH_PAPER_FINAL_MEMORY_H_
#define DOSSIER_RESEARCH_PAPER_FINAL_MEMORY_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"

namespace dossier::research {

struct FinalMemory {
  std::string text;  // Markdown: every heading once, always in the same order
  std::vector<std::string> warnings;
};

// Writes memory/final_memory_for_paper.md.
Result<FinalMemory> MakeFinalMemory(const Services& services, const RunResults& results,
                                    const CancelToken& cancel);

// What memory knows for each section of a paper (`paper_section_mode`).
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text,
//                            PaperSections(services, results, &warnings, cancel));
//
// `idea_then_memory`: an outline of exactly `paper_section_count` sections, each filled from ranked
// search. `memory_summary`: one reply over the whole of memory. Without a model, or an answer, the
// outline is a fixed one and sections hold what was found, as it is. Errors: those of Caller::Call
// and of the memory store.

struct PaperSection {
  std::string name;  // "experimental_setup"
  std::string description;

  bool operator==(const PaperSection&) const = default;
};

// The fixed outline: `count` sections, at least 3; experimental_setup and results among them.
std::vector<PaperSection> FixedOutline(int count);
// An outline as a model gave it, made to fit: names as identifiers, each once, experimental_setup
// and results added, then cut or filled up from the fixed one to `count`.
std::vector<PaperSection> FittedOutline(std::vector<PaperSection> outline, int count);

// Markdown: `### name` and a text each; "" without a memory store.
Result<std::string> PaperSections(const Services& services, const RunResults& results,
                                  std::vector<std::string>* warnings, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_FINAL_MEMORY_H_
