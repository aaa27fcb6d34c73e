// Counting turns and whole requests.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_TALLY_H_
#define DOSSIER_ASSEMBLY_FIT_TALLY_H_

#include <cstdint>
#include <span>

#include "assembly/assemble.h"
#include "assembly/layout/messages.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

// A request as it will be sent, counted message by message: never a sum of its sections.
struct Tally {
  std::int64_t used = 0;     // tokens of all texts
  std::int64_t framing = 0;  // tokens the provider adds per message and request

  std::int64_t total() const { return used + framing; }
};

Tally CountRequest(const Messages& messages, const Capability& capability,
                   const tokens::Counter& counter);

// Of one message: texts as they are joined, calls, results, thinking and images; without framing.
// An image costs `image_tokens`. Texts that were measured are not counted again.
std::int64_t CountBlocks(std::span<const Block> blocks, const tokens::Counter& counter,
                         std::int64_t image_tokens);
std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_TALLY_H_
