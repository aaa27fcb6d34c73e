// The wire format of a provider: addresses, headers, requests, and hostile replies. What providers
// share (transport, server-sent events, limits, failures) is in provider_client.cc.
//
//   const WireDialect& dialect = *FindDialect("anthropic");
//   WireRequest wire = dialect.build(request, {.entry = entry, .provider = "anthropic"});
//   Result<Reply> reply = dialect.parse(body);
//   auto stream = dialect.stream();
//   stream->Add(event.data);
//   Reply reply = stream->Take();
//
// Thread-safety: pure functions over plain data; a ReplyStream has one owner.

#ifndef DOSSIER_MODEL_DIALECTS_DIALECT_H_
#define DOSSIER_MODEL_DIALECTS_DIALECT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog/catalog.h"
#include "model/client/client.h"

namespace dossier::model {

// No reply may be larger, whether streamed or not.
inline constexpr std::size_t kMaxReplyBytes = 64u << 20;

enum class Streaming { kYes, kNo };

struct WireOptions {
  Entry entry;
  std::string provider;  // "local" also gets cache_prompt and grammar
  Streaming stream = Streaming::kYes;
};

struct WireRequest {
  std::string body;
  std::vector<std::string> warnings;  // what the model does not accept and was left out
};

// Reads a streamed reply, event by event.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // Takes the `data` of one event. Returns the new text, which may be empty. Errors: kNetwork
  // ("malformed reply", or the provider's report); what came before is kept.
  virtual Result<std::string> Add(std::string_view data) = 0;
  // Returns the reply so far; kCut if it did not finish, and then its usage is estimated.
  Reply Take();

  bool finished() const { return finished_; }
  bool started() const { return started_; }  // part of the reply has arrived
  bool closed() const { return closed_; }    // the server announced the end of the stream
  std::size_t thinking_bytes() const { return reply_.thinking.size(); }
  // Returns kYes if the provider calls the last error temporary (overloaded); unset: it is not an
  // error that the provider reported.
  std::optional<Failure::Retry> retry() const { return retry_; }

 protected:
  // Returns the place of the tool call that a piece with this index and id belongs to; calls are in
  // the order of their indexes. Some servers give every call the same index, so another id is
  // another call. Errors: an impossible index, more than kMostToolCalls.
  Result<std::size_t> ToolCallAt(std::int64_t index, std::string_view id);
  // More of the reply arrived, so the usage reported before covers only a part.
  void Grew() {
    started_ = true;
    reply_.usage.estimated = true;
  }
  // Puts blocks into their original order; called by Take.
  virtual void Complete(Reply&) {}

  Reply reply_;
  std::string half_;                    // first half of a character, as ParseLenient keeps it
  std::vector<std::string> arguments_;  // of reply_.tool_calls, as text
  std::vector<std::int64_t> indexes_;   // of reply_.tool_calls, as the server counts them
  bool finished_ = false, started_ = false, closed_ = false;
  std::optional<Failure::Retry> retry_;
};

struct WireDialect {
  std::string_view name;     // "anthropic"
  std::string_view version;  // path before the target, unless the base address ends with one: "/v1"
  // "/messages": the path after base address and version.
  std::string (*target)(const Request& request, Streaming stream);
  // "x-api-key: KEY" and the headers of every request; without a key only the latter.
  std::vector<std::string> (*headers)(std::string_view key);
  std::string_view list_query;  // query for the address of the model list: "?limit=1000"
  WireRequest (*build)(const Request& request, const WireOptions& options);
  // Missing usage stays 0 and is marked as estimated. Errors: kNetwork ("malformed reply", with the
  // reason), kFailed (refused by the provider).
  Result<Reply> (*parse)(std::string_view body);
  // Sets the usage that an answer of any kind reports; implausible values change nothing.
  void (*read_usage)(const Json& value, Reply& reply);
  std::unique_ptr<ReplyStream> (*stream)();
};

extern const WireDialect kOpenAiDialect, kAnthropicDialect, kGeminiDialect;
// Finds "openai", "anthropic" or "gemini"; nullptr for any other name.
const WireDialect* FindDialect(std::string_view name);
// The same, but openai's for any other name: for the local server and scripts.
const WireDialect& DialectOf(std::string_view name);

// Returns the URL for `request`.
std::string AddressOf(const WireDialect& dialect, std::string_view base_url, const Request& request,
                      Streaming stream);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_DIALECT_H_
