// How one provider speaks: addresses, headers, requests out, hostile replies in. What all share
// (transport, server-sent events, limits, failures) is in provider_client.cc.
//
//   const WireDialect& dialect = *FindDialect("anthropic");
//   WireRequest wire = dialect.build(request, {.entry = entry, .provider = "anthropic"});
//   Result<Reply> reply = dialect.parse(body);
//   auto stream = dialect.stream(); stream->Add(event.data); Reply reply = stream->Take();
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

// No reply may be larger, streamed or not.
inline constexpr std::size_t kMaxReplyBytes = 64u << 20;

enum class Streaming { kYes, kNo };

struct WireOptions {
  Entry entry;
  std::string provider;  // "local" gets cache_prompt and grammar too
  Streaming stream = Streaming::kYes;
};

struct WireRequest {
  std::string body;
  std::vector<std::string> warnings;  // what the model does not take, and so was left out
};

// A streamed reply, event by event.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // `data` of one event. Gives the new text, which may be empty.
  // Errors: kNetwork ("malformed reply", or what the provider reports); what came before stays.
  virtual Result<std::string> Add(std::string_view data) = 0;
  // The reply so far; kCut if no finish came, and then its usage is estimated.
  Reply Take();

  bool finished() const { return finished_; }
  bool started() const { return started_; }  // something of the reply arrived
  bool closed() const { return closed_; }    // the server said that nothing more will come
  std::size_t thinking_bytes() const { return reply_.thinking.size(); }
  // Of the last error: whether the provider says that it may pass (overloaded); unset: it is not an
  // error that the provider reports.
  std::optional<Failure::Retry> retry() const { return retry_; }

 protected:
  // The place of the tool call that a piece with this index and id belongs to; calls stand in the
  // order of their indexes. Some servers give every call the same index: another id is another
  // call. Errors: an impossible index, more than kMostToolCalls.
  Result<std::size_t> ToolCallAt(std::int64_t index, std::string_view id);
  // Something of the reply arrived: what was said of its usage before is of a part.
  void Grew() {
    started_ = true;
    reply_.usage.estimated = true;
  }
  // Puts blocks into the order in which they came; called by Take.
  virtual void Complete(Reply&) {}

  Reply reply_;
  std::vector<std::string> arguments_;  // of reply_.tool_calls, as text
  std::vector<std::int64_t> indexes_;   // of reply_.tool_calls, as the server counts them
  bool finished_ = false, started_ = false, closed_ = false;
  std::optional<Failure::Retry> retry_;
};

struct WireDialect {
  std::string_view name;     // "anthropic"
  std::string_view version;  // path before the target, unless the base address ends with one: "/v1"
  // "/messages": what follows base address and version.
  std::string (*target)(const Request& request, Streaming stream);
  // "x-api-key: KEY", and what else every request carries; without a key only the rest.
  std::vector<std::string> (*headers)(std::string_view key);
  std::string_view list_query;  // behind the address of the list of models: "?limit=1000"
  WireRequest (*build)(const Request& request, const WireOptions& options);
  // Usage that is missing is left at 0 and marked as estimated.
  // Errors: kNetwork ("malformed reply", with what is wrong), kFailed (refused by the provider).
  Result<Reply> (*parse)(std::string_view body);
  // Sets the usage that an answer of any kind says; without one that can be true nothing changes.
  void (*read_usage)(const Json& value, Reply& reply);
  std::unique_ptr<ReplyStream> (*stream)();
};

extern const WireDialect kOpenAiDialect, kAnthropicDialect, kGeminiDialect;
// "openai", "anthropic", "gemini"; nullptr for any other name.
const WireDialect* FindDialect(std::string_view name);
// The same, and openai's for any other name: of the local server and of scripts.
const WireDialect& DialectOf(std::string_view name);

// Where `request` goes.
std::string AddressOf(const WireDialect& dialect, std::string_view base_url, const Request& request,
                      Streaming stream);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_DIALECT_H_
