#include "base/text/text.h"
#include "model/dialects/anthropic_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

JsonObject ImageJson(const Block& block) {
  JsonObject source;
  if (block.url.empty()) {
    source = {{"type", "base64"}, {"media_type", block.media_type}, {"data", block.text}};
  } else {
    source = {{"type", "url"}, {"url", block.url}};
  }
  return {{"type", "image"}, {"source", std::move(source)}};
}

// The block as the API takes it; nothing for one that it would refuse: blank text, the thinking of
// another provider.
std::optional<JsonObject> BlockJson(const Block& block) {
  switch (block.type) {
    case Block::Type::kText:
      if (TrimSpace(block.text).empty()) return std::nullopt;
      return JsonObject{{"type", "text"}, {"text", CleanText(block.text)}};
    case Block::Type::kImage:
      return ImageJson(block);
    case Block::Type::kThinking:
      if (const Json* own = Find(block.provider_data, "anthropic"); own && own->is_object()) {
        return own->as_object();
      }
      return std::nullopt;
    case Block::Type::kToolCall: {
      const Json input = block.arguments.is_object() ? block.arguments : Json(JsonObject());
      return JsonObject{{"type", "tool_use"},
                        {"id", CleanCallId(block.call_id)},
                        {"name", block.tool_name},
                        {"input", input}};
    }
    case Block::Type::kToolResult: {
      JsonObject result{{"type", "tool_result"}, {"tool_use_id", CleanCallId(block.call_id)}};
      if (!TrimSpace(block.text).empty()) result["content"] = CleanText(block.text);
      return result;
    }
  }
  return std::nullopt;
}

class AnthropicBody {
 public:
  AnthropicBody(const Request& request, const WireOptions& options)
      : request_(request), options_(options), breakpoints_(options.entry.capability) {}

  WireRequest Run() {
    body_["model"] = request_.model;
    body_["max_tokens"] =
        request_.sampling.max_output.value_or(options_.entry.capability.max_output);
    AddTools();
    JsonArray system;
    for (const Block& block : request_.messages.system) AddBlock(block, system);
    if (!system.empty()) body_["system"] = std::move(system);
    for (const Turn& turn : request_.messages.turns) AddTurn(turn);
    TrimPrefill();
    body_["messages"] = std::move(messages_);
    AddSampling();
    AddSchema();
    for (const auto& [name, value] : request_.sampling.extra) {
      if (name != "messages" && name != "system" && name != "stream") body_[name] = value;
    }
    if (options_.stream == Streaming::kYes) body_["stream"] = true;
    return {ToJson(body_), std::move(warnings_)};
  }

 private:
  void AddTools() {
    JsonArray tools;
    for (const assembly::ToolSpec& tool : request_.messages.tools) {
      tools.push_back(JsonObject{{"name", tool.name},
                                 {"description", CleanText(tool.description)},
                                 {"input_schema", tool.parameters}});
    }
    if (tools.empty()) return;
    body_["tools"] = std::move(tools);
    if (request_.tool_use == Request::ToolUse::kNone) {
      body_["tool_choice"] = JsonObject{{"type", "none"}};
    } else if (request_.tool_use == Request::ToolUse::kRequired) {
      body_["tool_choice"] = JsonObject{{"type", "any"}};
    }
  }

  void AddBlock(const Block& block, JsonArray& list) {
    std::optional<JsonObject> json = BlockJson(block);
    if (!json) return;
    // The API refuses breakpoints on thinking.
    if (block.type != Block::Type::kThinking && breakpoints_.Take(block)) {
      JsonObject control{{"type", "ephemeral"}};
      if (const auto lifetime = breakpoints_.Lifetime(block)) control["ttl"] = *lifetime;
      (*json)["cache_control"] = std::move(control);
    }
    list.push_back(std::move(*json));
  }

  static std::string_view RoleOf(const Turn& turn) {
    if (turn.role == Role::kAssistant) return "assistant";
    return turn.role == Role::kSystem ? "system" : "user";
  }

  void AddTurn(const Turn& turn) {
    JsonArray content;
    for (const Block& block : turn.blocks) AddBlock(block, content);
    if (content.empty()) return;
    const std::string_view role = RoleOf(turn);
    if (!messages_.empty() && FindString(messages_.back(), "role") == role) {
      JsonArray& last = messages_.back().as_object()["content"].as_array();
      last.insert(last.end(), content.begin(), content.end());
      return;
    }
    messages_.push_back(JsonObject{{"role", role}, {"content", std::move(content)}});
  }

  // A reply to be continued may not end with white space.
  void TrimPrefill() {
    if (messages_.empty() || FindString(messages_.back(), "role") != "assistant") return;
    JsonObject& block = messages_.back().as_object()["content"].as_array().back().as_object();
    if (block["type"] != "text") return;
    const std::string_view text = block["text"].as_string();
    block["text"] = std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
  }

  void AddSampling() {
    const Sampling& sampling = request_.sampling;
    const auto number = [&](std::string_view name, const std::optional<double>& value) {
      if (!value) return;
      if (options_.entry.sampling) {
        body_[name] = *value;
      } else {
        warnings_.push_back(LeftOut(request_, name));
      }
    };
    number("temperature", sampling.temperature);
    number("top_p", sampling.top_p);
    if (sampling.seed) warnings_.push_back(LeftOut(request_, "seed"));
    JsonArray stops;
    for (const std::string& stop : sampling.stop) {
      if (TrimSpace(stop).empty()) {
        warnings_.push_back(LeftOut(request_, "a stop sequence of white space"));
      } else {
        stops.push_back(CleanText(stop));
      }
    }
    if (!stops.empty()) body_["stop_sequences"] = std::move(stops);
  }

  void AddSchema() {
    if (!request_.schema) return;
    if (options_.entry.json_schema) {
      body_["output_config"] =
          JsonObject{{"format", JsonObject{{"type", "json_schema"}, {"schema", *request_.schema}}}};
      return;
    }
    warnings_.push_back(request_.model + " takes no JSON Schema: it is asked for in words");
    JsonObject words{{"type", "text"}, {"text", WordsForSchema(*request_.schema).substr(2)}};
    JsonArray& messages = body_["messages"].as_array();
    for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
      if (FindString(*message, "role") != "user") continue;
      message->as_object()["content"].as_array().push_back(std::move(words));
      return;
    }
    messages.push_back(JsonObject{{"role", "user"}, {"content", JsonArray{std::move(words)}}});
  }

  const Request& request_;
  const WireOptions& options_;
  BreakpointBudget breakpoints_;
  JsonObject body_;
  JsonArray messages_;
  std::vector<std::string> warnings_;
};

}  // namespace

WireRequest BuildAnthropicBody(const Request& request, const WireOptions& options) {
  return AnthropicBody(request, options).Run();
}

}  // namespace dossier::model
