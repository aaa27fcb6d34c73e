// Opens a language model: a provider's, the local one, an OpenAI-compatible server, or a script.
//
// [example]
//   dossier::Result<dossier::Model> model = dossier::Model::Open("local");
//   if (!model) return dossier::ExitCode(model.error().code);
//   dossier::Result<dossier::Reply> reply = model->Complete("Name one prime number.");
//   if (reply) std::cout << reply->text << " (" << reply->usage.output_tokens << " tokens)\n";
// [/example]
//
// Only the user's own configuration ($XDG_CONFIG_HOME/dossier/dossier.yml) and the environment
// variables that hold keys are read, never a project's configuration, which could redirect data.
//
// Units: tokens, US dollars, milliseconds. Errors: kConfig (no such model, with the nearest names),
// kAuth (no key), kNotFound (a script; the local model's weights), kUnavailable (the local model
// cannot run), kNetwork, kRateLimited, kTimeout, kTooLong, kCancelled, kInvalidArgument. Ownership:
// a Model is a handle; copies share one connection, which closes with the last copy. A Model that
// was moved from, or made without Open, is empty: functions return kInvalidArgument for it.
// Thread-safety: one Model may be used from many threads at once, which share its limit on requests
// in flight. Callbacks come from other threads, never two at once for one call; `progress` is
// called in the caller's thread. They must not block or throw.

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
  std::string base_url;               // of an OpenAI-compatible server; empty: the provider's
  std::string key_env;                // environment variable with the key; empty: the provider's
  std::string script;                 // file with the replies of the model "scripted"
  std::optional<double> temperature;  // unset: the provider's default
  std::optional<std::int64_t> max_output;  // tokens per reply
  std::optional<std::int64_t> window;      // tokens, for models missing from the model data
  std::optional<int> concurrency;          // maximum number of requests in flight
  std::optional<double> price_input;  // US dollars per million tokens; set both prices or neither
  std::optional<double> price_output;
  std::chrono::milliseconds deadline{300'000};   // per request
  std::chrono::milliseconds idle_limit{60'000};  // longest silence within a request
  int retries = 4;
  std::string record, replay;  // file to write requests and replies to, or to read them from
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // Gets lines for a person: startup progress of the local model, and warnings.
  std::function<void(std::string_view line)> progress;
  CancelToken cancel;  // cancels Open only
};

// One message of a prompt or a conversation.
struct Message {
  std::string role;  // system, user, assistant, tool
  std::string text;

  bool operator==(const Message&) const = default;
};

// The resources that requests used.
struct Usage {
  std::int64_t calls = 0;  // requests sent; each attempt counts
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::int64_t cached_tokens = 0;  // part of input_tokens
  std::optional<double> usd = 0;   // unset once a price is unknown
  bool estimated = false;          // the provider reported no counts, so they were counted here
};

struct Reply {
  std::string text;
  std::string finish;  // "stop", "length", "tool_calls", "filter", "refusal", "cut", "other"
  Usage usage;
};

struct CompleteOptions {
  std::optional<std::int64_t> max_output;              // tokens; unset: the model's limit
  std::function<void(std::string_view text)> on_text;  // parts of the reply as they arrive
  CancelToken cancel;
};

// An event of a run, as recorded in its journal.
struct RunEvent {
  std::string run, type;    // type: "turn.started"
  std::int64_t number = 0;  // within the run, from 1
  std::string time;         // UTC, RFC 3339
  std::string data;         // a JSON object
};

class Model {
 public:
  // `name` is "" (the user's configured model, else that of the first key that is set), "local",
  // "NAME" or "PROVIDER/NAME" from the catalog, "http://HOST/v1#NAME" for an OpenAI-compatible
  // server, or "script:FILE" for tests.
  static Result<Model> Open(std::string_view name, const ModelOptions& options = {});

  Model() = default;
  explicit operator bool() const { return impl_ != nullptr; }

  const std::string& name() const;  // the provider's name for it; "" if empty
  std::string provider() const;
  std::string description() const;  // for a person: "local Qwen2.5-Coder-1.5B, port 40123"
  std::int64_t window() const;      // tokens of prompt and reply together; 0 if empty
  bool has_price() const;           // required for cost limits

  // Sends one request. Additional error: kInvalidArgument for an unknown role.
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
