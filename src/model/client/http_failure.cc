#include "model/client/http_failure.h"

#include <ctime>

#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

std::optional<std::string_view> FindHeader(const ProviderAnswer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (ToLowerAscii(key) == name) return TrimSpace(value);
  }
  return std::nullopt;
}

std::optional<double> ParseAmount(std::string_view text) {
  const auto value = ParseNumber(text);
  return value && *value >= 0 && *value <= 1e9 ? std::optional(*value) : std::nullopt;
}

// Parses "Wed, 21 Oct 2026 07:28:00 GMT".
std::optional<Clock::Wall> ParseHttpDate(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  if (!strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S", &parts)) return std::nullopt;
  return std::chrono::system_clock::from_time_t(timegm(&parts));
}

// Parses "6m0s", "1.5s", "20ms": the format of reset headers.
std::optional<Millis> ParseReset(std::string_view text) {
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    const std::optional<double> value = ParseAmount(text.substr(0, digits));
    text.remove_prefix(digits);
    const std::size_t unit_end = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, unit_end);
    text.remove_prefix(unit_end);
    double factor = 0;
    if (unit == "ms") factor = 1;
    if (unit == "s") factor = 1000;
    if (unit == "m") factor = 60'000;
    if (unit == "h") factor = 3'600'000;
    if (!value || factor == 0) return std::nullopt;
    total += *value * factor;
  }
  if (total > 1e12) return std::nullopt;
  return Millis(static_cast<std::int64_t>(total));
}

bool Retryable(int status) {
  constexpr int kAgain[] = {408, 409, 425, 429, 500, 502, 503, 504, 529};
  return std::find(std::begin(kAgain), std::end(kAgain), status) != std::end(kAgain);
}

// Providers use status 400 for a prompt that is too long, each with its own message.
bool SaysTooLong(std::string_view body) {
  const std::string text = ToLowerAscii(body.substr(0, 4096));
  constexpr std::string_view kPhrases[] = {
      "context_length_exceeded",
      "context length",
      "context window",
      "exceed_context_size",
      "prompt is too long",
      "maximum context",
      "context size",
      "too many tokens",
      "exceed context limit",                  // "input length and `max_tokens` exceed …"
      "exceeds the maximum number of tokens",  // "The input token count (…) exceeds …"
      "maximum prompt length"};
  return std::any_of(std::begin(kPhrases), std::end(kPhrases),
                     [&](std::string_view phrase) { return text.find(phrase) != text.npos; });
}

// A budget that is used up, which no waiting fills.
bool SaysNoCredit(const ProviderAnswer& answer) {
  return answer.status == 429 && answer.body.find("insufficient_quota") != std::string::npos;
}

std::string Nearest(const FailureTarget& target) {
  std::vector<std::string> others = target.models;
  std::erase(others, target.model);
  const std::vector<std::string> names = NearestNames(target.model, others);
  return names.empty() ? "" : "; the nearest known names are " + Join(names, ", ");
}

std::string LimitHeaders(const ProviderAnswer& answer) {
  std::string out;
  for (const auto& [name, value] : answer.headers) {
    const std::string lower = ToLowerAscii(name);
    if (lower != "retry-after" && lower.find("ratelimit") == lower.npos) continue;
    if (out.size() > 300) break;
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", lower, Excerpt(value, ""));
  }
  return out.empty() ? "" : " [" + out + "]";
}

// Returns "about 9,000 tokens, window 8,192, ", as far as known.
std::string SizesOf(const FailureTarget& target) {
  std::string out;
  if (target.prompt_tokens > 0) out += fmt::format("about {} tokens, ", target.prompt_tokens);
  if (target.window > 0) out += fmt::format("window {}, ", target.window);
  return out;
}

// Returns the sentence in an error's JSON, else the start of the body.
std::string SaidIn(std::string_view body, std::string_view key) {
  const auto value = ParseJson(TrimSpace(body));
  const Json* at = value ? &*value : nullptr;
  if (at && at->is_array() && !at->get_array().empty()) at = &at->get_array().front();
  if (const Json* error = at ? Find(*at, "error") : nullptr) at = error;
  if (at && at->is_string()) return Excerpt(at->get_string(), key);
  for (const std::string_view name : {"message", "detail"}) {
    const auto text = at ? FindString(*at, name) : std::nullopt;
    if (text && !text->empty()) return Excerpt(*text, key);
  }
  return Excerpt(body, key);
}

Error MakeHttpError(const ProviderAnswer& answer, const FailureTarget& target) {
  const std::string said = answer.body.empty() ? "" : ": " + SaidIn(answer.body, target.key);
  const auto error = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message)};
  };
  const bool long_prompt =
      answer.status == 413 || (answer.status == 400 && SaysTooLong(answer.body));
  if (answer.status == 401 || answer.status == 403) {
    const std::string what = target.key_source.empty()
                                 ? "wants a key, and none was sent: name its variable by --key-env"
                                 : fmt::format("refused the key from {}", target.key_source);
    return error(ErrorCode::kAuth,
                 fmt::format("{} {} (status {}){}", target.provider, what, answer.status, said));
  }
  if (answer.status == 404) {
    return error(ErrorCode::kConfig,
                 fmt::format("{} knows no model \"{}\" at this address (status 404){}{}",
                             target.provider, target.model, Nearest(target), said));
  }
  if (long_prompt) {
    return error(
        ErrorCode::kTooLong,
        fmt::format("{} refused the prompt as too long ({}status {}); choose a model with "
                    "a larger window, or say the true one with `ask --window N`{}{}",
                    target.provider, SizesOf(target), answer.status, target.way_out, said));
  }
  if (SaysNoCredit(answer)) {
    return error(ErrorCode::kRateLimited,
                 fmt::format("{} says that the account of this key has no credit (status 429){}",
                             target.provider, said));
  }
  if (answer.status == 429) {
    return error(ErrorCode::kRateLimited, fmt::format("{} limits the rate (status 429){}{}",
                                                      target.provider, LimitHeaders(answer), said));
  }
  if (answer.status == 408 || answer.status == 504) {
    return error(ErrorCode::kTimeout, fmt::format("{} took too long (status {}){}", target.provider,
                                                  answer.status, said));
  }
  if (answer.status >= 400 && answer.status < 500 && answer.status != 409 && answer.status != 425) {
    return error(ErrorCode::kFailed, fmt::format("{} refused the request (status {}){}",
                                                 target.provider, answer.status, said));
  }
  return error(ErrorCode::kNetwork,
               fmt::format("{} failed with status {}{}", target.provider, answer.status, said));
}

}  // namespace

std::string WithoutKey(std::string_view text, std::string_view key) {
  if (key.empty()) return std::string(text);
  if (key.size() >= kShortestSecret) return ReplaceAll(text, key, kInsteadOfKey);
  const auto is_word = [&](std::size_t at) {
    const std::size_t end = at + key.size();
    return (at == 0 || !IsWordByte(text[at - 1])) && (end == text.size() || !IsWordByte(text[end]));
  };
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(key, at)) != text.npos; at += key.size()) {
    if (!is_word(at)) continue;
    out.append(text.substr(done, at - done)).append(kInsteadOfKey);
    done = at + key.size();
  }
  return out.append(text.substr(done));
}

std::string Excerpt(std::string_view body, std::string_view key) {
  std::string clean = Redact(WithoutKey(utf8::Sanitize(body.substr(0, 8192)), key));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  const std::string_view head = utf8::Prefix(clean, 200);
  return std::string(head) + (head.size() < clean.size() ? "…" : "");
}

std::optional<Millis> RetryAfter(const ProviderAnswer& answer, Clock::Wall now) {
  std::optional<Millis> longest;
  const auto offer = [&](std::optional<Millis> wait) {
    if (wait && (!longest || *wait > *longest)) longest = wait;
  };
  if (const auto value = FindHeader(answer, "retry-after")) {
    if (const auto seconds = ParseAmount(*value)) {
      offer(Millis(static_cast<std::int64_t>(*seconds * 1000)));
    } else if (const auto date = ParseHttpDate(*value)) {
      offer(std::max(Millis(0), std::chrono::duration_cast<Millis>(*date - now)));
    }
  }
  if (const auto value = FindHeader(answer, "retry-after-ms")) {
    if (const auto millis = ParseAmount(*value)) offer(Millis(static_cast<std::int64_t>(*millis)));
  }
  if (answer.status == 429) {
    for (const char* kind : {"requests", "tokens"}) {
      // A reset only counts if that budget is used up; both are sent with every answer.
      const auto left = FindHeader(answer, std::string("x-ratelimit-remaining-") + kind);
      const auto reset = FindHeader(answer, std::string("x-ratelimit-reset-") + kind);
      if (left == "0" && reset) offer(ParseReset(*reset));
    }
  }
  return longest;
}

HttpFailure MapHttpFailure(const ProviderAnswer& answer, const FailureTarget& target,
                           Clock::Wall now) {
  HttpFailure result{.error = MakeHttpError(answer, target)};
  result.failure.status = answer.status;
  const bool again = Retryable(answer.status) && !SaysNoCredit(answer);
  result.failure.retry = again ? Failure::Retry::kYes : Failure::Retry::kNo;
  if (again) result.failure.retry_after = RetryAfter(answer, now);
  // A gateway timed out on a server that may have processed the request.
  if (answer.status == 408 || answer.status == 504) result.failure.sent = Failure::Sent::kYes;
  return result;
}

}  // namespace dossier::model
