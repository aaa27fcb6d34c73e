// A language model, opened: a provider's, the local one, any OpenAI-compatible server, or a script.
//
// [example]
//   dossier::Result<dossier::Model> model = dossier::Model::Open("local");
//   if (!model) return dossier::ExitCode(model.error().code);
//   dossier::Result<dossier::Reply> reply = model->Complete("Name one prime number.");
//   if (reply) std::cout << reply->text << " (" << reply->usage.output_tokens << " tokens)\n";
// [/example]
//
// Which files count: the user's own ($XDG_CONFIG_HOME/dossier/dossier.yml) and the variables that
// hold keys. The configuration of a project, which could redirect data, is never read here.
//
// Units: tokens, US dollars, milliseconds. Errors: kConfig (no such model, with the nearest names),
// kAuth (no key), kNotFound (a script; the local model's weights), kUnavailable (the local model
// cannot run), kNetwork, kRateLimited, kTimeout, kTooLong, kCancelled, kInvalidArgument.
// Ownership: a Model is a handle; copies share one connection, which ends with the last of them. A
// Model that was moved from, or made without Open, is none: functions return kInvalidArgument.
// Thread-safety: one Model may be used from many threads at once; all of them share its limit of
// requests in flight. Callbacks come from other threads, never two at once for one call; progress
// comes from the caller's. They must not block and must not throw.

#ifndef DOSSIER_MODEL_H_
#define DOSSIER_MODEL_H_

#include <dossier/cancel.h>
#include <dossier/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct ModelOptions {
  std::string base_url;                    // of an OpenAI-compatible server; empty: the provider's
  std::string key_env;                     // the variable that holds the key; empty: the provider's
  std::string script;                      // file of replies for the model "scripted"
  std::optional<double> temperature;       // unset: the provider's
  std::optional<std::int64_t> max_output;  // tokens of one reply
  std::optional<std::int64_t> window;      // tokens, of a model that the model data lack
  std::optional<int> concurrency;          // requests in flight
  std::optional<double> price_input;       // dollars for a million tokens; give both or none
  std::optional<double> price_output;
  std::chrono::milliseconds deadline{300'000};   // of one request
  std::chrono::milliseconds idle_limit{60'000};  // silence of one request
  int retries = 4;
  std::string record, replay;  // a file that requests and replies go to, or come from
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // Lines for a person: what the local model does while it starts, warnings.
  std::function<void(std::string_view line)> progress;
  CancelToken cancel;  // of Open alone
};

// One message of a prompt or a conversation.
struct Message {
  std::string role;  // system, user, assistant, tool
  std::string text;

  bool operator==(const Message&) const = default;
};

// What requests took.
struct Usage {
  std::int64_t calls = 0;  // requests; each attempt counts
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::int64_t cached_tokens = 0;  // part of the input
  std::optional<double> usd = 0;   // unset once a price is unknown
  bool estimated = false;          // the provider did not say; counted here
};

struct Reply {
  std::string text;
  std::string finish;  // "stop", "length", "tool_calls", "filter", "cut", "other"
  Usage usage;
};

struct CompleteOptions {
  std::optional<std::int64_t> max_output;              // tokens; unset: the model's
  std::function<void(std::string_view text)> on_text;  // parts of the reply as they arrive
  CancelToken cancel;
};

// Something that happened in a run, as it is recorded.
struct RunEvent {
  std::string run, type;    // "turn.started"
  std::int64_t number = 0;  // within the run, from 1
  std::string time;         // UTC, RFC 3339
  std::string data;         // a JSON object
};

class Model {
 public:
  // `name`: "" (what the user's configuration says, else the first key that is set), "local",
  // "NAME" or "PROVIDER/NAME" of the catalog, "http://HOST/v1#NAME" of any OpenAI-compatible
  // server, "script:FILE" for tests.
  static Result<Model> Open(std::string_view name, const ModelOptions& options = {});

  Model() = default;
  explicit operator bool() const { return impl_ != nullptr; }

  const std::string& name() const;  // as its provider knows it; "" of none
  std::string provider() const;
  std::string description() const;  // for a person: "local Qwen2.5-Coder-1.5B, port 40123"
  std::int64_t window() const;      // tokens of prompt and reply together; 0 of none
  bool has_price() const;           // needed for limits of cost

  // One request. Errors also: kInvalidArgument for a role that is none of those above.
  Result<Reply> Complete(std::string_view prompt, const CompleteOptions& options = {}) const;
  Result<Reply> Complete(const std::vector<Message>& messages,
                         const CompleteOptions& options = {}) const;

  struct Impl;

 private:
  friend class ModelAccess;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace dossier

#endif  // DOSSIER_MODEL_H_
