// One call, from its first prompt to an answer or a failure: the rounds of memory, the journal, the
// prompt logs.
//
//   return CallRun(parts, *FindCallSite("draft"), request, cancel).Run();
//
// Thread-safety: one owner.

#ifndef DOSSIER_RESEARCH_CALL_CALL_RUN_H_
#define DOSSIER_RESEARCH_CALL_CALL_RUN_H_

#include <optional>
#include <string>

#include "memory/blocks/rounds.h"
#include "research/call/call_memory.h"
#include "research/call/call_parts.h"

namespace dossier::research {

class CallRun {
 public:
  CallRun(CallParts& parts, const CallSite& site, const CallRequest& request,
          const CancelToken& cancel);

  Result<CallOutcome> Run() &&;
  // The first prompt and its report; nothing is sent or written.
  Result<JsonObject> Preview() &&;

 private:
  Result<std::string> Ask(const memory::Ask& ask);
  Status Send(const memory::Ask& ask);
  Status Check(std::string_view payload);
  void CountRound(const memory::Ask& ask);
  Status LogSent(const memory::Ask& ask, const assembly::Assembled& prompt,
                 const model::Request& request, const std::optional<MemoryText>& memory);
  Status WritePrompt(const assembly::Assembled& prompt, const std::optional<MemoryText>& memory);
  Status KeepReply(const model::Reply& reply);
  void TakeWarnings(const JsonObject& replied);
  Result<CallOutcome> Answer(const memory::RoundsOutcome& rounds);
  Result<CallOutcome> Fail(const memory::RoundsFailure& failure);
  std::string Place() const;  // "NODE/LABEL/aATTEMPT/rROUND"
  bool logs() const { return parts_.options().prompt_logs == CallerOptions::PromptLogs::kOn; }

  CallParts& parts_;
  const CallSite& site_;
  const CallRequest& request_;
  const CancelToken& cancel_;
  CallMemory memory_;
  const std::string label_, base_;  // base_: "NODE/LABEL"
  const driver::BoundModel* model_ = nullptr;
  PromptEntry entry_;  // of the round that is asked; attempt 0: for memory alone
  CallOutcome outcome_;
};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_CALL_CALL_RUN_H_
