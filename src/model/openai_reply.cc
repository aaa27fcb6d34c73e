#include "base/utf8.h"
#include "model/http_failure.h"
#include "model/openai_wire.h"

namespace dossier::model {
namespace {

constexpr std::int64_t kMostTokens = 1'000'000'000'000;
constexpr std::size_t kMostToolCalls = 128;

tl::unexpected<Error> Malformed(std::string_view what) {
  return MakeError(ErrorCode::kNetwork, "malformed reply: {}", what);
}

int HexValue(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return digits.size() == 4 ? value : -1;
}

// Halves of surrogate pairs (servers cut text between them) as U+FFFD: no JSON reader takes them.
std::string ReplaceLoneSurrogates(std::string_view json) {
  std::string out;
  out.reserve(json.size());
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
      } else {
        out += "\\ufffd";
        i += 6;
      }
      continue;
    }
    out += json.substr(i, 2);
    i += 2;
  }
  return out;
}

// One value; invalid UTF-8 and halves of surrogates are replaced, with a warning (MOD-14).
Result<Json> ParseLenient(std::string_view text, std::vector<std::string>& warnings) {
  std::string clean;
  if (!utf8::IsValid(text)) {
    clean = utf8::Sanitize(text);
    text = clean;
    if (warnings.empty()) warnings.emplace_back("the reply held invalid UTF-8, which was replaced");
  }
  auto value = ParseJson(text);
  if (value) return value;
  auto repaired = ParseJson(ReplaceLoneSurrogates(text));
  if (!repaired) return Malformed(value.error().message);
  if (warnings.empty()) warnings.emplace_back("the reply held half a character, replaced");
  return repaired;
}

// Servers answer with status 200 and an error in the body, some as a text, some as an object.
std::optional<Error> ErrorInside(const Json& value) {
  const Json* error = Find(value, "error");
  if (!error || error->is_null()) return std::nullopt;
  const std::string text = error->is_string() ? std::string(error->as_string())
                                              : std::string(FindString(*error, "message").value_or(
                                                    std::string_view(ToJson(*error))));
  return Error{ErrorCode::kNetwork, "the provider reports: " + Excerpt(text, "")};
}

Finish FinishOf(std::string_view reason) {
  if (reason == "stop" || reason == "end_turn" || reason == "eos") return Finish::kStop;
  if (reason == "length" || reason == "max_tokens") return Finish::kLength;
  if (reason == "tool_calls" || reason == "function_call") return Finish::kToolCalls;
  if (reason == "content_filter") return Finish::kFilter;
  return Finish::kOther;
}

std::int64_t Tokens(const Json& object, std::string_view name) {
  const auto value = FindInt(object, name);
  return value && *value >= 0 && *value <= kMostTokens ? *value : 0;
}

void ReadUsage(const Json& value, Reply& reply) {
  const Json* usage = Find(value, "usage");
  const Json* timings = Find(value, "timings");
  if (timings && timings->is_object()) reply.provider_data.as_object()["timings"] = *timings;
  if (usage && FindInt(*usage, "prompt_tokens").value_or(-1) >= 0) {
    reply.usage = {.input = Tokens(*usage, "prompt_tokens"),
                   .output = Tokens(*usage, "completion_tokens")};
    if (const Json* details = Find(*usage, "prompt_tokens_details")) {
      reply.usage.cached = Tokens(*details, "cached_tokens");
    }
    if (timings && reply.usage.cached == 0) reply.usage.cached = Tokens(*timings, "cache_n");
  } else if (timings && FindInt(*timings, "prompt_n").value_or(-1) >= 0) {
    const std::int64_t cached = Tokens(*timings, "cache_n");
    reply.usage = {.input = Tokens(*timings, "prompt_n") + cached,
                   .output = Tokens(*timings, "predicted_n"),
                   .cached = cached};
  }
  reply.usage.cached = std::min(reply.usage.cached, reply.usage.input);
}

void ReadIdentity(const Json& value, Reply& reply) {
  if (const auto model = FindString(value, "model")) reply.resolved_model = *model;
  for (const char* name : {"id", "system_fingerprint"}) {
    if (const auto text = FindString(value, name)) {
      reply.provider_data.as_object()[name] = *text;
    }
  }
}

// A text, or a list of parts of which some are texts.
std::string ContentText(const Json* content) {
  if (!content) return {};
  if (const auto* text = content->if_string()) return std::string(*text);
  std::string joined;
  if (const auto* parts = content->if_array()) {
    for (const Json& part : *parts) joined += FindString(part, "text").value_or("");
  }
  return joined;
}

std::string ThinkingText(const Json& message) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    if (const auto text = FindString(message, name)) return std::string(*text);
  }
  return {};
}

// The first choice: `n` above 1 gives others, which provider data would not hold either.
const Json* FirstChoice(const Json& value) {
  const Json* choices = Find(value, "choices");
  if (!choices || !choices->is_array()) return nullptr;
  for (const Json& choice : choices->as_array()) {
    if (FindInt(choice, "index").value_or(0) == 0) return &choice;
  }
  return nullptr;
}

Json ParseArguments(std::string_view text, std::string_view name, Reply& reply) {
  if (text.empty()) return JsonObject();
  if (auto value = ParseJson(text)) return *value;
  reply.warnings.push_back(fmt::format("the arguments of the tool call {} are no JSON", name));
  return Json(text);
}

void ReadToolCalls(const Json& message, Reply& reply) {
  const Json* calls = Find(message, "tool_calls");
  if (!calls || !calls->is_array()) return;
  for (const Json& item : calls->as_array()) {
    const Json* function = Find(item, "function");
    if (!function || reply.tool_calls.size() == kMostToolCalls) continue;
    ToolCall call;
    call.id = FindString(item, "id").value_or("");
    call.name = FindString(*function, "name").value_or("");
    const Json* arguments = Find(*function, "arguments");
    if (arguments && arguments->is_object()) {
      call.arguments = *arguments;
    } else {
      call.arguments =
          ParseArguments(FindString(*function, "arguments").value_or(""), call.name, reply);
    }
    reply.tool_calls.push_back(std::move(call));
  }
}

}  // namespace

Result<Reply> ParseReply(std::string_view body) {
  if (body.size() > kMaxReplyBytes) return Malformed("larger than 64 MiB");
  Reply reply;
  reply.provider_data = JsonObject();
  reply.usage.estimated = true;
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(body, reply.warnings));
  if (auto error = ErrorInside(value)) return tl::unexpected(*error);
  const Json* choice = FirstChoice(value);
  const Json* message = choice ? Find(*choice, "message") : nullptr;
  if (!message || !message->is_object()) return Malformed("it has no choices[0].message");
  reply.text = ContentText(Find(*message, "content"));
  reply.thinking = ThinkingText(*message);
  ReadToolCalls(*message, reply);
  const auto reason = FindString(*choice, "finish_reason");
  reply.finish = reason ? FinishOf(*reason) : Finish::kOther;
  if (const Json* logprobs = Find(*choice, "logprobs"); logprobs && !logprobs->is_null()) {
    reply.provider_data.as_object()["logprobs"] = *logprobs;
  }
  ReadIdentity(value, reply);
  ReadUsage(value, reply);
  return reply;
}

Status ReplyStream::AddToolCall(const Json& delta) {
  const std::int64_t index = FindInt(delta, "index").value_or(0);
  if (index < 0 || index >= static_cast<std::int64_t>(kMostToolCalls)) {
    return Malformed("a tool call with an impossible index");
  }
  const auto place = static_cast<std::size_t>(index);
  if (place >= reply_.tool_calls.size()) {
    reply_.tool_calls.resize(place + 1);
    arguments_.resize(place + 1);
  }
  ToolCall& call = reply_.tool_calls[place];
  if (const auto id = FindString(delta, "id")) call.id = *id;
  if (const Json* function = Find(delta, "function")) {
    call.name += FindString(*function, "name").value_or("");
    arguments_[place] += FindString(*function, "arguments").value_or("");
  }
  return {};
}

Result<std::string> ReplyStream::Add(std::string_view data) {
  if (data == "[DONE]") return std::string();
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings));
  if (!value.is_object()) return Malformed("an event that is no object");
  if (auto error = ErrorInside(value)) return tl::unexpected(*error);
  ReadIdentity(value, reply_);
  ReadUsage(value, reply_);
  const Json* choice = FirstChoice(value);
  if (!choice) return std::string();
  std::string text;
  if (const Json* delta = Find(*choice, "delta")) {
    text = ContentText(Find(*delta, "content"));
    const std::string thinking = ThinkingText(*delta);
    started_ |= !text.empty() || !thinking.empty();
    reply_.text += text;
    reply_.thinking += thinking;
    if (const Json* calls = Find(*delta, "tool_calls"); calls && calls->is_array()) {
      for (const Json& call : calls->as_array()) {
        started_ = true;
        DOSSIER_RETURN_IF_ERROR(AddToolCall(call));
      }
    }
  }
  if (const auto reason = FindString(*choice, "finish_reason")) {
    reply_.finish = FinishOf(*reason);
    finished_ = true;
  }
  return text;
}

Reply ReplyStream::Take() {
  Reply reply = std::move(reply_);
  if (!finished_) reply.finish = Finish::kCut;
  if (!reply.provider_data.is_object()) reply.provider_data = JsonObject();
  for (std::size_t i = 0; i < reply.tool_calls.size(); ++i) {
    reply.tool_calls[i].arguments =
        ParseArguments(arguments_[i], reply.tool_calls[i].name, reply);
  }
  return reply;
}

void EstimateMissingUsage(const Request& request, Reply* reply) {
  if (!reply->usage.estimated) return;
  std::size_t prompt = 0;
  for (const auto& block : request.messages.system) prompt += block.text.size();
  for (const auto& turn : request.messages.turns) {
    for (const auto& block : turn.blocks) prompt += block.text.size();
  }
  const auto tokens = [](std::size_t bytes) { return static_cast<std::int64_t>((bytes + 3) / 4); };
  reply->usage.input = request.estimated_tokens > 0 ? request.estimated_tokens : tokens(prompt);
  reply->usage.output = tokens(reply->text.size() + reply->thinking.size());
  for (const ToolCall& call : reply->tool_calls) {
    reply->usage.output += tokens(ToJson(call.arguments).size());
  }
}

}  // namespace dossier::model
