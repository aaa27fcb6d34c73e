#include "base/text/text.h"
#include "model/client/http_failure.h"
#include "model/dialects/gemini_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;

// " (HARM_CATEGORY_HARASSMENT: HIGH)": the categories that blocked, or are at least likely.
std::string Ratings(const Json& holder) {
  const Json* ratings = Find(holder, "safetyRatings");
  if (!ratings || !ratings->is_array()) return {};
  std::vector<std::string> named;
  for (const Json& rating : ratings->as_array()) {
    const std::string_view probability = FindString(rating, "probability").value_or("");
    const bool likely = probability == "HIGH" || probability == "MEDIUM";
    if (named.size() == 8 || (FindBool(rating, "blocked") != true && !likely)) continue;
    const std::string_view category = FindString(rating, "category").value_or("?");
    named.push_back(fmt::format("{}: {}", Excerpt(category, ""), Excerpt(probability, "")));
  }
  return named.empty() ? "" : " (" + Join(named, ", ") + ")";
}

// A prompt that the safety rules refuse has no candidates.
std::optional<Error> FindBlock(const Json& value) {
  const Json* feedback = Find(value, "promptFeedback");
  if (!feedback) return std::nullopt;
  const auto reason = FindString(*feedback, "blockReason");
  if (!reason) return std::nullopt;
  return Error{ErrorCode::kFailed,
               fmt::format("gemini blocked the prompt by its safety rules: {}{}",
                           Excerpt(*reason, ""), Ratings(*feedback))};
}

void ReadGeminiIdentity(const Json& value, Reply& reply) {
  if (const auto model = FindString(value, "modelVersion")) reply.resolved_model = *model;
  if (const auto id = FindString(value, "responseId")) {
    reply.provider_data.as_object()["id"] = *id;
  }
}

Json Signed(const Json& part, JsonObject own = {}) {
  if (const auto signature = FindString(part, "thoughtSignature")) {
    own["thoughtSignature"] = *signature;
  }
  return own.empty() ? Json() : Json(JsonObject{{"gemini", std::move(own)}});
}

void AddCall(const Json& part, const Json& function, Reply& reply) {
  if (reply.tool_calls.size() == kMostToolCalls) return;
  const Json* arguments = Find(function, "args");
  const auto id = FindString(function, "id");
  ToolCall call{.name = TextAt(function, "name"),
                .arguments = arguments && arguments->is_object() ? *arguments : JsonObject()};
  // Older models give none: the place will do, as results come in the same order.
  call.id = id ? std::string(*id) : fmt::format("call_{}", reply.tool_calls.size());
  call.provider_data = Signed(part, id ? JsonObject{{"id", true}} : JsonObject());
  reply.blocks.push_back({.type = Block::Type::kToolCall,
                          .call_id = call.id,
                          .tool_name = call.name,
                          .arguments = call.arguments,
                          .provider_data = call.provider_data});
  reply.tool_calls.push_back(std::move(call));
}

// Adds one part; gives the text of the answer that it holds.
std::string AddPart(const Json& part, Reply& reply) {
  if (const Json* function = Find(part, "functionCall")) {
    AddCall(part, *function, reply);
    return {};
  }
  const std::string text = TextAt(part, "text");
  if (FindBool(part, "thought") == true) {
    reply.thinking += text;
    return {};
  }
  reply.text += text;
  Json own = Signed(part);
  const bool joins = own.is_null() && !reply.blocks.empty() &&
                     reply.blocks.back().type == Block::Type::kText &&
                     reply.blocks.back().provider_data.is_null();
  if (joins) {
    reply.blocks.back().text += text;
  } else if (!text.empty() || !own.is_null()) {
    reply.blocks.push_back({.text = text, .provider_data = std::move(own)});
  }
  return text;
}

// The answer's text that `candidate` adds.
std::string ReadCandidate(const Json& candidate, Reply& reply) {
  std::string text;
  if (const Json* content = Find(candidate, "content")) {
    if (const Json* parts = Find(*content, "parts"); parts && parts->is_array()) {
      for (const Json& part : parts->as_array()) text += AddPart(part, reply);
    }
  }
  if (const auto reason = FindString(candidate, "finishReason")) {
    EndReply(*reason, reply);
    reply.provider_data.as_object()["finish_reason"] = *reason;
    if (reply.finish == Finish::kFilter) {
      reply.warnings.push_back(fmt::format("gemini's safety rules ended the reply: {}{}",
                                           Excerpt(*reason, ""), Ratings(candidate)));
    }
  }
  return text;
}

const Json* FirstCandidate(const Json& value) {
  const Json* candidates = Find(value, "candidates");
  if (!candidates || !candidates->is_array()) return nullptr;
  for (const Json& candidate : candidates->as_array()) {
    if (candidate.is_object() && FindInt(candidate, "index").value_or(0) == 0) return &candidate;
  }
  return nullptr;
}

void Finalise(Reply& reply) {
  if (reply.finish == Finish::kStop && !reply.tool_calls.empty()) {
    reply.finish = Finish::kToolCalls;
  }
  const bool returned =
      std::any_of(reply.blocks.begin(), reply.blocks.end(),
                  [](const Block& block) { return !block.provider_data.is_null(); });
  if (!returned) reply.blocks.clear();
}

// A reply that the safety rules ended before its first word is a refusal, not an empty answer.
std::optional<Error> Refusal(const Reply& reply) {
  if (reply.finish != Finish::kFilter || !reply.text.empty() || !reply.tool_calls.empty()) {
    return std::nullopt;
  }
  return Error{ErrorCode::kFailed, reply.warnings.back()};
}

}  // namespace

void ReadGeminiUsage(const Json& value, Reply& reply) {
  const Json* usage = Find(value, "usageMetadata");
  const auto is_none_or_count = [usage](std::string_view name) {
    return !Find(*usage, name) || IsCount(*usage, name, 0);
  };
  if (!usage || !IsCount(*usage, "promptTokenCount", 1) ||
      !is_none_or_count("candidatesTokenCount") || !is_none_or_count("thoughtsTokenCount")) {
    return;
  }
  // The API counts thoughts beside the candidates and leaves the field out where there are none.
  const std::int64_t thoughts = TokensOf(*usage, "thoughtsTokenCount");
  reply.usage = {
      .input = TokensOf(*usage, "promptTokenCount") + TokensOf(*usage, "toolUsePromptTokenCount"),
      .output = TokensOf(*usage, "candidatesTokenCount") + thoughts,
      .cached = TokensOf(*usage, "cachedContentTokenCount"),
      .reasoning = thoughts};
  reply.usage.cached = std::min(reply.usage.cached, reply.usage.input);
}

Result<Reply> ParseGeminiReply(std::string_view body) {
  if (body.size() > kMaxReplyBytes) return MalformedReply("larger than 64 MiB");
  Reply reply;
  reply.provider_data = JsonObject();
  reply.usage.estimated = true;
  reply.finish = Finish::kOther;
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(body, reply.warnings));
  if (auto reported = FindReportedError(value)) return tl::unexpected(reported->error);
  if (auto blocked = FindBlock(value)) return tl::unexpected(*blocked);
  const Json* candidate = FirstCandidate(value);
  if (!candidate) return MalformedReply("it has no candidates");
  ReadCandidate(*candidate, reply);
  ReadGeminiIdentity(value, reply);
  ReadGeminiUsage(value, reply);
  if (auto refused = Refusal(reply)) return tl::unexpected(*refused);
  Finalise(reply);
  return reply;
}

Result<std::string> GeminiStream::Add(std::string_view data) {
  if (!reply_.provider_data.is_object()) {
    reply_.provider_data = JsonObject();
    reply_.usage.estimated = true;
    reply_.finish = Finish::kOther;
  }
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings));
  if (!value.is_object()) return MalformedReply("an event that is no object");
  if (auto reported = FindReportedError(value)) {
    ReadGeminiUsage(value, reply_);
    retry_ = reported->retry;
    return tl::unexpected(reported->error);
  }
  if (auto blocked = FindBlock(value)) {
    ReadGeminiUsage(value, reply_);
    return tl::unexpected(*blocked);
  }
  ReadGeminiIdentity(value, reply_);
  const Json* candidate = FirstCandidate(value);
  const auto size = [this] {
    return reply_.text.size() + reply_.thinking.size() + reply_.tool_calls.size();
  };
  const std::size_t before = size();
  std::string text = candidate ? ReadCandidate(*candidate, reply_) : "";
  if (size() > before) Grew();
  ReadGeminiUsage(value, reply_);
  if (!candidate) return std::string();
  if (FindString(*candidate, "finishReason")) {
    if (auto refused = Refusal(reply_)) {
      started_ = false;  // thinking alone is nothing to keep
      return tl::unexpected(*refused);
    }
    finished_ = true;
  }
  return text;
}

void GeminiStream::Complete(Reply& reply) { Finalise(reply); }

}  // namespace dossier::model
