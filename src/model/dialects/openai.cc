// The OpenAI-compatible dialect: /chat/completions. Also spoken by OpenRouter, vLLM, llama.cpp and
// most pools.

#include <algorithm>
#include <cmath>

#include "base/text/text.h"
#include "model/dialects/dialect.h"
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
    const std::string_view role = turn.role == Role::kSystem ? SystemName(capability_) : "user";
    const auto is_result = [](const Block& block) {
      return block.type == Block::Type::kToolResult;
    };
    if (!turn.blocks.empty() && std::ranges::none_of(turn.blocks, is_result)) {
      return Add(role, turn.blocks);  // of any size, so no copy is made
    }
    Turn rest{.role = turn.role};
    for (const Block& block : turn.blocks) {
      if (!is_result(block)) {
        rest.blocks.push_back(block);
        continue;
      }
      list_.push_back(JsonObject{{"role", "tool"},
                                 {"tool_call_id", block.call_id},
                                 {"content", Content(breakpoints_).Of({block})}});
    }
    if (rest.blocks.empty()) return;
    Add(role, rest.blocks);
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
  SamplingWriter add{request, options.entry, body, warnings};
  if (sampling.temperature) add("temperature", *sampling.temperature);
  if (sampling.top_p) add("top_p", *sampling.top_p);
  add("stop", StopList(sampling.stop));
  if (sampling.seed) add("seed", *sampling.seed, options.entry.form.seed_name);
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

WireRequest BuildOpenAiBody(const Request& request, const WireOptions& options) {
  WireRequest wire;
  JsonObject body{{"model", request.model},
                  {"messages", MessageList(options).Of(request.messages)}};
  if (!request.messages.tools.empty()) {
    body["tools"] = ToolsJson(request.messages.tools);
    if (request.tool_use == Request::ToolUse::kNone) body["tool_choice"] = "none";
    if (request.tool_use == Request::ToolUse::kRequired) {
      body["tool_choice"] = options.entry.form.required_tool;
    }
  }
  AddSampling(request, options, body, wire.warnings);
  AddSchema(request, options, body, wire.warnings);
  const ChatForm& form = options.entry.form;
  if (!form.prompt_mode.empty()) body["prompt_mode"] = form.prompt_mode;
  for (const auto& [name, value] : request.sampling.extra) {
    if (name != "messages" && name != "stream") body[name] = value;
  }
  if (options.stream == Streaming::kYes) {
    body["stream"] = true;
    if (form.stream_options) body["stream_options"] = JsonObject{{"include_usage", true}};
  }
  wire.body = ToJson(body);
  return wire;
}

class OpenAiStream final : public ReplyStream {
 public:
  Result<std::string> Add(std::string_view data) override;

 protected:
  // What has neither id nor name can be neither run nor answered.
  void Complete(Reply& reply) override {
    std::erase_if(reply.tool_calls,
                  [](const ToolCall& call) { return call.id.empty() && call.name.empty(); });
  }

 private:
  Result<std::string> AddChoice(const Json& choice);
  Status AddToolCall(const Json& delta);
  void End(std::string_view reason);

  bool refused_ = false;  // the text is the words of a refusal
};

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

// A field of its own, or among the parts of the content: {"type": "thinking", "thinking": [{"type":
// "text", "text": "…"}]}, as Mistral sends it.
std::string ThinkingText(const Json& message) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    if (const auto text = FindString(message, name); text && !text->empty()) {
      return std::string(*text);
    }
  }
  const Json* content = Find(message, "content");
  const JsonArray* parts = content ? content->if_array() : nullptr;
  std::string joined;
  for (const Json& part : parts ? *parts : JsonArray()) {
    if (FindString(part, "type") == "thinking") joined += ContentText(Find(part, "thinking"));
  }
  return joined;
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

// The words of a refusal.
std::string ReadRefusal(const Json& message, Reply& reply) {
  std::string refusal = TextAt(message, "refusal");
  if (!refusal.empty()) reply.finish = Finish::kRefused;
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
  const std::string_view id = FindString(delta, "id").value_or("");
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t place,
                           ToolCallAt(FindInt(delta, "index").value_or(0), id));
  ToolCall& call = reply_.tool_calls[place];
  if (!id.empty()) call.id = id;
  if (const Json* function = Find(delta, "function")) {
    // Some say the whole name with every piece.
    const std::string_view name = FindString(*function, "name").value_or("");
    if (name != call.name) call.name += name;
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
  DOSSIER_ASSIGN_OR_RETURN(const Json value, ParseLenient(data, reply_.warnings, &half_));
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
  if (refused_) reply_.finish = Finish::kRefused;
  finished_ = true;
}

}  // namespace

const WireDialect kOpenAiDialect{
    .name = "openai",
    .version = "",  // base addresses hold it, by custom
    .target = [](const Request&, Streaming) { return std::string("/chat/completions"); },
    .headers =
        [](std::string_view key) {
          std::vector<std::string> headers;
          if (!key.empty()) headers.push_back(fmt::format("Authorization: Bearer {}", key));
          return headers;
        },
    .build = BuildOpenAiBody,
    .parse = ParseOpenAiReply,
    .read_usage = ReadOpenAiUsage,
    .stream = []() -> std::unique_ptr<ReplyStream> { return std::make_unique<OpenAiStream>(); }};

}  // namespace dossier::model
