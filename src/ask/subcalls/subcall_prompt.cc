// Prepares a prompt from code for sending: its settings, its texts and images, its length, and the
// reasons to refuse it.

#include <algorithm>

#include "ask/policy/repeated_question.h"
#include "ask/subcalls/subcalls.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kMostBatchMedia = 256 << 20;  // bytes of base64
constexpr std::int64_t kLeastReply = 256;  // tokens that a prompt must leave for its reply

}  // namespace

std::int64_t SubcallTokens(const driver::BoundModel& to) {
  const auto& capability = to.entry.capability;
  const std::int64_t reserve = std::min<std::int64_t>(capability.max_output, 1024);
  return capability.window - reserve - 256;
}

std::vector<std::string> ModelNames(const EngineOptions& options) {
  std::vector<std::string> names;
  for (const auto& [name, model] : options.named) names.push_back(name);
  for (const driver::BoundModel* model : {&options.sub, &options.child_model()}) {
    if (std::ranges::find(names, model->name) == names.end()) names.push_back(model->name);
  }
  return names;
}

// A blank prompt causes the whole batch to be refused before anything is sent.
Result<const JsonArray*> Subcalls::PromptsOf(const sandbox::BridgeCall& call,
                                             const CancelToken& cancel) const {
  const Json* list = Find(call.args, "prompts");
  const JsonArray* prompts = list ? list->if_array() : nullptr;
  if (!prompts) return MakeError(ErrorCode::kInvalidArgument, "prompts must be a list");
  for (const Json& prompt : *prompts) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const JsonObject* object = prompt.if_object();
    if (!object) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "each prompt must be a text or a list of texts");
    }
    if (IsBlankPrompt(*object, call.raw)) {
      return MakeError(ErrorCode::kInvalidArgument, "prompt {}: the prompt is blank",
                       &prompt - prompts->data());
    }
  }
  return prompts;
}

bool Subcalls::IsBlankPrompt(const JsonObject& prompt, std::string_view raw) const {
  const Json* parts = Find(prompt, "parts");
  const JsonArray* list = parts ? parts->if_array() : nullptr;
  if (!list) return false;  // Prepare reports what is wrong with it
  return std::all_of(list->begin(), list->end(), [&](const Json& part) {
    const auto text = sandbox::ResolveText(JsonArray{part}, raw, contexts_);
    return text && TrimSpace(*text).empty();
  });
}

Status Subcalls::RefuseBareQuestion(std::string_view text) const {
  if (!run_.policy.refuses_bare_question || !RepeatsQuestion(text, run_.request.question)) {
    return {};
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "the prompt is only the question, and the model cannot see the data; put text "
                   "into the prompt, or label each record with map_llm(labels=[...], "
                   "instruction=\"...\", field=\"...\")");
}

Result<Subcalls::Prepared> Subcalls::Prepare(const JsonObject& prompt, std::string_view raw,
                                             const Settings& settings) {
  const Json* parts = Find(prompt, "parts");
  if (!parts) return MakeError(ErrorCode::kInvalidArgument, "the prompt is missing");
  DOSSIER_ASSIGN_OR_RETURN(std::string text, sandbox::ResolveText(*parts, raw, contexts_));
  if (TrimSpace(text).empty()) return MakeError(ErrorCode::kUsage, "the prompt is blank");
  const Json* context = Find(prompt, "context");
  const bool with_context = context && !context->is_null();
  if (!with_context) DOSSIER_RETURN_IF_ERROR(RefuseBareQuestion(text));
  std::optional<std::string> content;
  if (with_context) {
    DOSSIER_ASSIGN_OR_RETURN(content, sandbox::ResolveText(*context, raw, contexts_));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto media, MediaOf(prompt, run_.request.media));
  Prepared prepared;
  DOSSIER_ASSIGN_OR_RETURN(prepared.prompt, Assemble(std::move(text), content, settings, media));
  for (const Medium* medium : media) {
    prepared.media.push_back(JsonObject{{"name", medium->name}, {"sha256", medium->sha256}});
  }
  for (const Json* list : {parts, with_context ? context : nullptr}) {
    for (const Json& part : list && list->is_array() ? list->get_array() : JsonArray()) {
      const auto document = FindInt(part, "ctx"), at = FindInt(part, "at"),
                 length = FindInt(part, "len");
      if (document && at && length) {
        prepared.slices.push_back({static_cast<std::size_t>(*document),
                                   static_cast<std::uint64_t>(*at),
                                   static_cast<std::uint64_t>(*length)});
      } else if (auto own = sandbox::ResolveText(JsonArray{part}, raw, contexts_)) {
        prepared.texts.push_back(std::move(*own));
      }
    }
  }
  return prepared;
}

Result<assembly::Assembled> Subcalls::Assemble(std::string text,
                                               const std::optional<std::string>& content,
                                               const Settings& settings,
                                               std::span<const Medium* const> media) const {
  const driver::BoundModel& sub = *settings.to;
  const std::string& system = settings.system;
  if (!media.empty()) DOSSIER_RETURN_IF_ERROR(CheckTakesImages(sub));
  DOSSIER_RETURN_IF_ERROR(
      CheckLength({text, content ? *content : std::string_view(), system}, media.size(), sub));
  std::map<std::string, std::string> values;
  std::string& given = values[content ? "instruction" : "prompt"] = std::move(text);
  if (content) values.emplace("content", *content);
  auto prompt = run_.prompts.Assemble(content ? "subcall_context" : "subcall", sub, values, {},
                                      run_.boundary, kLeastReply);
  if (!prompt) return prompt;
  // A section loses its trailing line ends, but a prompt from code is sent unchanged.
  auto& blocks = prompt->messages.turns.back().blocks;
  if (!content && blocks.size() == 1) blocks[0].text = std::move(given);
  // Images come before the text that asks about them, as in a conversation.
  for (std::size_t i = 0; i < media.size(); ++i) {
    blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(i), media[i]->image);
    prompt->tokens += sub.entry.capability.image_tokens.value_or(0);
  }
  if (!system.empty()) {
    prompt->tokens += sub.counter->CountText(system).upper();
    prompt->messages.system.push_back({.text = system});
  }
  return prompt;
}

Status Subcalls::CheckBatchMedia(const JsonArray& prompts) const {
  std::uint64_t bytes = 0;
  for (const Json& prompt : prompts) {
    DOSSIER_ASSIGN_OR_RETURN(const auto media, MediaOf(prompt.get_object(), run_.request.media));
    for (const Medium* medium : media) bytes += medium->image.text.size();
  }
  if (bytes <= kMostBatchMedia) return {};
  return MakeError(ErrorCode::kTooLong,
                   "the batch would send {} of images; one batch takes at most {}: ask in smaller "
                   "batches",
                   FormatSize(bytes), FormatSize(kMostBatchMedia));
}

Status Subcalls::CheckLength(std::initializer_list<std::string_view> parts, std::size_t images,
                             const driver::BoundModel& to) {
  const tokens::Counter& counter = *to.counter;
  const std::int64_t of_images =
      static_cast<std::int64_t>(images) * to.entry.capability.image_tokens.value_or(0);
  std::int64_t tokens = of_images;
  std::uint64_t characters = 0;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    tokens += counter.CountText(part).upper();
    characters += utf8::CodePoints(part);
  }
  const std::int64_t most = SubcallTokens(to);
  if (tokens <= most) return {};
  const std::string beside =
      images == 0 ? "" : fmt::format(" and images of {} tokens", GroupCount(of_images));
  return MakeError(ErrorCode::kTooLong,
                   "the prompt has {} tokens ({} characters{}); a sub-call takes at most {} "
                   "tokens: split it, e.g. with doc.chunks(size, by=\"tokens\")",
                   GroupCount(tokens), GroupDigits(characters), beside, GroupCount(most));
}

// Reads max_tokens, temperature and system as given by code. A model that thinks needs room for
// that as well.
Result<Subcalls::Settings> Subcalls::ReadSettings(const JsonObject& args) const {
  Settings settings;
  DOSSIER_ASSIGN_OR_RETURN(settings.to, NamedModel(args, run_.options.sub));
  const driver::BoundModel& sub = *settings.to;
  if (const Json* cap = Find(args, "max_tokens"); cap && !cap->is_null()) {
    const std::int64_t* tokens = cap->if_int64();
    if (!tokens || *tokens <= 0) {
      return MakeError(ErrorCode::kInvalidArgument, "max_tokens must be a whole number above 0");
    }
    const std::int64_t most = sub.entry.capability.max_output;
    const std::int64_t asked = std::min(*tokens, run_.request.sub_max_output.value_or(most));
    settings.sampling.max_output =
        std::min(std::min(asked, most) + sub.entry.thinking_tokens, most);
  }
  if (const Json* heat = Find(args, "temperature"); heat && !heat->is_null()) {
    const double value = heat->is_number() ? heat->to_number<double>() : -1;
    if (value < 0 || value > 2) {
      return MakeError(ErrorCode::kInvalidArgument, "temperature must be a number from 0 to 2");
    }
    settings.sampling.temperature = value;
  }
  if (const Json* system = Find(args, "system"); system && !system->is_null()) {
    const auto* text = system->if_string();
    if (!text) return MakeError(ErrorCode::kInvalidArgument, "system must be a text");
    settings.system = std::string(*text);
  }
  if (FindBool(Json(args), "remember").value_or(false)) settings.kept = SubcallCache::Which::kAny;
  if (const Json* schema = Find(args, "schema"); schema && !schema->is_null()) {
    auto compiled = model::JsonSchema::Compile(*schema);
    if (!compiled) {
      return MakeError(ErrorCode::kInvalidArgument, "schema: {}", compiled.error().message);
    }
    settings.schema = std::move(*compiled);
    // A server that enforces the schema needs no description; the prompt itself is sent unchanged.
    if (!sub.entry.json_schema) {
      settings.system += fmt::format(
          "{}Reply with one JSON value that fits this JSON Schema, and nothing else:\n{}",
          settings.system.empty() ? "" : "\n", ToJson(*schema));
    }
  }
  return settings;
}

// Configured names take precedence: a name given by code may be the model's own name.
Result<const driver::BoundModel*> Subcalls::NamedModel(const JsonObject& args,
                                                       const driver::BoundModel& otherwise) const {
  const EngineOptions& options = run_.options;
  const Json* model = Find(args, "model");
  if (!model || model->is_null()) return &otherwise;
  const auto* text = model->if_string();
  const std::string name(text ? std::string_view(*text) : "?");
  if (const auto named = options.named.find(name); named != options.named.end()) {
    return &named->second;
  }
  for (const driver::BoundModel* known : {&otherwise, &options.sub, &options.child_model()}) {
    if (text && name == known->name) return known;
  }
  return MakeError(ErrorCode::kInvalidArgument, "model {} is not known here; known: {}", name,
                   Join(ModelNames(options), ", "));
}

// Returns the model's limit, or the one set by code or the user, within the room the prompt leaves.
std::int64_t Subcalls::OutputOf(const model::Sampling& sampling, const assembly::Assembled& prompt,
                                const driver::BoundModel& to) const {
  const model::Entry& sub = to.entry;
  std::int64_t wanted = sub.capability.max_output;
  if (sampling.max_output) {
    wanted = *sampling.max_output;
  } else if (run_.request.sub_max_output) {
    wanted = std::min(*run_.request.sub_max_output, wanted) + sub.thinking_tokens;
  }
  const std::int64_t room = sub.capability.window - prompt.tokens;
  return std::max<std::int64_t>(1, std::min({wanted, sub.capability.max_output, room}));
}

}  // namespace dossier::ask
