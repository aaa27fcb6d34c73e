// The Anthropic dialect: /v1/messages, version 2023-06-01. See dialect.h.
//
// Requests: the system text is a field; tool results stand in the next user message; neighbours of
// one role are one message; `max_tokens` is always sent. Thinking blocks of this provider go back
// unchanged (Block::provider_data under "anthropic"), those of others do not. `cache_control` comes
// from Block::cache, as far as the entry allows. Replies: `usage.input` counts cached and written
// tokens too.

#ifndef DOSSIER_MODEL_DIALECTS_ANTHROPIC_WIRE_H_
#define DOSSIER_MODEL_DIALECTS_ANTHROPIC_WIRE_H_

#include "model/dialects/dialect.h"

namespace dossier::model {

WireRequest BuildAnthropicBody(const Request& request, const WireOptions& options);
Result<Reply> ParseAnthropicReply(std::string_view body);
void ReadAnthropicUsage(const Json& value, Reply& reply);

class AnthropicStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 private:
  // One content block between its start and its stop.
  struct Piece {
    Json start;        // as it was announced
    std::string text;  // of text and thinking, or a tool's arguments
    std::string signature;
  };

  Result<Piece*> PieceAt(const Json& event);
  Result<std::string> Begin(const Json& event);
  Result<std::string> AddDelta(const Json& event);
  void Complete(Reply& reply) override;

  std::vector<Piece> pieces_;
  Json usage_;  // the fields that came so far
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_ANTHROPIC_WIRE_H_
