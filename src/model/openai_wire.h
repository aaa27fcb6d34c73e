// The JSON of the OpenAI-compatible API: requests out, hostile replies in (MOD-10, 14).
//
//   WireRequest wire = BuildRequestBody(request, {.entry = entry, .provider = "openai"});
//   Result<Reply> reply = ParseReply(body, wire_options);
//   ReplyStream stream; stream.Add(event.data); Reply reply = stream.Take();
//
// Thread-safety: pure functions; a ReplyStream has one owner.

#ifndef DOSSIER_MODEL_OPENAI_WIRE_H_
#define DOSSIER_MODEL_OPENAI_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/client.h"
#include "model/openai_client.h"

namespace dossier::model {

// No reply may be larger, streamed or not.
inline constexpr std::size_t kMaxReplyBytes = 64u << 20;

struct WireOptions {
  Entry entry;
  std::string provider;  // "local" gets cache_prompt and grammar too
  OpenAiOptions::Stream stream = OpenAiOptions::Stream::kYes;
};

struct WireRequest {
  std::string body;
  std::vector<std::string> warnings;  // what the model does not take, and so was left out
};

WireRequest BuildRequestBody(const Request& request, const WireOptions& options);

// A whole reply. Usage that is missing is left at 0 and marked as estimated.
// Errors: kNetwork ("malformed reply", with what is wrong and where).
Result<Reply> ParseReply(std::string_view body);

// A streamed reply, chunk by chunk.
class ReplyStream {
 public:
  // `data` of one event. Gives the new text, which may be empty.
  // Errors: as ParseReply; what came before stays.
  Result<std::string> Add(std::string_view data);
  // The reply so far; kCut if no finish came.
  Reply Take();

  bool finished() const { return finished_; }
  bool started() const { return started_; }  // something of the reply arrived
  std::size_t text_bytes() const { return reply_.text.size(); }

 private:
  Status AddToolCall(const Json& delta);

  Reply reply_;
  std::vector<std::string> arguments_;  // of reply_.tool_calls, as text
  bool finished_ = false, started_ = false;
};

// What a request and a reply cost if the provider does not say: four bytes a token.
void EstimateMissingUsage(const Request& request, Reply* reply);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_OPENAI_WIRE_H_
