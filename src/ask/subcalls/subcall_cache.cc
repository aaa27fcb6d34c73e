#include "ask/subcalls/subcall_cache.h"

#include "ask/reply/reply_text.h"
#include "base/hash.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr int kKeyVersion = 1;  // increase it if a key gets another meaning

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::optional<std::string> SubcallCache::KeyOf(const model::Request& request,
                                               const std::string& origin, Which which) const {
  if (!memo_ || use_ == CacheUse::kOff || origin.empty()) return std::nullopt;
  const model::Sampling& sampling = request.sampling;
  const bool repeatable = sampling.seed || (sampling.temperature && *sampling.temperature == 0);
  if (!repeatable && which == Which::kRepeatable) return std::nullopt;
  JsonObject asked{{"version", kKeyVersion},
                   {"origin", origin},
                   {"model", request.model},
                   {"temperature", OrNull(sampling.temperature)},
                   {"top_p", OrNull(sampling.top_p)},
                   {"max_output", OrNull(sampling.max_output)},
                   {"seed", OrNull(sampling.seed)},
                   {"stop", boost::json::value_from(sampling.stop)},
                   {"grammar", sampling.grammar},
                   {"extra", sampling.extra},
                   {"messages", assembly::ToCanonicalJson(request.messages)},
                   {"schema", OrNull(request.schema)}};
  if (sampling.first_tokens > 0) asked["first_tokens"] = sampling.first_tokens;
  return Sha256Hex(ReplaceAll(ToJson(asked), boundary_, "boundary"));
}

std::optional<std::string> SubcallCache::KeyOfLabel(std::string_view text,
                                                    std::string_view instruction,
                                                    const std::vector<std::string>& labels,
                                                    std::string_view model,
                                                    std::string_view origin) const {
  if (!memo_ || use_ == CacheUse::kOff || origin.empty()) return std::nullopt;
  const JsonObject asked{{"version", kKeyVersion},     {"for", "map_llm"},
                         {"origin", origin},           {"model", model},
                         {"instruction", instruction}, {"labels", boost::json::value_from(labels)},
                         {"text", Sha256Hex(text)}};
  return Sha256Hex(ToJson(asked));
}

std::optional<std::string> SubcallCache::FindLabel(std::string_view key) const {
  return memo_ && use_ == CacheUse::kOn ? memo_->Get(key) : std::nullopt;
}

void SubcallCache::KeepLabel(std::string_view key, std::string_view label) const {
  if (!memo_) return;
  const Status kept = memo_->Put(key, label);
  static_cast<void>(kept);
}

std::optional<model::Reply> SubcallCache::Find(std::string_view key) const {
  if (!memo_ || use_ != CacheUse::kOn) return std::nullopt;
  const auto text = memo_->Get(key);
  if (!text) return std::nullopt;
  const auto stored = ParseJson(*text);
  if (!stored) return std::nullopt;
  const auto reply = FindString(*stored, "text");
  if (!reply) return std::nullopt;
  model::Reply found{.text = std::string(*reply)};
  found.usage.input = FindInt(*stored, "input").value_or(0);
  found.usage.output = FindInt(*stored, "output").value_or(0);
  if (const Json* chances = ::dossier::Find(*stored, "first_tokens");
      chances && chances->is_array()) {
    for (const Json& chance : chances->get_array()) {
      found.first_tokens.push_back(
          {TextAt(chance, "token"), FindNumber(chance, "logprob").value_or(0)});
    }
    found.finish = model::Finish::kLength;  // only the first token was wanted
  }
  return found;
}

void SubcallCache::Keep(std::string_view key, const model::Reply& reply) const {
  // A reply with candidates for its first token was limited to that token on purpose.
  const bool whole =
      reply.first_tokens.empty()
          ? reply.finish == model::Finish::kStop &&
                !TrimSpace(StripThinking(reply.text).text).empty()
          : reply.finish == model::Finish::kStop || reply.finish == model::Finish::kLength;
  if (!memo_ || !whole || !reply.tool_calls.empty()) return;
  JsonObject stored{
      {"text", reply.text}, {"input", reply.usage.input}, {"output", reply.usage.output}};
  if (!reply.first_tokens.empty()) {
    JsonArray chances;
    for (const model::TokenChance& chance : reply.first_tokens) {
      chances.push_back(JsonObject{{"token", chance.token}, {"logprob", chance.logprob}});
    }
    stored["first_tokens"] = std::move(chances);
  }
  const Status kept = memo_->Put(key, ToJson(stored));
  static_cast<void>(kept);
}

}  // namespace dossier::ask
