// Writes the memory of a run as one document, from which the paper is written.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FinalMemory memory, MakeFinalMemory(services, results, cancel));
//   request.sections.push_back({"final_memory", memory.text});
//
// It is also written without a best node, without memory or without a model, from what is
// available. Errors: those of RoleCaller::Call and of the memory store; kIo.
//
// Thread-safety: called only by the run's thread.

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

// Collects what memory contains for each section of a paper (`paper_section_mode`).
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string text,
//                            PaperSections(services, results, &warnings, cancel));
//
// `idea_then_memory`: an outline of exactly `paper_section_count` sections, each filled by ranked
// search. `memory_summary`: one reply over the whole memory. Without a model, or without an answer,
// a fixed outline is used, and sections hold the search results unchanged. Errors: those of
// RoleCaller::Call and of the memory store.

struct PaperSection {
  std::string name;  // "experimental_setup"
  std::string description;

  bool operator==(const PaperSection&) const = default;
};

// Returns a fixed outline of `count` sections, at least 3, with experimental_setup and results.
std::vector<PaperSection> FixedOutline(int count);
// Normalises a model's outline: names become unique identifiers, experimental_setup and results are
// added, then it is cut or extended from the fixed one to `count`.
std::vector<PaperSection> FittedOutline(std::vector<PaperSection> outline, int count);

// Returns Markdown, `### name` and a text per section; "" without a memory store.
Result<std::string> PaperSections(const Services& services, const RunResults& results,
                                  std::vector<std::string>* warnings, const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_FINAL_MEMORY_H_
