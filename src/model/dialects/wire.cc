#include "model/dialects/wire.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/client/client.h"
#include "model/client/http_failure.h"

namespace dossier::model {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000'000;

int HexValue(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    const int digit = dossier::HexValue(c);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return digits.size() == 4 ? value : -1;
}

struct Repaired {
  std::string json;
  bool replaced = false;
};

// Halves of surrogate pairs as U+FFFD: no JSON reader takes them. In a stream, a first half at the
// end of a string is kept in `half` and put before the second one at the beginning of a later one.
Repaired ReplaceLoneSurrogates(std::string_view json, std::string* half) {
  Repaired repaired;
  std::string& out = repaired.json;
  out.reserve(json.size() + 6);
  const auto escape_at = [&](std::size_t at) {
    return json.substr(at, 2) == "\\u" ? HexValue(json.substr(at + 2, 4)) : -1;
  };
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] != '\\') {
      out += json[i++];
      continue;
    }
    const int value = escape_at(i);
    const bool high = value >= 0xD800 && value < 0xDC00, low = value >= 0xDC00 && value < 0xE000;
    if (high || low) {
      const int next = i + 6 <= json.size() ? escape_at(i + 6) : -1;
      if (high && next >= 0xDC00 && next < 0xE000) {
        out += json.substr(i, 12);
        i += 12;
        continue;
      }
      if (half && high && half->empty() && json.substr(i + 6, 1) == "\"") {
        *half = json.substr(i, 6);
      } else if (half && low && !half->empty() && out.ends_with('"') && !out.ends_with("\\\"")) {
        out.append(std::exchange(*half, "")).append(json.substr(i, 6));
      } else {
        out += "\\ufffd";
        repaired.replaced = true;
      }
      i += 6;
      continue;
    }
    out += json.substr(i, 2);
    i += 2;
  }
  return repaired;
}

// The fewest tokens that a text can have in any vocabulary: there are tokens for runs of more than
// a hundred blanks, and others of a few dozen bytes, of which a whole text may consist.
std::int64_t LeastTokens(std::string_view text) {
  constexpr std::size_t kBytesOfRun = 256, kBytesOfToken = 64;
  std::size_t beside_runs = 0;  // bytes that differ from the one before
  for (std::size_t i = 1; i < text.size(); ++i) beside_runs += text[i] != text[i - 1] ? 1 : 0;
  return static_cast<std::int64_t>(
      std::max({text.size() / kBytesOfRun, beside_runs / kBytesOfToken, text.empty() ? 0UL : 1UL}));
}

// Of a prompt's texts. What an image has is not known: what we count for it is the most.
std::int64_t LeastInput(const Request& request) {
  std::int64_t least = 1;
  const auto add = [&](const std::vector<assembly::Block>& blocks) {
    for (const assembly::Block& block : blocks) {
      const bool image = block.type == assembly::Block::Type::kImage;
      if (!image && block.text.size() > 64) least += LeastTokens(block.text);
    }
  };
  add(request.messages.system);
  for (const auto& turn : request.messages.turns) add(turn.blocks);
  return least;
}

std::int64_t EstimatedInput(const Request& request) {
  if (request.estimated_tokens > 0) return request.estimated_tokens;
  std::size_t bytes = 0;
  for (const auto& block : request.messages.system) bytes += block.text.size();
  for (const auto& turn : request.messages.turns) {
    for (const auto& block : turn.blocks) bytes += block.text.size();
  }
  return EstimateTokens(bytes);
}

constexpr std::pair<std::string_view, Finish> kReasons[] = {
    {"", Finish::kOther},
    {"stop", Finish::kStop},
    {"end_turn", Finish::kStop},
    {"eos", Finish::kStop},
    {"eos_token", Finish::kStop},
    {"stop_sequence", Finish::kStop},
    {"complete", Finish::kStop},
    {"end", Finish::kStop},
    {"length", Finish::kLength},
    {"max_tokens", Finish::kLength},
    {"model_length", Finish::kLength},
    {"max_output_tokens", Finish::kLength},
    {"model_context_window_exceeded", Finish::kLength},
    {"tool_calls", Finish::kToolCalls},
    {"tool_use", Finish::kToolCalls},
    {"function_call", Finish::kToolCalls},
    {"content_filter", Finish::kFilter},
    {"refusal", Finish::kRefused},
    {"safety", Finish::kFilter},
    {"recitation", Finish::kFilter},
    {"blocklist", Finish::kFilter},
    {"prohibited_content", Finish::kFilter},
    {"spii", Finish::kFilter},
    {"image_safety", Finish::kFilter},
    {"language", Finish::kFilter}};

}  // namespace

Json CleanText(std::string_view text) {
  return utf8::IsValid(text) ? Json(text) : Json(utf8::Sanitize(text));
}

std::string WordsForSchema(const Json& schema) {
  return "\n\nReply with one JSON value that matches this JSON Schema, and with nothing else:\n" +
         ToJson(schema);
}

JsonArray StopList(const std::vector<std::string>& stops) {
  JsonArray list;
  for (const std::string& stop : stops) list.push_back(CleanText(stop));
  return list;
}

void SamplingWriter::operator()(std::string_view parameter, Json value,
                                std::string_view name) const {
  if (value.is_array() && value.get_array().empty()) return;
  if (entry.Takes(parameter)) {
    body[name.empty() ? parameter : name] = std::move(value);
  } else {
    warnings.push_back(LeftOut(request, parameter));
  }
}

std::string LeftOut(const Request& request, std::string_view parameter) {
  return fmt::format("{} refuses {}: left out", request.model, parameter);
}

std::string CleanCallId(std::string_view id) {
  std::string out(id.empty() ? "call" : id);
  for (char& c : out) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') c = '_';
  }
  return out;
}

BreakpointBudget::BreakpointBudget(const assembly::Capability& capability)
    : rules_(capability.cache),
      left_(rules_.mode == assembly::CacheRules::Mode::kExplicit ? rules_.breakpoints : 0) {}

bool BreakpointBudget::Take(const assembly::Block& block) {
  if (!block.cache || left_ == 0) return false;
  --left_;
  return true;
}

std::optional<std::string> BreakpointBudget::Lifetime(const assembly::Block& block) const {
  const auto found = std::find(rules_.ttl.begin(), rules_.ttl.end(), *block.cache);
  if (found == rules_.ttl.end() || found == rules_.ttl.begin()) return std::nullopt;
  return *found;
}

tl::unexpected<Error> MalformedReply(std::string_view what) {
  return MakeError(ErrorCode::kNetwork, "malformed reply: {}", what);
}

Result<Json> ParseLenient(std::string_view text, std::vector<std::string>& warnings,
                          std::string* half) {
  std::string clean;
  if (!utf8::IsValid(text)) {
    clean = utf8::Sanitize(text);
    text = clean;
    if (warnings.empty()) warnings.emplace_back("the reply held invalid UTF-8, which was replaced");
  }
  auto value = ParseJson(text);
  if (value) return value;
  const Repaired whole = ReplaceLoneSurrogates(text, half);
  auto repaired = ParseJson(whole.json);
  if (!repaired) return MalformedReply(value.error().message);
  if (whole.replaced && warnings.empty()) {
    warnings.emplace_back("the reply held half a character, replaced");
  }
  return repaired;
}

std::int64_t TokensOf(const Json& object, std::string_view name) {
  const auto value = FindInt(object, name);
  return value && *value >= 0 && *value <= kMostTokens ? *value : 0;
}

std::optional<std::int64_t> TokensIfSaid(const Json* details, std::string_view name) {
  if (!details || !FindInt(*details, name)) return std::nullopt;
  return TokensOf(*details, name);
}

bool IsCount(const Json& usage, std::string_view name, std::int64_t least) {
  const auto said = FindInt(usage, name);
  return said && *said >= least && *said <= kMostTokens;
}

void EndReply(std::string_view reason, Reply& reply) {
  const Finish now = reply.finish;
  if (now != Finish::kStop && now != Finish::kToolCalls && now != Finish::kOther) return;
  const auto known = std::find_if(
      std::begin(kReasons), std::end(kReasons),
      [name = ToLowerAscii(reason)](const auto& entry) { return entry.first == name; });
  reply.finish = known == std::end(kReasons) ? Finish::kCut : known->second;
  if (reply.finish == Finish::kCut) {
    reply.warnings.push_back(
        fmt::format("the reply was cut: the provider ended it with \"{}\"", Excerpt(reason, "")));
  }
}

Json ParseArguments(std::string_view text, std::string_view name,
                    std::vector<std::string>& warnings) {
  if (text.empty()) return JsonObject();
  if (auto value = ParseJson(text)) return *value;
  warnings.push_back(fmt::format("the arguments of the tool call {} are no JSON", name));
  return Json(text);
}

namespace {

// Some servers send the field with every reply.
bool SaysNoError(const Json& error) {
  if (const auto* text = error.if_string()) return text->empty();
  if (const auto* object = error.if_object()) return object->empty();
  return error.is_null() || (error.is_bool() && !error.as_bool());
}

// As providers name it, by type or by code.
bool MayPass(std::string_view name) {
  constexpr std::string_view kPassing[] = {"overloaded_error",    "api_error",
                                           "overloaded",          "rate_limit_error",
                                           "rate_limit_exceeded", "server_error"};
  return std::find(std::begin(kPassing), std::end(kPassing), name) != std::end(kPassing);
}

}  // namespace

std::optional<ReportedError> FindReportedError(const Json& value) {
  const Json* error = Find(value, "error");
  if (!error || SaysNoError(*error)) return std::nullopt;
  const std::string whole = ToJson(*error);
  const std::string_view text =
      error->is_string() ? std::string_view(error->as_string())
                         : FindString(*error, "message").value_or(std::string_view(whole));
  ReportedError reported{
      .error = {ErrorCode::kNetwork, "the provider reports: " + Excerpt(text, "")}};
  const std::int64_t code = FindInt(*error, "code").value_or(0);
  if (MayPass(FindString(*error, "type").value_or("")) ||
      MayPass(FindString(*error, "code").value_or("")) || code == 429 ||
      (code >= 500 && code < 600)) {
    reported.retry = Failure::Retry::kYes;
  }
  return reported;
}

void EstimateMissingUsage(const Request& request, Reply* reply) {
  Usage& usage = reply->usage;
  const bool unsaid = usage.estimated;
  if (usage.input < LeastInput(request)) {
    usage.input = EstimatedInput(request);
    usage.estimated = true;
  }
  const bool too_few = usage.output < LeastTokens(reply->text) + LeastTokens(reply->thinking);
  if (!unsaid && !too_few) return;
  usage.estimated = true;
  std::int64_t output = EstimateTokens(reply->text.size() + reply->thinking.size());
  for (const ToolCall& call : reply->tool_calls) {
    output += EstimateTokens(ToJson(call.arguments).size());
  }
  usage.output = std::max(usage.output, output);
}

}  // namespace dossier::model
