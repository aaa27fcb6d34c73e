// The counterpart of model/dialects/dialect.h: how a server that stands in for a provider reads
// requests and writes replies, and what that provider would refuse.
//
//   for (const ServedDialect& dialect : ServedDialects()) {
//     if (auto route = dialect.route(http, body)) Answer(dialect, *route);
//   }
//
// It shares no code with the client's side, so that a mistake there is not repeated here. Only for
// .cc files of this module. Thread-safety: pure functions over plain data.

#ifndef DOSSIER_MODEL_SCRIPTED_SERVED_DIALECT_H_
#define DOSSIER_MODEL_SCRIPTED_SERVED_DIALECT_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/net/http_listener.h"
#include "model/dialects/dialect.h"
#include "model/dialects/role_rules.h"
#include "model/scripted/scripted.h"

namespace dossier::model {

// The model and streaming mode that an address and a body request.
struct ServedRoute {
  std::string model;
  Streaming stream = Streaming::kNo;
};

struct ServedReply {
  std::string id, model;
  Script::Answer answer;  // cut_after: the events end after the text, without a finish
  Usage usage;
  bool usage_wanted = true;  // OpenAI streams include it only on request
};

struct ServedDialect {
  std::string_view name;  // as Dialect::name
  const RoleRules& rules;
  // Unset: the address does not belong to this provider.
  std::optional<ServedRoute> (*route)(const HttpRequest& http, const Json& body);
  // Returns a fault, whatever the roles: "max_tokens: field required"; empty: nothing.
  std::string (*fault)(const HttpRequest& http, const Json& body);
  // Returns the messages for the rules of a script; `turn` is the number of replies before.
  Request (*read)(const Json& body);
  Json (*whole)(const ServedReply& reply);
  // Returns the stream as a list of events, ready to be sent.
  std::vector<std::string> (*events)(const ServedReply& reply);
  Json (*error)(int status, std::string_view message);
};

std::span<const ServedDialect> ServedDialects();

// Helpers that the dialects share.

extern const ServedDialect kServedOpenAi, kServedAnthropic, kServedGemini;

// Splits a text into pieces of 16 bytes or one character: small, so that clients see many.
std::vector<std::string_view> PiecesOf(std::string_view text);
// Returns "data: JSON", preceded by "event: NAME" if there is a name.
std::string EventText(const Json& data, std::string_view name = {});
// Adds one message to the request that a script sees; `role` is OpenAI's name.
void AddServedTurn(std::string_view role, std::string text, Request& request);
// Returns a text, or the texts of a list of blocks.
std::string TextOfContent(const Json& content);
// A provider's name for an HTTP status; `otherwise` for a status that is not in its table.
struct StatusName {
  int status;
  std::string_view name;
};
std::string_view NameOfStatus(std::span<const StatusName> table, int status,
                              std::string_view otherwise);
// Returns the list under `name`; empty if it is not a list.
const JsonArray& ArrayOf(const Json& object, std::string_view name);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_SERVED_DIALECT_H_
