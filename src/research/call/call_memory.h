// The memory of one call: what its prompt shows, and what its reply changes.
//
//   CallMemory memory(parts, site, request);
//   if (memory.on()) DOSSIER_ASSIGN_OR_RETURN(const MemoryText shown, memory.Render());
//
// A block is applied once, whatever is killed when: the journal knows that it was, and between the
// block and the journal the store does. Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_CALL_CALL_MEMORY_H_
#define DOSSIER_RESEARCH_CALL_CALL_MEMORY_H_

#include <optional>
#include <string>
#include <string_view>

#include "driver/memory_port.h"
#include "memory/blocks/reply.h"
#include "memory/blocks/rounds.h"
#include "research/call/call_parts.h"

namespace dossier::research {

struct MemoryText {
  std::string help;  // of the operations
  std::string text;  // "": there is nothing
  JsonObject accounting;
};

class CallMemory {
 public:
  CallMemory(CallParts& parts, const CallSite& site, const CallRequest& request);

  // The call has memory, and the run too.
  bool on() const { return port_.has_value(); }
  memory::RoundLimits Limits() const;

  // Moves what is too much for the branch to archival memory, if the run does that.
  Status MakeRoom();
  Result<MemoryText> Render() const;
  // Applies the block of the reply at `place` ("NODE/draft/a1/r2") and gives the text of what was
  // read; "" without a block.
  Result<std::string> Apply(const memory::ParsedReply& reply, std::string_view place,
                            const PromptEntry& entry);

 private:
  std::string Query() const;
  Result<memory::UpdateResult> RunBlock(const memory::UpdateBlock& block, std::string_view place);

  CallParts& parts_;
  const CallSite& site_;
  const CallRequest& request_;
  std::optional<driver::MemoryPort> port_;  // none: the call has no memory
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_MEMORY_H_
