// Helpers that the dialects share: JSON that tolerates any text, and hostile values read as plain
// ones. Only for .cc files of this module. Thread-safety: pure functions.

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

// JSON must be UTF-8: a stray byte would make the whole request invalid.
Json CleanText(std::string_view text);
// Returns "\n\nReply with one JSON value …": for models without schema support.
std::string WordsForSchema(const Json& schema);
// Returns a sentence for a parameter that the model does not accept.
std::string LeftOut(const Request& request, std::string_view parameter);
// Puts a sampling parameter into a body, under `name` if the provider calls it differently; one
// that the model does not accept is left out, with a warning. An empty list is skipped.
struct SamplingWriter {
  void operator()(std::string_view parameter, Json value, std::string_view name = {}) const;

  const Request& request;
  const Entry& entry;
  JsonObject& body;
  std::vector<std::string>& warnings;
};
JsonArray StopList(const std::vector<std::string>& stops);
// Returns a tool call id with '_' for characters that providers refuse.
std::string CleanCallId(std::string_view id);

// Limits breakpoints to the entry's maximum; without explicit caching there are none.
class BreakpointBudget {
 public:
  explicit BreakpointBudget(const assembly::Capability& capability);
  // Returns true if `block` ends with a breakpoint that may be sent.
  bool Take(const assembly::Block& block);
  // Returns the breakpoint's lifetime, if the provider offers it and it is not the default.
  std::optional<std::string> Lifetime(const assembly::Block& block) const;

 private:
  const assembly::CacheRules& rules_;
  int left_ = 0;
};

// Replies.

tl::unexpected<Error> MalformedReply(std::string_view what);
// Parses one value; invalid UTF-8 and lone surrogates are replaced, with a warning. With `half`, a
// pair that is split over two events of a stream is joined: it holds the first half meanwhile.
Result<Json> ParseLenient(std::string_view text, std::vector<std::string>& warnings,
                          std::string* half = nullptr);
// Returns a number of tokens, or 0 if it is not a number.
std::int64_t TokensOf(const Json& object, std::string_view name);
// Returns the tokens at `name` in `details`; nullopt if the provider does not report them.
std::optional<std::int64_t> TokensIfSaid(const Json* details, std::string_view name);
// Returns true if `usage` has a plausible number at `name`. Otherwise the reader marks the usage as
// estimated: a server's negative or absurd number must not help to exceed a limit.
bool IsCount(const Json& usage, std::string_view name, std::int64_t least);
// Ends `reply` for a provider's reason, in any dialect and letter case. A reason that is not known
// as a normal end counts as a cut. The first bad end is kept: later ones do not undo a cut.
void EndReply(std::string_view reason, Reply& reply);
Json ParseArguments(std::string_view text, std::string_view name,
                    std::vector<std::string>& warnings);
// An error in the body of an answer or event: {"error": "text" or {message, type, …}}. Servers send
// it even with status 200.
struct ReportedError {
  Error error;
  Failure::Retry retry = Failure::Retry::kNo;
};
std::optional<ReportedError> FindReportedError(const Json& value);

// Estimates usage at four bytes per token if the provider reports none, or less than the texts can
// have in any vocabulary. Input and output are replaced separately.
void EstimateMissingUsage(const Request& request, Reply* reply);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_DIALECTS_WIRE_H_
