// What the dialects share: JSON that never fails on text of others, hostile values as plain ones.
// Only for .cc files of this module. Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_DIALECTS_WIRE_H_
#define DOSSIER_MODEL_DIALECTS_WIRE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "model/dialects/dialect.h"

namespace dossier::model {

inline constexpr std::size_t kMostToolCalls = 128;

// Requests.

// JSON is UTF-8: a stray byte would make the whole request invalid.
Json CleanText(std::string_view text);
// "\n\nReply with one JSON value …": for models that know no schemas.
std::string WordsForSchema(const Json& schema);
// What the model refuses, in one sentence for each.
std::string LeftOut(const Request& request, std::string_view parameter);
// Puts a parameter of sampling into a body, under `name` where the provider calls it otherwise; one
// that the model does not take is left out, with a warning. An empty list is nothing.
struct SamplingWriter {
  void operator()(std::string_view parameter, Json value, std::string_view name = {}) const;

  const Request& request;
  const Entry& entry;
  JsonObject& body;
  std::vector<std::string>& warnings;
};
JsonArray StopList(const std::vector<std::string>& stops);
// Ids of tool calls as a provider takes them: other characters become '_'.
std::string CleanCallId(std::string_view id);

// Counts breakpoints down to the entry's most; anything but explicit caching takes none.
class BreakpointBudget {
 public:
  explicit BreakpointBudget(const assembly::Capability& capability);
  // Whether `block` ends with a breakpoint that may be sent.
  bool Take(const assembly::Block& block);
  // Its lifetime, if the provider offers it and it is not the default one.
  std::optional<std::string> Lifetime(const assembly::Block& block) const;

 private:
  const assembly::CacheRules& rules_;
  int left_ = 0;
};

// Replies.

tl::unexpected<Error> MalformedReply(std::string_view what);
// One value; invalid UTF-8 and halves of surrogates are replaced, with a warning.
Result<Json> ParseLenient(std::string_view text, std::vector<std::string>& warnings);
// A number of tokens; 0 if it is none.
std::int64_t TokensOf(const Json& object, std::string_view name);
// The tokens at `name` of what `details` points to; nullopt if the provider does not say.
std::optional<std::int64_t> TokensIfSaid(const Json* details, std::string_view name);
// Whether `usage` says a number that can be true at `name`. Of others the reader marks the usage as
// estimated: a limit must not be passed because a server says a negative or an absurd number.
bool IsCount(const Json& usage, std::string_view name, std::int64_t least);
// Ends `reply` for a provider's reason, in any dialect and either case. A reason that is not known
// to be a normal end cuts it. The first bad ending stays: what comes behind it undoes no cut.
void EndReply(std::string_view reason, Reply& reply);
Json ParseArguments(std::string_view text, std::string_view name,
                    std::vector<std::string>& warnings);
// An error in the body of an answer or event: {"error": "text" or {message, type, …}}. Servers send
// it with status 200 too.
struct ReportedError {
  Error error;
  Failure::Retry retry = Failure::Retry::kNo;
};
std::optional<ReportedError> FindReportedError(const Json& value);

// What a request and a reply cost where the provider does not say, or says less than their texts
// can be in any vocabulary: four bytes a token. Each of the two is replaced by itself.
void EstimateMissingUsage(const Request& request, Reply* reply);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_WIRE_H_
