// SUBMIT as a reply makes it outside code: as a tool call, or as text alone on its line.
//
//   const auto found = FindSubmission(reply.tool_calls, extraction.text_outside,
//   ToolUse::kOffered); if (found) Run(found->code);   // SUBMIT({"answer":"42"}), which the
//   session checks and answers
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

// Whether the model can call tools. One that can does it by a call only: its text is then no
// submission, whatever it says.
enum class ToolUse { kOffered, kNotOffered };

struct Submission {
  std::string code;       // of the first
  std::size_t count = 1;  // in the reply
};

std::optional<Submission> FindSubmission(std::span<const model::ToolCall> calls,
                                         std::string_view text_outside, ToolUse tools);

// As the call stands in code: what a transcript shows of a reply that only calls.
std::string SubmissionCode(const model::ToolCall& call);

// The same for every run, so that the prefix of the prompts stays.
assembly::ToolSpec SubmitTool();

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_SUBMIT_H_
