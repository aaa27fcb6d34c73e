// Recognizes SUBMIT outside code in a reply: as a tool call, or as the only text on its line.
//
//   const auto found =
//       FindSubmission(reply.tool_calls, extraction.text_outside, ToolUse::kOffered);
//   if (found) Run(found->code);  // SUBMIT({"answer":"42"}), which the session checks
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_REPLY_SUBMIT_H_
#define DOSSIER_ASK_REPLY_SUBMIT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assembly/layout/messages.h"
#include "model/client/client.h"

namespace dossier::ask {

// Whether the model can call tools. A model that can must submit by a call; its text is then never
// a submission.
enum class ToolUse { kOffered, kNotOffered };

struct Submission {
  std::string code;       // of the first submission
  std::size_t count = 1;  // submissions in the reply
};

std::optional<Submission> FindSubmission(std::span<const model::ToolCall> calls,
                                         std::string_view text_outside, ToolUse tools);

// Returns the call as code, which a transcript shows for a reply that only calls.
std::string SubmissionCode(const model::ToolCall& call);

// The same for every run, so that the prompts keep a common prefix.
assembly::ToolSpec SubmitTool();

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_SUBMIT_H_
