#include "model/dialects/openai_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

std::string_view SystemName(const assembly::Capability& capability) {
  const std::string& role = capability.system_role;
  if (role == "developer") return "developer";
  return role == "none" ? "user" : "system";
}

Json ToolCallJson(const Block& block) {
  return JsonObject{
      {"id", block.call_id},
      {"type", "function"},
      {"function", JsonObject{{"name", block.tool_name}, {"arguments", ToJson(block.arguments)}}}};
}

Json ImagePart(const Block& block) {
  const std::string url = block.url.empty()
                              ? fmt::format("data:{};base64,{}", block.media_type, block.text)
                              : block.url;
  return JsonObject{{"type", "image_url"}, {"image_url", JsonObject{{"url", url}}}};
}

// A text; a list of parts only where an image or a breakpoint needs one, as few servers take lists.
class Content {
 public:
  explicit Content(BreakpointBudget& breakpoints) : breakpoints_(breakpoints) {}

  Json Of(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) Add(block);
    if (parts_.empty()) return CleanText(text_);
    Flush();
    return std::move(parts_);
  }

 private:
  void Add(const Block& block) {
    if (block.type == Block::Type::kImage) {
      Flush();
      parts_.push_back(ImagePart(block));
    } else if (block.type != Block::Type::kThinking && !block.text.empty()) {
      if (!text_.empty()) text_ += "\n\n";
      text_ += block.text;
    }
    if (!breakpoints_.Take(block)) return;
    Flush();
    if (parts_.empty()) return;
    parts_.back().as_object()["prompt_cache_breakpoint"] = JsonObject{{"mode", "explicit"}};
  }

  void Flush() {
    if (text_.empty()) return;
    parts_.push_back(JsonObject{{"type", "text"}, {"text", CleanText(text_)}});
    text_.clear();
  }

  BreakpointBudget& breakpoints_;
  std::string text_;
  JsonArray parts_;
};

class MessageList {
 public:
  explicit MessageList(const WireOptions& options)
      : capability_(options.entry.capability), breakpoints_(capability_) {}

  JsonArray Of(const assembly::Messages& messages) {
    if (!messages.SystemText().empty()) Add(SystemName(capability_), messages.system);
    for (const Turn& turn : messages.turns) AddTurn(turn);
    const bool prefill = !messages.turns.empty() && messages.turns.back().role == Role::kAssistant;
    if (prefill && capability_.prefill_flag) list_.back().as_object()["prefix"] = true;
    return std::move(list_);
  }

 private:
  void Add(std::string_view role, const std::vector<Block>& blocks) {
    list_.push_back(JsonObject{{"role", role}, {"content", Content(breakpoints_).Of(blocks)}});
  }

  void AddAssistant(const Turn& turn) {
    JsonArray calls;
    for (const Block& block : turn.blocks) {
      if (block.type == Block::Type::kToolCall) calls.push_back(ToolCallJson(block));
    }
    const std::string text = turn.Text();
    JsonObject message{{"role", "assistant"}, {"content", CleanText(text)}};
    if (!calls.empty()) {
      if (text.empty()) message["content"] = nullptr;
      message["tool_calls"] = std::move(calls);
    }
    list_.push_back(std::move(message));
  }

  // Results of tools are messages of their own, before what the user says beside them.
  void AddTurn(const Turn& turn) {
    if (turn.role == Role::kAssistant) return AddAssistant(turn);
    Turn rest{.role = turn.role};
    for (const Block& block : turn.blocks) {
      if (block.type != Block::Type::kToolResult) {
        rest.blocks.push_back(block);
        continue;
      }
      list_.push_back(JsonObject{{"role", "tool"},
                                 {"tool_call_id", block.call_id},
                                 {"content", Content(breakpoints_).Of({block})}});
    }
    if (rest.blocks.empty()) return;
    Add(turn.role == Role::kSystem ? SystemName(capability_) : "user", rest.blocks);
  }

  const assembly::Capability& capability_;
  BreakpointBudget breakpoints_;
  JsonArray list_;
};

JsonArray ToolsJson(const std::vector<assembly::ToolSpec>& tools) {
  JsonArray list;
  for (const assembly::ToolSpec& tool : tools) {
    list.push_back(JsonObject{{"type", "function"},
                              {"function", JsonObject{{"name", tool.name},
                                                      {"description", CleanText(tool.description)},
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
  return std::all_of(object->begin(), object->end(),
                     [&](const auto& item) { return FitsStrictMode(item.value(), depth + 1); });
}

// The last user message asks for the schema in words.
void AskForSchema(const Json& schema, JsonArray& messages) {
  const std::string words = WordsForSchema(schema);
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (FindString(*message, "role") != "user") continue;
    Json& content = message->as_object()["content"];
    if (auto* parts = content.if_array()) {
      parts->push_back(JsonObject{{"type", "text"}, {"text", words.substr(2)}});
    } else {
      content = std::string(content.as_string()) + words;
    }
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
    for (const std::string& stop : sampling.stop) stops.push_back(CleanText(stop));
    optional["stop"] = std::move(stops);
  }
  for (auto& [name, value] : optional) {
    if (options.entry.sampling) {
      body[name] = value;
    } else {
      warnings.push_back(LeftOut(request, name));
    }
  }
  if (sampling.seed) body["seed"] = *sampling.seed;
  if (sampling.max_output) body[options.entry.max_tokens_name] = *sampling.max_output;
  if (sampling.first_tokens > 0 && options.entry.logprobs) {
    body["logprobs"] = true;
    body["top_logprobs"] = sampling.first_tokens;
  }
  const bool local = options.provider == "local";
  if (local && options.entry.grammar && !sampling.grammar.empty()) {
    body["grammar"] = sampling.grammar;
  }
  if (local) body["cache_prompt"] = true;
}

}  // namespace

WireRequest BuildOpenAiBody(const Request& request, const WireOptions& options) {
  WireRequest wire;
  JsonObject body{{"model", request.model},
                  {"messages", MessageList(options).Of(request.messages)}};
  if (!request.messages.tools.empty()) {
    body["tools"] = ToolsJson(request.messages.tools);
    if (request.tool_use == Request::ToolUse::kNone) body["tool_choice"] = "none";
    if (request.tool_use == Request::ToolUse::kRequired) body["tool_choice"] = "required";
  }
  AddSampling(request, options, body, wire.warnings);
  AddSchema(request, options, body, wire.warnings);
  for (const auto& [name, value] : request.sampling.extra) {
    if (name != "messages" && name != "stream") body[name] = value;
  }
  if (options.stream == Streaming::kYes) {
    body["stream"] = true;
    body["stream_options"] = JsonObject{{"include_usage", true}};
  }
  wire.body = ToJson(body);
  return wire;
}

}  // namespace dossier::model
