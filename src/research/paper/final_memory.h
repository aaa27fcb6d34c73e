// The memory of a run as one document, which the paper is written from.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FinalMemory memory, MakeFinalMemory(services, results, cancel));
//   request.sections.push_back({"final_memory", memory.text});
//
// Written with no best node, with no memory and with no model, too: then from what is there.
// Errors: those of Caller::Call and of the memory store; kIo.

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

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_FINAL_MEMORY_H_
