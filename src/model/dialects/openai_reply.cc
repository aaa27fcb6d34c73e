#include <algorithm>
#include <cmath>

#include "base/text/text.h"
#include "model/dialects/openai_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

bool IsPlausible(const Json& usage) {
  return IsCount(usage, "prompt_tokens", 1) && IsCount(usage, "completion_tokens", 0);
}

void ReadOpenAiIdentity(const Json& value, Reply& reply) {
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
  std::string refusal = TextAt(message, "refusal");
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

void ReadOpenAiUsage(const Json& value, Reply& reply) {
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
  } else if (timings && IsCount(*timings, "prompt_n", 0) &&
             TokensOf(*timings, "prompt_n") + TokensOf(*timings, "cache_n") > 0) {
    const std::int64_t cached = TokensOf(*timings, "cache_n");
    reply.usage = {.input = TokensOf(*timings, "prompt_n") + cached,
                   .output = TokensOf(*timings, "predicted_n"),
                   .cached = cached};
  }
  reply.usage.cached = std::min(reply.usage.cached, reply.usage.input);
}

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
  EndReply(FindString(*choice, "finish_reason").value_or(""), reply);
  reply.text += ReadRefusal(*message, reply);
  if (const Json* logprobs = Find(*choice, "logprobs"); logprobs && !logprobs->is_null()) {
    reply.provider_data.as_object()["logprobs"] = *logprobs;
  }
  ReadFirstTokens(*choice, reply);
  ReadOpenAiIdentity(value, reply);
  ReadOpenAiUsage(value, reply);
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
  if (data == "[DONE]") {
    // Some servers never say how a reply ended, only that it did.
    if (!finished_ && started_) End("stop");
    closed_ = true;
    return std::string();
  }
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings));
  if (!value.is_object()) return MalformedReply("an event that is no object");
  if (auto reported = FindReportedError(value)) {
    ReadOpenAiUsage(value, reply_);
    retry_ = reported->retry;
    return tl::unexpected(reported->error);
  }
  ReadOpenAiIdentity(value, reply_);
  const Json* choice = FirstChoice(value);
  std::string text;
  if (choice) {
    DOSSIER_ASSIGN_OR_RETURN(text, AddChoice(*choice));
  }
  ReadOpenAiUsage(value, reply_);
  return text;
}

Result<std::string> OpenAiStream::AddChoice(const Json& choice) {
  ReadFirstTokens(choice, reply_);
  std::string text;
  if (const Json* delta = Find(choice, "delta")) {
    if (const Json* calls = Find(*delta, "tool_calls"); calls && calls->is_array()) {
      for (const Json& call : calls->as_array()) {
        Grew();
        DOSSIER_RETURN_IF_ERROR(AddToolCall(call));
      }
    }
    text = ContentText(Find(*delta, "content"));
    refused_ |= !FindString(*delta, "refusal").value_or("").empty();
    text += FindString(*delta, "refusal").value_or("");
    const std::string thinking = ThinkingText(*delta);
    if (!text.empty() || !thinking.empty()) Grew();
    reply_.text += text;
    reply_.thinking += thinking;
  }
  // Some send an empty one with every piece.
  if (const std::string_view reason = FindString(choice, "finish_reason").value_or("");
      !reason.empty()) {
    End(reason);
  }
  return text;
}

void OpenAiStream::End(std::string_view reason) {
  EndReply(reason, reply_);
  if (refused_) reply_.finish = Finish::kFilter;
  finished_ = true;
}

}  // namespace dossier::model
