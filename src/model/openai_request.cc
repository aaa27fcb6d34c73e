#include "base/utf8.h"
#include "model/openai_wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

// JSON is UTF-8: a stray byte would make the whole request invalid.
Json Text(std::string_view text) {
  return utf8::IsValid(text) ? Json(text) : Json(utf8::Sanitize(text));
}

std::string_view SystemName(const Entry& entry) {
  const std::string& role = entry.capability.system_role;
  if (role == "developer") return "developer";
  return role == "none" ? "user" : "system";
}

Json ToolCallJson(const Block& block) {
  return JsonObject{{"id", block.call_id},
                    {"type", "function"},
                    {"function", JsonObject{{"name", block.tool_name},
                                            {"arguments", ToJson(block.arguments)}}}};
}

Json AssistantMessage(const Turn& turn) {
  JsonArray calls;
  for (const Block& block : turn.blocks) {
    if (block.type == Block::Type::kToolCall) calls.push_back(ToolCallJson(block));
  }
  const std::string text = turn.Text();
  JsonObject message{{"role", "assistant"}, {"content", Text(text)}};
  if (!calls.empty()) {
    if (text.empty()) message["content"] = nullptr;
    message["tool_calls"] = std::move(calls);
  }
  return message;
}

// Results of tools are messages of their own, before what the user says beside them.
void AddTurn(const Turn& turn, const Entry& entry, JsonArray& messages) {
  if (turn.role == Role::kAssistant) {
    messages.push_back(AssistantMessage(turn));
    return;
  }
  Turn rest{.role = turn.role};
  for (const Block& block : turn.blocks) {
    if (block.type != Block::Type::kToolResult) {
      rest.blocks.push_back(block);
      continue;
    }
    messages.push_back(JsonObject{
        {"role", "tool"}, {"tool_call_id", block.call_id}, {"content", Text(block.text)}});
  }
  if (rest.blocks.empty()) return;
  const std::string_view role = turn.role == Role::kSystem ? SystemName(entry) : "user";
  messages.push_back(JsonObject{{"role", role}, {"content", Text(rest.Text())}});
}

JsonArray MessagesJson(const Request& request, const Entry& entry) {
  JsonArray messages;
  if (const std::string system = request.messages.SystemText(); !system.empty()) {
    messages.push_back(JsonObject{{"role", SystemName(entry)}, {"content", Text(system)}});
  }
  for (const Turn& turn : request.messages.turns) AddTurn(turn, entry, messages);
  return messages;
}

JsonArray ToolsJson(const std::vector<assembly::ToolSpec>& tools) {
  JsonArray list;
  for (const assembly::ToolSpec& tool : tools) {
    list.push_back(JsonObject{{"type", "function"},
                              {"function", JsonObject{{"name", tool.name},
                                                      {"description", Text(tool.description)},
                                                      {"parameters", tool.parameters}}}});
  }
  return list;
}

// Strict mode takes only schemas whose objects are closed and need all their properties; others are
// refused with status 400.
bool FitsStrictMode(const Json& schema, int depth = 0) {
  if (depth > 32) return false;
  if (const auto* array = schema.if_array()) {
    return std::all_of(array->begin(), array->end(),
                       [&](const Json& item) { return FitsStrictMode(item, depth + 1); });
  }
  const auto* object = schema.if_object();
  if (!object) return true;
  if (const Json* properties = Find(*object, "properties"); properties && properties->is_object()) {
    const Json* required = Find(*object, "required");
    const bool all = required && required->is_array() &&
                     required->as_array().size() == properties->as_object().size();
    if (!all || FindBool(schema, "additionalProperties") != false) return false;
  }
  return std::all_of(object->begin(), object->end(), [&](const auto& item) {
    return FitsStrictMode(item.value(), depth + 1);
  });
}

// Where the server knows no schemas the last user message asks for one in words.
void AskForSchema(const Json& schema, JsonArray& messages) {
  const std::string words =
      "\n\nReply with one JSON value that matches this JSON Schema, and with nothing else:\n" +
      ToJson(schema);
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (FindString(*message, "role") != "user") continue;
    Json& content = message->as_object()["content"];
    content = std::string(content.as_string()) + words;
    return;
  }
  messages.push_back(JsonObject{{"role", "user"}, {"content", words.substr(2)}});
}

void AddSchema(const Request& request, const WireOptions& options, JsonObject& body,
               std::vector<std::string>& warnings) {
  if (!request.schema) return;
  if (options.entry.json_schema) {
    body["response_format"] =
        JsonObject{{"type", "json_schema"},
                   {"json_schema", JsonObject{{"name", "reply"},
                                              {"schema", *request.schema},
                                              {"strict", FitsStrictMode(*request.schema)}}}};
    return;
  }
  AskForSchema(*request.schema, body["messages"].as_array());
  warnings.push_back(request.model + " takes no JSON Schema: it is asked for in words");
}

void AddSampling(const Request& request, const WireOptions& options, JsonObject& body,
                 std::vector<std::string>& warnings) {
  const Sampling& sampling = request.sampling;
  JsonObject optional;
  if (sampling.temperature) optional["temperature"] = *sampling.temperature;
  if (sampling.top_p) optional["top_p"] = *sampling.top_p;
  if (!sampling.stop.empty()) {
    JsonArray stops;
    for (const std::string& stop : sampling.stop) stops.push_back(Text(stop));
    optional["stop"] = std::move(stops);
  }
  for (auto& [name, value] : optional) {
    if (options.entry.sampling) {
      body[name] = value;
    } else {
      warnings.push_back(
          fmt::format("{} refuses {}: left out", request.model, std::string_view(name)));
    }
  }
  if (sampling.seed) body["seed"] = *sampling.seed;
  if (sampling.max_output) body[options.entry.max_tokens_name] = *sampling.max_output;
  const bool local = options.provider == "local";
  if (local && options.entry.grammar && !sampling.grammar.empty()) {
    body["grammar"] = sampling.grammar;
  }
  if (local) body["cache_prompt"] = true;
}

}  // namespace

WireRequest BuildRequestBody(const Request& request, const WireOptions& options) {
  WireRequest wire;
  JsonObject body{{"model", request.model},
                  {"messages", MessagesJson(request, options.entry)}};
  if (!request.messages.tools.empty()) body["tools"] = ToolsJson(request.messages.tools);
  AddSampling(request, options, body, wire.warnings);
  AddSchema(request, options, body, wire.warnings);
  for (const auto& [name, value] : request.sampling.extra) {
    if (name != "messages" && name != "stream") body[name] = value;
  }
  const bool stream = options.stream == OpenAiOptions::Stream::kYes;
  if (stream) {
    body["stream"] = true;
    body["stream_options"] = JsonObject{{"include_usage", true}};
  }
  wire.body = ToJson(body);
  return wire;
}

}  // namespace dossier::model
