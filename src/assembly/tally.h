// Counting turns and whole requests.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_TALLY_H_
#define DOSSIER_ASSEMBLY_TALLY_H_

#include <cstdint>

#include "assembly/assemble.h"
#include "assembly/messages.h"
#include "tokens/counter.h"

namespace dossier::assembly {

// A request as it will be sent, counted message by message: never a sum of its sections (ASM-59).
struct Tally {
  std::int64_t used = 0;     // tokens of all texts
  std::int64_t framing = 0;  // tokens the provider adds per message and request

  std::int64_t total() const { return used + framing; }
};

Tally CountRequest(const Messages& messages, const Capability& capability,
                   const tokens::Counter& counter);

// Texts, calls, results and images; without framing. An image costs `image_tokens`.
std::int64_t CountTurn(const Turn& turn, const tokens::Counter& counter,
                       std::int64_t image_tokens = 0);
std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_TALLY_H_
