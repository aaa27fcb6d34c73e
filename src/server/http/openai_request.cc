#include "server/http/openai_request.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/net/url.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/schema/json_schema.h"

namespace dossier::server {
namespace {

using assembly::Block;
using assembly::Role;
using assembly::Turn;

constexpr std::size_t kEnd = 1'000;     // code points of a moved question's start and end
constexpr std::size_t kShownTurns = 2;  // earlier turns that the engine's question also contains
constexpr std::size_t kMostMessages = 4'096;

struct RoleWord {
  std::string_view word;
  Role role;
};
constexpr RoleWord kRoles[] = {{"system", Role::kSystem},
                               {"developer", Role::kSystem},
                               {"user", Role::kUser},
                               {"assistant", Role::kAssistant},
                               {"tool", Role::kTool}};

// Fields read below, or used only by the caller; all others are ignored with a warning.
constexpr std::string_view kHonoured[] = {"model",
                                          "messages",
                                          "temperature",
                                          "top_p",
                                          "seed",
                                          "stream",
                                          "stop",
                                          "stream_options",
                                          "tools",
                                          "tool_choice",
                                          "max_tokens",
                                          "metadata",
                                          "response_format",
                                          "dossier",
                                          "max_completion_tokens",
                                          "reasoning_effort",
                                          "n",
                                          "logprobs",
                                          "modalities",
                                          "audio"};

tl::unexpected<Error> Wrong(std::string_view path, std::string_view what) {
  return MakeError(ErrorCode::kInvalidArgument, "{}: {}", path, what);
}

// Finds a member with a value: clients send null for unset fields.
const Json* Given(const Json& object, std::string_view key) {
  const Json* there = Find(object, key);
  return there && !there->is_null() ? there : nullptr;
}

// Returns a field's value of one type; unset if it is absent or null.
template <typename Value, typename Find>
Result<std::optional<Value>> Field(const Json& object, std::string_view path, std::string_view key,
                                   std::string_view type, Find find) {
  const Json* there = Given(object, key);
  if (!there) return std::optional<Value>();
  const auto value = find(object, key);
  if (!value) return Wrong(fmt::format("{}{}", path, key), fmt::format("must be {}", type));
  return std::optional<Value>(*value);
}

Result<std::optional<double>> NumberField(const Json& object, std::string_view path,
                                          std::string_view key) {
  return Field<double>(object, path, key, "a number", FindNumber);
}
Result<std::optional<std::int64_t>> CountField(const Json& object, std::string_view path,
                                               std::string_view key) {
  DOSSIER_ASSIGN_OR_RETURN(const auto value,
                           Field<std::int64_t>(object, path, key, "a whole number", FindInt));
  if (value && *value < 0) return Wrong(fmt::format("{}{}", path, key), "must not be below 0");
  return value;
}
template <typename Value>
Result<std::optional<Value>> AsLimit(Result<std::optional<Value>> read, std::string_view path,
                                     std::string_view key) {
  if (!read || !*read || IsLimit(static_cast<double>(**read))) return read;
  return Wrong(fmt::format("{}{}", path, key), kNoLimit);
}

Result<bool> FlagField(const Json& object, std::string_view path, std::string_view key) {
  DOSSIER_ASSIGN_OR_RETURN(const auto value,
                           Field<bool>(object, path, key, "true or false", FindBool));
  return value.value_or(false);
}

// The messages, their long parts, and their files.
class Reader {
 public:
  Reader(const RequestReading& reading, ChatRequest& out) : reading_(reading), out_(out) {}

  Status Read(const Json& messages) {
    const JsonArray* list = messages.if_array();
    if (!list || list->empty()) return Wrong("messages", "must be a list that is not empty");
    if (list->size() > kMostMessages) return Wrong("messages", "has more than 4,096 entries");
    for (std::size_t i = 0; i < list->size(); ++i) {
      DOSSIER_RETURN_IF_ERROR(ReadMessage((*list)[i], i));
    }
    ShowQuestion();
    return {};
  }

 private:
  Status ReadMessage(const Json& message, std::size_t index) {
    const std::string path = fmt::format("messages[{}]", index);
    const std::string word = TextAt(message, "role");
    const auto* known = std::ranges::find(kRoles, word, &RoleWord::word);
    if (known == std::end(kRoles)) {
      return Wrong(path + ".role", "must be system, developer, user, assistant or tool");
    }
    Turn turn{.role = known->role};
    number_ = index + 1;
    parts_ = 0;
    if (turn.role == Role::kUser) asked_ = {.turn = out_.messages.turns.size()};
    if (const Json* content = Given(message, "content")) {
      DOSSIER_RETURN_IF_ERROR(ReadContent(*content, path + ".content", &turn));
    }
    if (turn.role == Role::kAssistant) DOSSIER_RETURN_IF_ERROR(ReadCalls(message, path, &turn));
    if (turn.role == Role::kTool) {
      const std::string id = TextAt(message, "tool_call_id");
      if (id.empty()) return Wrong(path + ".tool_call_id", "is missing");
      turn.blocks = {{.type = Block::Type::kToolResult, .text = turn.Text(), .call_id = id}};
    }
    if (turn.blocks.empty()) turn.blocks.push_back({});
    if (turn.role == Role::kSystem) {
      for (Block& block : turn.blocks) out_.messages.system.push_back(std::move(block));
      return {};
    }
    out_.messages.turns.push_back(std::move(turn));
    return {};
  }

  Status ReadContent(const Json& content, const std::string& path, Turn* turn) {
    if (content.is_string()) return AddText(std::string_view(content.get_string()), path, turn);
    const JsonArray* parts = content.if_array();
    if (!parts) return Wrong(path, "must be a text or a list of parts");
    for (std::size_t i = 0; i < parts->size(); ++i) {
      DOSSIER_RETURN_IF_ERROR(ReadPart((*parts)[i], fmt::format("{}[{}]", path, i), turn));
    }
    return {};
  }

  Status ReadPart(const Json& part, const std::string& path, Turn* turn) {
    const std::string type = TextAt(part, "type");
    if (type == "text") {
      const auto text = FindString(part, "text");
      if (!text) return Wrong(path + ".text", "must be a text");
      return AddText(*text, path, turn);
    }
    if (type == "image_url") return AddImage(part, path, turn);
    if (type == "file") return AddFile(part, path, turn);
    return Wrong(path + ".type", type == "input_audio" ? "audio is not read here"
                                                       : "must be text, image_url or file");
  }

  Status AddText(std::string_view text, const std::string& path, Turn* turn) {
    if (!utf8::IsValid(text)) return Wrong(path, "is not UTF-8");
    ++parts_;
    // System text says how to answer, so it stays whatever its length.
    const bool moved = turn->role != Role::kSystem && out_.mode != ask::Mode::kDirect &&
                       static_cast<std::int64_t>(text.size()) > reading_.move_above &&
                       reading_.count(text) > reading_.move_above;
    const bool asks = turn->role == Role::kUser;
    if (!moved) {
      if (asks && !TrimSpace(text).empty()) asked_.stands = true;
      turn->blocks.push_back({.text = std::string(text)});
      return {};
    }
    const std::string name = parts_ == 1 ? fmt::format("message-{}.txt", number_)
                                         : fmt::format("message-{}-{}.txt", number_, parts_);
    if (asks) {
      asked_.block = turn->blocks.size();
      asked_.moved = out_.documents.size();
    }
    turn->blocks.push_back({.text = MovedLine(name, text)});
    out_.documents.push_back({.name = name, .text = std::string(text)});
    return {};
  }

  // A separate part becomes a document; a moved question keeps its beginning and end.
  void ShowQuestion() {
    if (asked_.stands || !asked_.moved) return;
    out_.messages.turns[asked_.turn].blocks[asked_.block].text +=
        "\n\n" + EndsOf(out_.documents[*asked_.moved].text);
  }

  Status AddImage(const Json& part, const std::string& path, Turn* turn) {
    // No provider accepts an image in other roles, and it would be lost.
    if (turn->role != Role::kUser)
      return Wrong(path + ".type", "an image stands in a user message");
    const Json* image = Given(part, "image_url");
    const std::string url = image ? TextAt(*image, "url") : "";
    if (const std::string detail = image ? TextAt(*image, "detail") : "";
        !detail.empty() && detail != "auto") {
      out_.ignored.emplace_back("image_url.detail");
    }
    Block block{.type = Block::Type::kImage};
    constexpr std::string_view kData = "data:";
    if (url.starts_with(kData)) {
      const std::size_t comma = url.find(";base64,");
      if (comma == url.npos) return Wrong(path + ".image_url.url", "a data URL must be base64");
      block.media_type = url.substr(kData.size(), comma - kData.size());
      block.text = url.substr(comma + 8);
    } else if (IsWebAddress(url)) {
      // A local model would fetch it, and see what the client cannot.
      const auto place = ParseUrl(url);
      if (!place || IsNear(*place)) {
        return Wrong(
            path + ".image_url.url",
            "must not lead into this machine or its network; send the image as a data URL");
      }
      block.url = url;
    } else {
      return Wrong(path + ".image_url.url", "must be an http, https or data URL");
    }
    turn->blocks.push_back(std::move(block));
    out_.image_paths.push_back(path + ".image_url.url");
    return {};
  }

  Status AddFile(const Json& part, const std::string& path, Turn* turn) {
    const Json* file = Given(part, "file");
    if (!file) return Wrong(path + ".file", "is missing");
    const std::string id = TextAt(*file, "file_id");
    return id.empty() ? AddSentFile(*file, path, turn) : AddUpload(id, path, turn);
  }

  // Named several times, it is still one document.
  Status AddUpload(const std::string& id, const std::string& path, Turn* turn) {
    const auto [known, is_new] = uploads_.try_emplace(id);
    if (is_new) {
      auto found = reading_.file(id);
      if (!found) return Wrong(path + ".file.file_id", found.error().message);
      known->second = found->name;
      out_.documents.push_back(std::move(*found));
    }
    turn->blocks.push_back({.text = fmt::format("[{}: in context]", known->second)});
    return {};
  }

  Status AddSentFile(const Json& file, const std::string& path, Turn* turn) {
    RequestDocument document{.name = TextAt(file, "filename")};
    const auto data = FindString(file, "file_data");
    auto bytes = data ? DecodeBase64(*data) : std::nullopt;
    if (!bytes) return Wrong(path + ".file.file_data", "must be base64, or give a file_id");
    if (document.name.empty()) document.name = fmt::format("file-{}", out_.documents.size() + 1);
    document.text = std::move(*bytes);
    turn->blocks.push_back({.text = fmt::format("[{}: in context]", document.name)});
    out_.documents.push_back(std::move(document));
    return {};
  }

  static Status ReadCalls(const Json& message, const std::string& path, Turn* turn) {
    const Json* calls = Given(message, "tool_calls");
    if (!calls) return {};
    const JsonArray* list = calls->if_array();
    if (!list) return Wrong(path + ".tool_calls", "must be a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json* function = Given((*list)[i], "function");
      const auto arguments =
          function ? ParseJson(TextAt(*function, "arguments")) : Result<Json>(JsonObject());
      if (!function || !arguments) {
        return Wrong(fmt::format("{}.tool_calls[{}]", path, i), "is no call of a function");
      }
      turn->blocks.push_back({.type = Block::Type::kToolCall,
                              .call_id = TextAt((*list)[i], "id"),
                              .tool_name = TextAt(*function, "name"),
                              .arguments = *arguments});
    }
    return {};
  }

  // The user's last message.
  struct Asked {
    std::size_t turn = 0, block = 0;   // of its last part that was moved
    std::optional<std::size_t> moved;  // the document that this part became
    bool stands = false;               // some text of it stayed
  };

  const RequestReading& reading_;
  ChatRequest& out_;
  std::size_t number_ = 0, parts_ = 0;
  Asked asked_;
  std::map<std::string, std::string> uploads_;  // by id, the names of their documents
};

Status ReadTools(const Json& body, ChatRequest& out) {
  if (const Json* tools = Given(body, "tools")) {
    const JsonArray* list = tools->if_array();
    if (!list) return Wrong("tools", "must be a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json* function = Given((*list)[i], "function");
      const std::string name = function ? TextAt(*function, "name") : "";
      const std::string path = fmt::format("tools[{}]", i);
      if (name.empty()) return Wrong(path, "must be a function with a name");
      if (name.starts_with("dossier_")) {
        return Wrong(path + ".function.name", "names that begin with dossier_ are the server's");
      }
      const Json* parameters = Given(*function, "parameters");
      out.messages.tools.push_back({.name = name,
                                    .description = TextAt(*function, "description"),
                                    .parameters = parameters ? *parameters : Json(JsonObject())});
    }
  }
  const Json* choice = Given(body, "tool_choice");
  if (!choice) return {};
  const std::string word = choice->is_string() ? std::string(choice->get_string()) : "";
  if (word == "none") out.tool_use = model::Request::ToolUse::kNone;
  if (word == "required") out.tool_use = model::Request::ToolUse::kRequired;
  if (word.empty()) out.ignored.emplace_back("tool_choice");
  return {};
}

Status ReadSampling(const Json& body, ChatRequest& out) {
  DOSSIER_ASSIGN_OR_RETURN(out.sampling.temperature, NumberField(body, "", "temperature"));
  DOSSIER_ASSIGN_OR_RETURN(out.sampling.top_p, NumberField(body, "", "top_p"));
  DOSSIER_ASSIGN_OR_RETURN(const auto seed, CountField(body, "", "seed"));
  if (seed) out.sampling.seed = static_cast<std::uint64_t>(*seed);
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {
    DOSSIER_ASSIGN_OR_RETURN(const auto most, CountField(body, "", key));
    if (most) out.sampling.max_output = *most;
  }
  if (const Json* stop = Given(body, "stop")) {
    out.sampling.stop = stop->is_string()
                            ? std::vector{std::string(std::string_view(stop->get_string()))}
                            : StringsOf(stop);
  }
  if (const std::string effort = TextAt(body, "reasoning_effort"); !effort.empty()) {
    out.sampling.extra["reasoning_effort"] = effort;
  }
  const Json* format = Given(body, "response_format");
  if (!format) return {};
  const std::string type = TextAt(*format, "type");
  if (type == "json_schema") {
    const Json* named = Given(*format, "json_schema");
    const Json* schema = named ? Given(*named, "schema") : nullptr;
    if (!schema) return Wrong("response_format.json_schema.schema", "is missing");
    out.schema = *schema;
    out.strict = FindBool(*named, "strict").value_or(false);
  } else if (type == "json_object") {
    out.schema = Json(JsonObject{{"type", "object"}});
  } else if (type != "text") {
    return Wrong("response_format.type", "must be text, json_object or json_schema");
  }
  if (!out.schema) return {};
  const auto compiled = model::JsonSchema::Compile(*out.schema);
  return compiled ? Status() : Status(Wrong("response_format", compiled.error().message));
}

Status ReadExtra(const Json& body, const RequestReading& reading, ChatRequest& out) {
  const Json* extra = Given(body, "dossier");
  if (!extra) return {};
  if (!extra->is_object()) return Wrong("dossier", "must be an object");
  // A misspelt limit would have no effect.
  constexpr std::string_view kKnown[] = {"mode",       "max_calls", "max_usd",
                                         "max_time_s", "max_depth", "detach",
                                         "progress",   "contexts",  "paths"};
  for (const auto& field : extra->get_object()) {
    const std::string_view key = field.key();
    if (std::ranges::find(kKnown, key) != std::end(kKnown)) continue;
    return Wrong("dossier",
                 fmt::format("has a field {} that nobody knows; there are mode, max_depth, "
                             "max_calls, max_usd, max_time_s, contexts, paths, progress "
                             "and detach",
                             ToJson(Json(key.substr(0, 64)))));
  }
  if (const std::string mode = TextAt(*extra, "mode"); !mode.empty()) {
    for (const ask::Mode one : {ask::Mode::kAuto, ask::Mode::kDirect, ask::Mode::kRecursive}) {
      if (ask::ModeName(one) == mode) out.mode = one;
    }
    if (!out.mode) return Wrong("dossier.mode", "must be auto, direct or recursive");
  }
  DOSSIER_ASSIGN_OR_RETURN(
      out.max_calls, AsLimit(CountField(*extra, "dossier.", "max_calls"), "dossier.", "max_calls"));
  DOSSIER_ASSIGN_OR_RETURN(
      out.max_usd, AsLimit(NumberField(*extra, "dossier.", "max_usd"), "dossier.", "max_usd"));
  DOSSIER_ASSIGN_OR_RETURN(out.max_time_s, AsLimit(NumberField(*extra, "dossier.", "max_time_s"),
                                                   "dossier.", "max_time_s"));
  DOSSIER_ASSIGN_OR_RETURN(const auto depth, CountField(*extra, "dossier.", "max_depth"));
  if (depth) out.max_depth = static_cast<int>(std::min<std::int64_t>(*depth, 16));
  DOSSIER_ASSIGN_OR_RETURN(out.detached, FlagField(*extra, "dossier.", "detach"));
  out.reasoning_streamed = TextAt(*extra, "progress") == "reasoning";
  out.contexts = StringsOf(Given(*extra, "contexts"));
  for (std::size_t i = 0; i < out.contexts.size(); ++i) {
    const Status allowed = reading.context(out.contexts[i]);
    if (!allowed) return Wrong(fmt::format("dossier.contexts[{}]", i), allowed.error().message);
  }
  const std::vector<std::string> paths = StringsOf(Given(*extra, "paths"));
  for (std::size_t i = 0; i < paths.size(); ++i) {
    auto path = reading.path(paths[i]);
    if (!path) return Wrong(fmt::format("dossier.paths[{}]", i), path.error().message);
    out.documents.push_back({.path = std::move(*path)});
  }
  return {};
}

Status RefuseWhatCannotBe(const Json& body) {
  if (FindInt(body, "n").value_or(1) != 1) return Wrong("n", "one answer a request is given");
  if (FindBool(body, "logprobs").value_or(false)) return Wrong("logprobs", "are not given");
  if (Given(body, "audio")) return Wrong("audio", "is not made here");
  for (const std::string& word : StringsOf(Given(body, "modalities"))) {
    if (word != "text") return Wrong("modalities", "only text is made here");
  }
  return {};
}

// Moves the turns before the question into a document, if there are any.
std::string MoveEarlierTurns(ChatRequest& out, const std::vector<std::string>& texts,
                             std::size_t question_at) {
  std::string lines, shown;
  const auto& turns = out.messages.turns;
  for (std::size_t i = 0; i < question_at; ++i) {
    const std::string role(assembly::RoleName(turns[i].role));
    const std::string& text = texts[i];
    lines += ToJson(JsonObject{{"turn", i + 1}, {"role", role}, {"content", text}}) + "\n";
    if (i + kShownTurns >= question_at) shown += fmt::format("{}: {}\n", role, EndsOf(text));
  }
  if (lines.empty()) return {};
  out.documents.push_back({.name = "conversation.jsonl", .text = std::move(lines)});
  return "What was said just before:\n" + shown + "\n";
}

}  // namespace

std::string MovedLine(std::string_view name, std::string_view text) {
  return fmt::format("[{}: {} characters, in context]", name, GroupDigits(utf8::CodePoints(text)));
}

Status MakeQuestion(ChatRequest& out) {
  const auto& turns = out.messages.turns;
  const auto last = std::find_if(turns.rbegin(), turns.rend(),
                                 [](const Turn& turn) { return turn.role == Role::kUser; });
  if (last == turns.rend()) return Wrong("messages", "hold no text of a user");
  const auto at = static_cast<std::size_t>(turns.rend() - last) - 1;
  const std::vector<std::string> texts = TextsOf(out.messages);
  const std::string system = out.messages.SystemText();
  const std::string before = MoveEarlierTurns(out, texts, at);
  out.question = (system.empty() ? "" : system + "\n\n") + before + texts[at];
  return {};
}

std::string ImageName(std::size_t index) { return fmt::format("image_{}", index + 1); }

std::vector<std::string> TextsOf(const assembly::Messages& messages) {
  std::vector<std::string> texts;
  std::size_t images = 0;
  for (const Turn& turn : messages.turns) {
    std::string& text = texts.emplace_back();
    for (const Block& block : turn.blocks) {
      const bool image = block.type == Block::Type::kImage;
      if (!image && !assembly::IsJoined(block)) continue;
      if (!text.empty()) text += "\n\n";
      text += image ? fmt::format("[{}]", ImageName(images++)) : block.text;
    }
  }
  return texts;
}

Result<ChatRequest> ReadChatRequest(const Json& body, const RequestReading& reading) {
  if (!body.is_object()) return Wrong("body", "must be a JSON object");
  DOSSIER_RETURN_IF_ERROR(RefuseWhatCannotBe(body));
  ChatRequest out{.model = TextAt(body, "model")};
  if (out.model.empty()) return Wrong("model", "is missing");
  for (const auto& field : body.get_object()) {
    const std::string_view key = field.key();
    const bool known = std::ranges::find(kHonoured, key) != std::end(kHonoured);
    if (!known && !field.value().is_null()) out.ignored.emplace_back(key);
  }
  const Json* messages = Given(body, "messages");
  if (!messages) return Wrong("messages", "is missing");
  // In the order of the documents: files first, before long parts, and `dossier` last.
  ChatRequest extra;
  DOSSIER_RETURN_IF_ERROR(ReadExtra(body, reading, extra));
  out.mode = extra.mode;
  Reader reader(reading, out);
  DOSSIER_RETURN_IF_ERROR(reader.Read(*messages));
  DOSSIER_RETURN_IF_ERROR(ReadTools(body, out));
  DOSSIER_RETURN_IF_ERROR(ReadSampling(body, out));
  DOSSIER_ASSIGN_OR_RETURN(out.streamed, FlagField(body, "", "stream"));
  if (const Json* options = Given(body, "stream_options")) {
    DOSSIER_ASSIGN_OR_RETURN(out.usage_streamed,
                             FlagField(*options, "stream_options.", "include_usage"));
  }
  if (const Json* metadata = Given(body, "metadata")) out.metadata = *metadata;
  out.max_calls = extra.max_calls;
  out.max_usd = extra.max_usd;
  out.max_time_s = extra.max_time_s;
  out.max_depth = extra.max_depth;
  out.detached = extra.detached;
  out.reasoning_streamed = extra.reasoning_streamed;
  out.contexts = std::move(extra.contexts);
  for (RequestDocument& document : extra.documents) out.documents.push_back(std::move(document));
  const bool asks =
      !out.documents.empty() || !out.contexts.empty() || out.mode == ask::Mode::kRecursive;
  if (asks) {
    DOSSIER_RETURN_IF_ERROR(MakeQuestion(out));
    // A run's own requests have their own lengths and ends.
    for (const char* key :
         {"max_tokens", "max_completion_tokens", "stop", "top_p", "reasoning_effort"}) {
      if (Given(body, key)) out.ignored.emplace_back(key);
    }
  }
  return out;
}

namespace {

// A part of an item of a response's input, as a part of a chat message. Errors: kUsage.
Result<JsonObject> ChatPart(const Json& part, const std::string& path) {
  const std::string type = TextAt(part, "type");
  if (type == "input_text" || type == "output_text") {
    return JsonObject{{"type", "text"}, {"text", TextAt(part, "text")}};
  }
  if (type == "input_file") {
    JsonObject file;
    for (const char* key : {"file_id", "filename", "file_data"}) {
      if (const Json* value = Given(part, key)) file[key] = *value;
    }
    return JsonObject{{"type", "file"}, {"file", std::move(file)}};
  }
  if (type == "input_image") {
    JsonObject image{{"url", TextAt(part, "image_url")}};
    if (const Json* detail = Given(part, "detail")) image["detail"] = *detail;
    return JsonObject{{"type", "image_url"}, {"image_url", std::move(image)}};
  }
  return Wrong(path + ".content", "holds a part that is no input_text, input_file or input_image");
}

// An item of a response's input, as a chat message. Errors: kUsage.
Result<JsonObject> ChatMessage(const Json& item, const std::string& path) {
  if (const std::string type = TextAt(item, "type"); !type.empty() && type != "message") {
    return Wrong(path + ".type", "must be message");
  }
  const Json* content = Given(item, "content");
  if (!content) return Wrong(path + ".content", "is missing");
  JsonObject message{{"role", TextAt(item, "role")}};
  if (content->is_string()) {
    message["content"] = *content;
    return message;
  }
  JsonArray parts;
  for (const Json& part : content->is_array() ? content->get_array() : JsonArray()) {
    DOSSIER_ASSIGN_OR_RETURN(JsonObject chat_part, ChatPart(part, path));
    parts.push_back(std::move(chat_part));
  }
  message["content"] = std::move(parts);
  return message;
}

// Appends the input of a response. Errors: kUsage.
Status AddInput(const Json& body, JsonArray* messages) {
  const Json* input = Given(body, "input");
  if (!input) return Wrong("input", "is missing");
  if (input->is_string()) {
    messages->push_back(JsonObject{{"role", "user"}, {"content", *input}});
    return {};
  }
  const JsonArray* items = input->if_array();
  if (!items) return Wrong("input", "must be a text or a list of messages");
  for (std::size_t i = 0; i < items->size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(JsonObject message,
                             ChatMessage((*items)[i], fmt::format("input[{}]", i)));
    messages->push_back(std::move(message));
  }
  return {};
}

// `text.format` of a response, as `response_format` of a chat.
void SetFormat(const Json& body, JsonObject* chat) {
  const Json* text = Given(body, "text");
  const Json* format = text ? Given(*text, "format") : nullptr;
  if (format && TextAt(*format, "type") == "json_schema") {
    const Json* schema = Given(*format, "schema");
    (*chat)["response_format"] = JsonObject{
        {"type", "json_schema"},
        {"json_schema", JsonObject{{"schema", schema ? *schema : Json(JsonObject())},
                                   {"strict", FindBool(*format, "strict").value_or(false)}}}};
  } else if (format) {
    (*chat)["response_format"] = *format;
  }
}

}  // namespace

Result<Json> ChatOfResponses(const Json& body, const JsonArray& earlier) {
  if (!body.is_object()) return Wrong("body", "must be a JSON object");
  for (const char* key : {"conversation", "prompt"}) {
    if (Given(body, key)) return Wrong(key, "is not kept here; use previous_response_id");
  }
  if (const Json* tools = Given(body, "tools");
      tools && tools->is_array() && !tools->get_array().empty()) {
    return Wrong("tools", "are not called through /v1/responses; use /v1/chat/completions");
  }
  JsonArray messages;
  if (const std::string text = TextAt(body, "instructions"); !text.empty()) {
    messages.push_back(JsonObject{{"role", "system"}, {"content", text}});
  }
  for (const Json& message : earlier) messages.push_back(message);
  DOSSIER_RETURN_IF_ERROR(AddInput(body, &messages));
  JsonObject chat{{"model", TextAt(body, "model")}, {"messages", std::move(messages)}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSame{
      {{"temperature", "temperature"},
       {"metadata", "metadata"},
       {"stream", "stream"},
       {"max_output_tokens", "max_completion_tokens"},
       {"dossier", "dossier"},
       {"top_p", "top_p"}}};
  for (const auto& [from, to] : kSame) {
    if (const Json* value = Given(body, from)) chat[to] = *value;
  }
  SetFormat(body, &chat);
  return Json(std::move(chat));
}

std::string EndsOf(std::string_view text) {
  if (utf8::CodePoints(text) <= 2 * kEnd) return std::string(text);
  std::size_t head = 0, tail = text.size();
  for (std::size_t i = 0; i < kEnd; ++i) {
    do {
      ++head;
    } while (head < text.size() && (static_cast<unsigned char>(text[head]) & 0xC0) == 0x80);
    do {
      --tail;
    } while (tail > 0 && (static_cast<unsigned char>(text[tail]) & 0xC0) == 0x80);
  }
  // Cuts at a line's end, if there is one in the farther half.
  const std::size_t line = text.rfind('\n', head - 1);
  if (line != text.npos && line > head / 2) head = line;
  const std::size_t next = text.find('\n', tail);
  if (next != text.npos && next < tail + (text.size() - tail) / 2) tail = next + 1;
  return fmt::format("{}\n[…]\n{}", text.substr(0, head), text.substr(tail));
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.starts_with("data:")) {
    const std::size_t at = text.find(";base64,");
    if (at == text.npos) return {};
    text.remove_prefix(at + 8);
  }
  std::string bytes;
  if (!AppendBase64(text, &bytes)) return {};
  return bytes;
}

}  // namespace dossier::server
