// The memory of one call: renders it for the prompt and applies the updates in the reply.
//
//   CallMemory memory(parts, site, request);
//   if (memory.on()) DOSSIER_ASSIGN_OR_RETURN(const MemoryText shown, memory.Render());
//
// An update block is applied exactly once, even if the process is killed: the journal records it,
// and until the journal is written the memory store does. Thread-safety: one owner.

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
  std::string help;  // describes the operations
  std::string text;  // "" if there is nothing
  JsonObject accounting;
};

class CallMemory {
 public:
  CallMemory(CallParts& parts, const CallSite& site, const CallRequest& request);

  // Returns true if both this call and the run use memory.
  bool on() const { return port_.has_value(); }
  memory::RoundLimits Limits() const;

  // Moves what exceeds the branch's limits to archival memory, if the run does that.
  Status MakeRoom();
  Result<MemoryText> Render() const;
  // Applies the update block of the reply at `place` ("NODE/draft/a1/r2") and returns the text that
  // its read operations gave; "" if there is no block.
  Result<std::string> Apply(const memory::ParsedReply& reply, std::string_view place,
                            const PromptEntry& entry);

 private:
  std::string Query() const;
  Result<memory::UpdateResult> RunBlock(const memory::UpdateBlock& block, std::string_view place);

  CallParts& parts_;
  const CallSite& site_;
  const CallRequest& request_;
  std::optional<driver::MemoryPort> port_;  // none if the call has no memory
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_MEMORY_H_
