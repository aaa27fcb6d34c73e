// The Gemini dialect: generateContent, and its stream as server-sent events. See dialect.h.
//
// Requests: the system text is systemInstruction; roles are user and model; the results of one
// turn's calls are one user message, by the functions' names. Signatures of thoughts go back with
// their part (Block::provider_data under "gemini"). `--param` values that are no field of the
// request become fields of generationConfig. Replies: a prompt that the safety rules block is an
// error that names the reason; a reply that they end keeps its text, with Finish::kFilter.

#ifndef DOSSIER_MODEL_DIALECTS_GEMINI_WIRE_H_
#define DOSSIER_MODEL_DIALECTS_GEMINI_WIRE_H_

#include "model/dialects/dialect.h"

namespace dossier::model {

WireRequest BuildGeminiBody(const Request& request, const WireOptions& options);
Result<Reply> ParseGeminiReply(std::string_view body);
void ReadGeminiUsage(const Json& value, Reply& reply);

class GeminiStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 private:
  void Complete(Reply& reply) override;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_GEMINI_WIRE_H_
