// The OpenAI-compatible dialect: /chat/completions. Also spoken by OpenRouter, vLLM, llama.cpp and
// most pools. See dialect.h.

#ifndef DOSSIER_MODEL_DIALECTS_OPENAI_WIRE_H_
#define DOSSIER_MODEL_DIALECTS_OPENAI_WIRE_H_

#include "model/dialects/dialect.h"

namespace dossier::model {

WireRequest BuildOpenAiBody(const Request& request, const WireOptions& options);
Result<Reply> ParseOpenAiReply(std::string_view body);
void ReadOpenAiUsage(const Json& value, Reply& reply);

class OpenAiStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 private:
  Result<std::string> AddChoice(const Json& choice);
  Status AddToolCall(const Json& delta);
  void End(std::string_view reason);

  bool refused_ = false;  // the text is the words of a refusal
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_OPENAI_WIRE_H_
