// A model that answers by rules: for tests, demonstrations, and any client through `serve-script`.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto script, Script::Load("replies.yaml"));
//   std::shared_ptr<Client> client = MakeScriptedClient(script, clock);
//
// A rule may have the conditions `when` (a regular expression for the last message), `purpose`,
// `turn` and `path`. It gives `reply`, `thinking`, `tool_calls`, `finish`, `delay`, `usage`,
// `logprobs`, `fail: {status, body, headers, cut_after}`, and matches `times` requests: a number or
// `always`. Without `times` a rule with conditions always matches, one without matches once.
//
// Replies are returned as written: Sampling::stop is not applied.
//
// Thread-safety: a Script may be used from any thread; it counts each match once.

#ifndef DOSSIER_MODEL_SCRIPTED_SCRIPTED_H_
#define DOSSIER_MODEL_SCRIPTED_SCRIPTED_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "model/catalog/catalog.h"
#include "model/client/client.h"

namespace dossier::model {

class Script {
 public:
  // YAML or JSON: a list of rules, or {rules: […]}; a plain string is a rule with that reply.
  // Errors: kConfig with FILE:LINE:COL.
  static Result<std::shared_ptr<Script>> Load(const std::string& path);
  static Result<std::shared_ptr<Script>> Parse(std::string_view yaml, std::string_view name);
  virtual ~Script() = default;

  struct Answer {
    std::string text, thinking;
    std::vector<ToolCall> tool_calls;
    Finish finish = Finish::kStop;
    Millis delay{0};
    int fail_status = 0;  // HTTP status to fail with; 0: none
    std::string fail_body;
    std::vector<std::pair<std::string, std::string>> fail_headers;  // "Retry-After": "1"
    std::optional<std::size_t> cut_after;   // bytes of the reply before the connection breaks
    std::optional<Usage> usage;             // unset: estimated, four bytes a token
    std::vector<TokenChance> first_tokens;  // returned to a request that asks for them
  };
  // Answers by the first matching rule that is not used up. Errors: kFailed, showing the request.
  virtual Result<Answer> Next(const Request& request) = 0;
};

// A reply costs according to the prices of `entry`; nothing without an entry.
std::shared_ptr<Client> MakeScriptedClient(std::shared_ptr<Script> script,
                                           std::shared_ptr<const Clock> clock,
                                           std::optional<Entry> entry = {});

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_SCRIPTED_H_
