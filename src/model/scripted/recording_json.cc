#include "model/scripted/recording_json.h"

#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

using assembly::Block;

constexpr std::string_view kFence = "DATA ";
constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kShown = 30;  // characters on each side of a difference

bool IsHexId(std::string_view text) {
  return text.size() == kIdDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "<<<DATA 72c8…" and "DATA 72c8…>>>" get an id of zeros: it is drawn anew for each run.
std::string WithoutFenceIds(std::string text) {
  for (std::size_t at = text.find(kFence); at != std::string::npos; at = text.find(kFence, at)) {
    at += kFence.size();
    if (IsHexId(std::string_view(text).substr(at, kIdDigits))) {
      text.replace(at, kIdDigits, kIdDigits, '0');
    }
  }
  return text;
}

// Every text of `value` through `change`.
template <typename Change>
Json MapTexts(const Json& value, const Change& change) {
  if (const auto* text = value.if_string()) return Json(change(std::string(*text)));
  if (const auto* array = value.if_array()) {
    JsonArray out;
    out.reserve(array->size());
    for (const Json& item : *array) out.push_back(MapTexts(item, change));
    return out;
  }
  if (const auto* object = value.if_object()) {
    JsonObject out;
    for (const auto& [name, item] : *object) out[name] = MapTexts(item, change);
    return out;
  }
  return value;
}

std::string WithoutSecrets(std::string text, std::string_view key) {
  if (!utf8::IsValid(text)) text = utf8::Sanitize(text);
  if (!key.empty()) text = ReplaceAll(text, key, "[redacted:key]");
  return Redact(text);
}

Json Cleaned(const Json& value, std::string_view key) {
  return MapTexts(value, [key](std::string text) { return WithoutSecrets(std::move(text), key); });
}

// The seed does not count: it is drawn anew for each run.
Json SamplingToJson(const Sampling& sampling) {
  JsonObject out;
  if (sampling.temperature) out["temperature"] = *sampling.temperature;
  if (sampling.top_p) out["top_p"] = *sampling.top_p;
  if (sampling.max_output) out["max_output"] = *sampling.max_output;
  if (!sampling.stop.empty()) out["stop"] = JsonArray(sampling.stop.begin(), sampling.stop.end());
  if (!sampling.grammar.empty()) out["grammar"] = sampling.grammar;
  if (sampling.first_tokens > 0) out["first_tokens"] = sampling.first_tokens;
  if (!sampling.extra.empty()) out["extra"] = sampling.extra;
  return out;
}

std::string Shown(std::string_view text, std::size_t at) {
  const std::size_t from = utf8::FloorBoundary(text, at > kShown ? at - kShown : 0);
  const std::string_view part = utf8::Prefix(text.substr(from), 2 * kShown);
  return ToJson(Json(fmt::format("{}{}{}", from > 0 ? "…" : "", part,
                                 from + part.size() < text.size() ? "…" : "")));
}

std::string TextDifference(std::string_view recorded, std::string_view asked) {
  const auto [one, other] =
      std::mismatch(recorded.begin(), recorded.end(), asked.begin(), asked.end());
  const auto at = static_cast<std::size_t>(one - recorded.begin());
  return fmt::format(", character {}: recorded {}, asked {}",
                     utf8::CodePoints(recorded.substr(0, at)), Shown(recorded, at),
                     Shown(asked, at));
}

// Finds the place; `path` has it afterwards.
std::string Compare(const Json& recorded, const Json& asked, std::string& path) {
  const std::string here = path;
  const auto inside = [&](const Json* one, const Json* other, std::string place) -> std::string {
    path = std::move(place);
    if (!one) return path + " is new";
    if (!other) return path + " is gone";
    return Compare(*one, *other, path);
  };
  if (recorded.is_object() && asked.is_object()) {
    const std::string dot = here.empty() ? "" : here + ".";
    for (const auto& [name, value] : asked.as_object()) {
      auto found = inside(Find(recorded, name), &value, dot + std::string(name));
      if (!found.empty()) return found;
    }
    for (const auto& [name, value] : recorded.as_object()) {
      if (!Find(asked, name)) return inside(&value, nullptr, dot + std::string(name));
    }
    return {};
  }
  if (recorded.is_array() && asked.is_array()) {
    const JsonArray &one = recorded.as_array(), &other = asked.as_array();
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
      auto found = inside(i < one.size() ? &one[i] : nullptr,
                          i < other.size() ? &other[i] : nullptr, fmt::format("{}[{}]", here, i));
      if (!found.empty()) return found;
    }
    return {};
  }
  if (recorded == asked) return {};
  if (recorded.is_string() && asked.is_string()) {
    return path + TextDifference(recorded.as_string(), asked.as_string());
  }
  return fmt::format("{}: recorded {}, asked {}", path, utf8::Prefix(ToJson(recorded), 60),
                     utf8::Prefix(ToJson(asked), 60));
}

JsonArray CallsToJson(const std::vector<ToolCall>& calls) {
  JsonArray out;
  for (const ToolCall& call : calls) {
    JsonObject json{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}};
    if (!call.provider_data.is_null()) json["provider_data"] = call.provider_data;
    out.push_back(std::move(json));
  }
  return out;
}

Json ValueAt(const Json& json, std::string_view name) {
  const Json* value = Find(json, name);
  return value ? *value : Json();
}

Block BlockFromJson(const Json& json) {
  Block block{.text = TextAt(json, "text"),
              .call_id = TextAt(json, "id"),
              .tool_name = TextAt(json, "name"),
              .arguments = ValueAt(json, "arguments"),
              .provider_data = ValueAt(json, "provider_data")};
  const std::string type = TextAt(json, "type");
  if (type == "thinking") block.type = Block::Type::kThinking;
  if (type == "tool_call") block.type = Block::Type::kToolCall;
  return block;
}

Usage UsageFromJson(const Json& json) {
  const auto tokens = [&](std::string_view name) {
    return std::max<std::int64_t>(0, FindInt(json, name).value_or(0));
  };
  return {.input = tokens("input"),
          .output = tokens("output"),
          .cached = tokens("cached"),
          .cache_write = tokens("cache_write"),
          .cache_write_long = tokens("cache_write_long"),
          .reasoning = FindInt(json, "reasoning"),
          .estimated = FindBool(json, "estimated").value_or(false),
          .cost_nano_usd = FindInt(json, "cost_nano_usd")};
}

Json UsageToJson(const Usage& usage) {
  return JsonObject{
      {"input", usage.input},
      {"output", usage.output},
      {"cached", usage.cached},
      {"cache_write", usage.cache_write},
      {"cache_write_long", usage.cache_write_long},
      {"reasoning", usage.reasoning ? Json(*usage.reasoning) : Json(nullptr)},
      {"estimated", usage.estimated},
      {"cost_nano_usd", usage.cost_nano_usd ? Json(*usage.cost_nano_usd) : Json(nullptr)}};
}

}  // namespace

Json RequestToJson(const Request& request, std::string_view key) {
  JsonObject out{{"model", request.model},
                 {"messages", assembly::ToCanonicalJson(request.messages)},
                 {"sampling", SamplingToJson(request.sampling)}};
  if (request.schema) out["schema"] = *request.schema;
  return MapTexts(Cleaned(out, key), WithoutFenceIds);
}

Json ReplyToJson(const Reply& reply, std::string_view key) {
  JsonArray warnings(reply.warnings.begin(), reply.warnings.end());
  JsonObject out{{"text", reply.text},
                 {"thinking", reply.thinking},
                 {"tool_calls", CallsToJson(reply.tool_calls)},
                 {"finish", FinishName(reply.finish)},
                 {"usage", UsageToJson(reply.usage)},
                 {"resolved_model", reply.resolved_model},
                 {"provider_data", reply.provider_data},
                 {"warnings", std::move(warnings)}};
  if (!reply.first_tokens.empty()) {
    JsonArray chances;
    for (const TokenChance& chance : reply.first_tokens) {
      chances.push_back(JsonObject{{"token", chance.token}, {"logprob", chance.logprob}});
    }
    out["first_tokens"] = std::move(chances);
  }
  if (!reply.blocks.empty()) {
    assembly::Messages messages;
    messages.turns.push_back({.role = assembly::Role::kAssistant, .blocks = reply.blocks});
    out["blocks"] = ToCanonicalJson(messages).at_pointer("/turns/0/blocks");
  }
  return Cleaned(out, key);
}

Json FailureToJson(const Error& error, const Failure& failure, std::string_view key) {
  JsonObject out{{"code", ErrorName(error.code)},
                 {"message", error.message},
                 {"status", failure.status},
                 {"retry", failure.retry == Failure::Retry::kYes}};
  if (failure.sent == Failure::Sent::kYes) out["sent"] = true;
  if (failure.usage) out["usage"] = UsageToJson(*failure.usage);
  if (failure.retry_after) out["retry_after_ms"] = failure.retry_after->count();
  return Cleaned(out, key);
}

Reply ReplyFromJson(const Json& json) {
  Reply reply;
  reply.text = TextAt(json, "text");
  reply.thinking = TextAt(json, "thinking");
  reply.resolved_model = TextAt(json, "resolved_model");
  reply.provider_data = ValueAt(json, "provider_data");
  reply.finish = Finish::kOther;
  for (const Finish finish :
       {Finish::kStop, Finish::kLength, Finish::kToolCalls, Finish::kFilter, Finish::kCut}) {
    if (FindString(json, "finish") == FinishName(finish)) reply.finish = finish;
  }
  reply.usage = UsageFromJson(ValueAt(json, "usage"));
  const auto each = [&](std::string_view name, const auto& take) {
    const Json* list = Find(json, name);
    if (!list || !list->is_array()) return;
    for (const Json& item : list->as_array()) take(item);
  };
  each("tool_calls", [&](const Json& call) {
    reply.tool_calls.push_back({.id = TextAt(call, "id"),
                                .name = TextAt(call, "name"),
                                .arguments = ValueAt(call, "arguments"),
                                .provider_data = ValueAt(call, "provider_data")});
  });
  each("first_tokens", [&](const Json& chance) {
    reply.first_tokens.push_back(
        {TextAt(chance, "token"), FindNumber(chance, "logprob").value_or(0)});
  });
  each("blocks", [&](const Json& block) { reply.blocks.push_back(BlockFromJson(block)); });
  each("warnings", [&](const Json& text) {
    if (text.is_string()) reply.warnings.emplace_back(text.as_string());
  });
  return reply;
}

RecordedFailure FailureFromJson(const Json& json) {
  RecordedFailure recorded{.error = {ErrorCode::kFailed, TextAt(json, "message")}};
  for (int code = 0; code <= static_cast<int>(ErrorCode::kFailed); ++code) {
    const auto known = static_cast<ErrorCode>(code);
    if (FindString(json, "code") == ErrorName(known)) recorded.error.code = known;
  }
  recorded.failure.status = static_cast<int>(FindInt(json, "status").value_or(0));
  if (FindBool(json, "retry") == true) recorded.failure.retry = Failure::Retry::kYes;
  if (FindBool(json, "sent") == true) recorded.failure.sent = Failure::Sent::kYes;
  if (const Json* usage = Find(json, "usage")) recorded.failure.usage = UsageFromJson(*usage);
  if (const auto wait = FindInt(json, "retry_after_ms"); wait && *wait >= 0) {
    recorded.failure.retry_after = Millis(*wait);
  }
  return recorded;
}

std::string FirstDifference(const Json& recorded, const Json& asked) {
  std::string path;
  return Compare(recorded, asked, path);
}

}  // namespace dossier::model
