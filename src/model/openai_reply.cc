#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/openai_wire.h"
#include "model/wire.h"

namespace dossier::model {
namespace {

// Providers write these names in either case. A reason that is not known to be a normal end is one
// that broke the reply off: "error", "abort", "cancelled", "insufficient_system_resource".
Finish FinishOf(std::string_view reason) {
  const std::string name = ToLowerAscii(reason);
  const auto is_one_of = [&name](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_one_of({"stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "end"})) {
    return Finish::kStop;
  }
  if (is_one_of({"length", "max_tokens", "model_length", "max_output_tokens"})) {
    return Finish::kLength;
  }
  if (is_one_of({"tool_calls", "function_call", "tool_use"})) return Finish::kToolCalls;
  if (is_one_of({"content_filter", "safety"})) return Finish::kFilter;
  return name.empty() ? Finish::kOther : Finish::kCut;
}

// Counts that cannot be true count as not said, and are estimated: no prompt is of 0 tokens, and a
// limit must not be passed because a server says a negative or an absurd number, or none.
bool IsPlausible(const Json& usage) {
  const auto is_count = [&usage](std::string_view name, std::int64_t least) {
    const std::int64_t said = FindInt(usage, name).value_or(-1);
    return said >= least && TokensOf(usage, name) == said;
  };
  return is_count("prompt_tokens", 1) && is_count("completion_tokens", 0);
}

void ReadUsage(const Json& value, Reply& reply) {
  const Json* usage = Find(value, "usage");
  const Json* timings = Find(value, "timings");
  if (timings && timings->is_object()) reply.provider_data.as_object()["timings"] = *timings;
  if (usage && IsPlausible(*usage)) {
    reply.usage = {.input = TokensOf(*usage, "prompt_tokens"),
                   .output = TokensOf(*usage, "completion_tokens")};
    if (const Json* details = Find(*usage, "prompt_tokens_details")) {
      reply.usage.cached = TokensOf(*details, "cached_tokens");
      reply.usage.cache_write = TokensOf(*details, "cache_write_tokens");
    }
    reply.usage.reasoning =
        TokensIfSaid(Find(*usage, "completion_tokens_details"), "reasoning_tokens");
    if (timings && reply.usage.cached == 0) reply.usage.cached = TokensOf(*timings, "cache_n");
  } else if (timings && FindInt(*timings, "prompt_n").value_or(-1) >= 0) {
    const std::int64_t cached = TokensOf(*timings, "cache_n");
    reply.usage = {.input = TokensOf(*timings, "prompt_n") + cached,
                   .output = TokensOf(*timings, "predicted_n"),
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

// The words of a refusal; the reply then ends like a filtered one.
std::string ReadRefusal(const Json& message, Reply& reply) {
  std::string refusal(FindString(message, "refusal").value_or(""));
  if (!refusal.empty()) reply.finish = Finish::kFilter;
  return refusal;
}

// The candidates for the first token, from a whole reply's choice or a stream's first that has any.
void ReadFirstTokens(const Json& choice, Reply& reply) {
  const Json* logprobs = Find(choice, "logprobs");
  const Json* content = logprobs ? Find(*logprobs, "content") : nullptr;
  const JsonArray* tokens = content ? content->if_array() : nullptr;
  if (!tokens || tokens->empty() || !reply.first_tokens.empty()) return;
  const Json* top = Find(tokens->front(), "top_logprobs");
  const JsonArray* candidates = top ? top->if_array() : nullptr;
  for (const Json& candidate : candidates ? *candidates : JsonArray()) {
    const auto token = FindString(candidate, "token");
    const auto logprob = FindNumber(candidate, "logprob");
    if (token && logprob && std::isfinite(*logprob)) {
      reply.first_tokens.push_back({std::string(*token), *logprob});
    }
  }
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
      call.arguments = ParseArguments(FindString(*function, "arguments").value_or(""), call.name,
                                      reply.warnings);
    }
    reply.tool_calls.push_back(std::move(call));
  }
}

}  // namespace

Result<Reply> ParseOpenAiReply(std::string_view body) {
  if (body.size() > kMaxReplyBytes) return MalformedReply("larger than 64 MiB");
  Reply reply;
  reply.provider_data = JsonObject();
  reply.usage.estimated = true;
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(body, reply.warnings));
  if (auto reported = FindReportedError(value)) return tl::unexpected(reported->error);
  const Json* choice = FirstChoice(value);
  const Json* message = choice ? Find(*choice, "message") : nullptr;
  if (!message || !message->is_object()) return MalformedReply("it has no choices[0].message");
  reply.text = ContentText(Find(*message, "content"));
  reply.thinking = ThinkingText(*message);
  ReadToolCalls(*message, reply);
  const auto reason = FindString(*choice, "finish_reason");
  reply.finish = reason ? FinishOf(*reason) : Finish::kOther;
  reply.text += ReadRefusal(*message, reply);
  if (const Json* logprobs = Find(*choice, "logprobs"); logprobs && !logprobs->is_null()) {
    reply.provider_data.as_object()["logprobs"] = *logprobs;
  }
  ReadFirstTokens(*choice, reply);
  ReadIdentity(value, reply);
  ReadUsage(value, reply);
  return reply;
}

Status OpenAiStream::AddToolCall(const Json& delta) {
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t place,
                           ToolCallAt(FindInt(delta, "index").value_or(0)));
  ToolCall& call = reply_.tool_calls[place];
  if (const auto id = FindString(delta, "id")) call.id = *id;
  if (const Json* function = Find(delta, "function")) {
    call.name += FindString(*function, "name").value_or("");
    arguments_[place] += FindString(*function, "arguments").value_or("");
  }
  return {};
}

Result<std::string> OpenAiStream::Add(std::string_view data) {
  if (data == "[DONE]") return std::string();
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings));
  if (!value.is_object()) return MalformedReply("an event that is no object");
  if (auto reported = FindReportedError(value)) {
    retry_ = reported->retry;
    return tl::unexpected(reported->error);
  }
  ReadIdentity(value, reply_);
  ReadUsage(value, reply_);
  const Json* choice = FirstChoice(value);
  if (!choice) return std::string();
  ReadFirstTokens(*choice, reply_);
  std::string text;
  if (const Json* delta = Find(*choice, "delta")) {
    if (const Json* calls = Find(*delta, "tool_calls"); calls && calls->is_array()) {
      for (const Json& call : calls->as_array()) {
        started_ = true;
        DOSSIER_RETURN_IF_ERROR(AddToolCall(call));
      }
    }
    text = ContentText(Find(*delta, "content"));
    refused_ |= !FindString(*delta, "refusal").value_or("").empty();
    text += FindString(*delta, "refusal").value_or("");
    const std::string thinking = ThinkingText(*delta);
    started_ |= !text.empty() || !thinking.empty();
    reply_.text += text;
    reply_.thinking += thinking;
  }
  if (const auto reason = FindString(*choice, "finish_reason")) {
    reply_.finish = refused_ ? Finish::kFilter : FinishOf(*reason);
    finished_ = true;
  }
  return text;
}

}  // namespace dossier::model
