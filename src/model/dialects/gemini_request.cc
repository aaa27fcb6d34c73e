#include <map>

#include "model/dialects/gemini_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

// Fields of the request itself; every other --param is one of generationConfig.
constexpr std::string_view kTopFields[] = {"tools", "toolConfig", "safetySettings", "cachedContent",
                                           "labels"};

class GeminiBody {
 public:
  GeminiBody(const Request& request, const WireOptions& options)
      : request_(request), options_(options) {}

  WireRequest Run() {
    JsonArray system;
    for (const Block& block : request_.messages.system) AddPart(block, system);
    if (!system.empty()) {
      body_["systemInstruction"] = JsonObject{{"parts", std::move(system)}};
    }
    for (const Turn& turn : request_.messages.turns) AddTurn(turn);
    body_["contents"] = std::move(contents_);
    AddTools();
    AddSampling();
    AddSchema();
    AddExtra();
    if (!config_.empty()) body_["generationConfig"] = std::move(config_);
    return {ToJson(body_), std::move(warnings_)};
  }

 private:
  static const Json* Own(const Block& block) { return Find(block.provider_data, "gemini"); }

  // Results name the function, and its id only if the provider gave one.
  JsonObject FunctionResult(const Block& block) const {
    const auto call = calls_.find(block.call_id);
    const std::string& name =
        !block.tool_name.empty() || call == calls_.end() ? block.tool_name : call->second.name;
    JsonObject result{{"name", name.empty() ? block.call_id : name},
                      {"response", JsonObject{{"result", CleanText(block.text)}}}};
    if (call != calls_.end() && call->second.has_id) result["id"] = block.call_id;
    return result;
  }

  JsonObject FunctionCall(const Block& block) {
    const Json* own = Own(block);
    const bool has_id = own && FindBool(*own, "id") == true;
    calls_[block.call_id] = {block.tool_name, has_id};
    JsonObject call{{"name", block.tool_name},
                    {"args", block.arguments.is_object() ? block.arguments : Json(JsonObject())}};
    if (has_id) call["id"] = block.call_id;
    return call;
  }

  void AddPart(const Block& block, JsonArray& parts) {
    JsonObject part;
    switch (block.type) {
      case Block::Type::kThinking:
        return;  // summaries are not taken back
      case Block::Type::kText:
        if (block.text.empty()) return;
        part["text"] = CleanText(block.text);
        break;
      case Block::Type::kImage:
        if (block.url.empty()) {
          part["inlineData"] = JsonObject{{"mimeType", block.media_type}, {"data", block.text}};
        } else {
          part["fileData"] = JsonObject{{"fileUri", block.url}};
        }
        break;
      case Block::Type::kToolCall:
        part["functionCall"] = FunctionCall(block);
        break;
      case Block::Type::kToolResult:
        part["functionResponse"] = FunctionResult(block);
        break;
    }
    if (const Json* own = Own(block)) {
      if (const auto signature = FindString(*own, "thoughtSignature")) {
        part["thoughtSignature"] = *signature;
      }
    }
    parts.push_back(std::move(part));
  }

  // Results of calls stand alone in their message: the API pairs them with the calls before it.
  void AddTurn(const Turn& turn) {
    JsonArray results, rest;
    for (const Block& block : turn.blocks) {
      AddPart(block, block.type == Block::Type::kToolResult ? results : rest);
    }
    const std::string_view role = turn.role == Role::kAssistant ? "model" : "user";
    for (JsonArray* parts : {&results, &rest}) {
      if (parts->empty()) continue;
      contents_.push_back(JsonObject{{"role", role}, {"parts", std::move(*parts)}});
    }
  }

  void AddTools() {
    JsonArray functions;
    for (const assembly::ToolSpec& tool : request_.messages.tools) {
      functions.push_back(JsonObject{{"name", tool.name},
                                     {"description", CleanText(tool.description)},
                                     {"parametersJsonSchema", tool.parameters}});
    }
    if (functions.empty()) return;
    body_["tools"] = JsonArray{JsonObject{{"functionDeclarations", std::move(functions)}}};
    if (request_.tool_use != Request::ToolUse::kAllowed) {
      const bool required = request_.tool_use == Request::ToolUse::kRequired;
      body_["toolConfig"] =
          JsonObject{{"functionCallingConfig", JsonObject{{"mode", required ? "ANY" : "NONE"}}}};
    }
  }

  void AddSampling() {
    const Sampling& sampling = request_.sampling;
    const auto number = [&](std::string_view name, const std::optional<double>& value) {
      if (!value) return;
      if (options_.entry.sampling) {
        config_[name] = *value;
      } else {
        warnings_.push_back(LeftOut(request_, name));
      }
    };
    number("temperature", sampling.temperature);
    number("topP", sampling.top_p);
    if (sampling.max_output) config_["maxOutputTokens"] = *sampling.max_output;
    if (sampling.seed) config_["seed"] = static_cast<std::int64_t>(*sampling.seed & 0x7fffffff);
    JsonArray stops;
    for (const std::string& stop : sampling.stop) stops.push_back(CleanText(stop));
    if (!stops.empty()) config_["stopSequences"] = std::move(stops);
  }

  void AddSchema() {
    if (!request_.schema) return;
    if (options_.entry.json_schema) {
      config_["responseMimeType"] = "application/json";
      config_["responseJsonSchema"] = *request_.schema;
      return;
    }
    warnings_.push_back(request_.model + " takes no JSON Schema: it is asked for in words");
    JsonObject words{{"text", WordsForSchema(*request_.schema).substr(2)}};
    body_["contents"].as_array().push_back(
        JsonObject{{"role", "user"}, {"parts", JsonArray{std::move(words)}}});
  }

  void AddExtra() {
    for (const auto& [name, value] : request_.sampling.extra) {
      if (name == "contents" || name == "systemInstruction") continue;
      const bool top = std::find(std::begin(kTopFields), std::end(kTopFields),
                                 std::string_view(name)) != std::end(kTopFields);
      if (top) {
        body_[name] = value;
      } else if (name == "generationConfig" && value.is_object()) {
        for (const auto& [key, inner] : value.as_object()) config_[key] = inner;
      } else {
        config_[name] = value;
      }
    }
  }

  struct Call {
    std::string name;
    bool has_id = false;
  };

  const Request& request_;
  const WireOptions& options_;
  std::map<std::string, Call> calls_;  // by id, of the turns so far
  JsonObject body_, config_;
  JsonArray contents_;
  std::vector<std::string> warnings_;
};

}  // namespace

WireRequest BuildGeminiBody(const Request& request, const WireOptions& options) {
  return GeminiBody(request, options).Run();
}

}  // namespace dossier::model
