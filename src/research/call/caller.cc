#include "research/call/caller.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "assembly/assemble.h"
#include "assembly/fit/prompt_log.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "memory/blocks/reply.h"
#include "memory/blocks/rounds.h"
#include "research/call/call_memory.h"
#include "research/call/call_parts.h"
#include "research/call/values.h"

namespace dossier::research {
namespace {

// Performs one call, from its first prompt to an answer or a failure: memory rounds, journal,
// prompt logs.
//
//   return CallRun(parts, *FindCallSite("draft"), request, cancel).Run();

class CallRun {
 public:
  CallRun(CallParts& parts, const CallSite& site, const CallRequest& request,
          const CancelToken& cancel);

  Result<CallOutcome> Run() &&;
  // Returns the first prompt and its report; nothing is sent or written.
  Result<JsonObject> Preview() &&;

 private:
  Result<std::string> Ask(const memory::Ask& ask);
  Status Send(const memory::Ask& ask);
  Status Check(std::string_view payload);
  void CountRound(const memory::Ask& ask);
  Status LogSent(const memory::Ask& ask, const assembly::Assembled& prompt,
                 const model::Request& request, const std::optional<MemoryText>& memory);
  Status WritePrompt(const assembly::Assembled& prompt, const std::optional<MemoryText>& memory);
  Status KeepReply(const model::Reply& reply);
  void TakeWarnings(const JsonObject& replied);
  Result<CallOutcome> Answer(const memory::RoundsOutcome& rounds);
  Result<CallOutcome> Fail(const memory::RoundsFailure& failure);
  std::string Place() const;  // "NODE/LABEL/aATTEMPT/rROUND"
  bool logs() const { return parts_.options().prompt_logs == CallerOptions::PromptLogs::kOn; }

  CallParts& parts_;
  const CallSite& site_;
  const CallRequest& request_;
  const CancelToken& cancel_;
  CallMemory memory_;
  const std::string label_, base_;  // base_: "NODE/LABEL"
  const driver::BoundModel* model_ = nullptr;
  PromptEntry entry_;  // the current round's entry; attempt 0: memory only
  CallOutcome outcome_;
};

// Builds the prompt of one question to a model, with the layout of its call site.
//
//   DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
//                            MakePrompt(parts, site, request, ask, memory, model));

using assembly::Section;

// Returns the section of this name; null: the layout has none.
const assembly::LayoutSection* FindRule(const assembly::Layout& layout, std::string_view name) {
  const auto found = std::ranges::find(layout.sections, name, &assembly::LayoutSection::name);
  return found == layout.sections.end() ? nullptr : &*found;
}

// Prefix values go only to sections of the prefix, because a call may have its own `plan`.
bool IsOfPrefix(const assembly::LayoutSection* rule) {
  return rule && (rule->zone == assembly::Zone::kSystem || rule->zone == assembly::Zone::kStable);
}

void AddPrefix(const PrefixSections& prefix, const assembly::Layout& layout,
               std::vector<Section>* sections) {
  const std::array<std::pair<std::string_view, const Json*>, 5> parts = {{
      {"domain", &prefix.domain},
      {"idea", &prefix.idea},
      {"environment", &prefix.environment},
      {"resources", &prefix.resources},
      {"plan", &prefix.plan},
  }};
  for (const auto& [name, value] : parts) {
    if (!IsOfPrefix(FindRule(layout, name)) || IsEmptyValue(*value)) continue;
    sections->push_back(SectionOf({.name = std::string(name), .value = *value}));
  }
}

Status AddOwn(const CallRequest& request, const assembly::Layout& layout,
              std::vector<Section>* sections) {
  for (const OwnSection& own : request.sections) {
    const bool empty = IsEmptyValue(own.value) && own.parts.empty() && own.turns.empty();
    if (!FindRule(layout, own.name)) {
      if (!layout.overrides.empty()) continue;  // the user's layout omits it
      return MakeError(ErrorCode::kInternal, "layout {} has no section {}", layout.name, own.name);
    }
    if (!empty) sections->push_back(SectionOf(own));
  }
  return {};
}

void AddText(std::string_view name, std::string text, std::vector<Section>* sections) {
  if (TrimSpace(text).empty()) return;
  sections->push_back({.name = std::string(name), .content = std::move(text)});
}

// Returns the tool that a reply must call; none if the model has no tools or the site no tool.
std::optional<assembly::ToolSpec> ForcedTool(const CallParts& parts, const CallSite& site,
                                             const driver::BoundModel& model) {
  if (site.reply != PayloadForm::kTool || !model.entry.tools) return std::nullopt;
  return assembly::ToolSpec{.name = std::string(site.tool),
                            .description = "Takes the answer to this task.",
                            .parameters = parts.schemas().Of(site)->json()};
}

// `memory`: none if the call has none. Errors: kTooLong, kConfig (a template without a value),
// kInternal (a section that the layout does not have), kNotFound (a required section is empty).
Result<assembly::Assembled> MakePrompt(CallParts& parts, const CallSite& site,
                                       const CallRequest& request, const memory::Ask& ask,
                                       const std::optional<MemoryText>& memory,
                                       const driver::BoundModel& model) {
  const CallerOptions& options = parts.options();
  const assembly::Layout& layout = parts.LayoutOf(site);
  std::vector<Section> sections;
  if (const auto tool = ForcedTool(parts, site, model)) {
    sections.push_back({.name = "tools", .tools = {*tool}});
  }
  AddPrefix(request.prefix, layout, &sections);
  DOSSIER_RETURN_IF_ERROR(AddOwn(request, layout, &sections));
  if (memory) {
    AddText("memory_help", memory->help, &sections);
    AddText("memory", memory->text, &sections);
  }
  AddText("memory_results", ask.results, &sections);
  AddText("feedback", ask.feedback, &sections);

  std::map<std::string, std::string> variables = request.variables;
  variables.insert(options.variables.begin(), options.variables.end());
  variables["persona"] = options.persona;
  if (memory) {
    const bool alone = ask.kind == memory::Ask::Kind::kMemoryOnly;
    variables[alone ? "memory_only" : "memory"] = "yes";
  }
  assembly::Budget budget;
  budget.reserve_output = model.sampling.max_output;
  DOSSIER_ASSIGN_OR_RETURN(const driver::UserSections* const own,
                           parts.UserSectionsOf(site, model));
  return assembly::Assemble(layout, own->With(std::move(sections)), budget, model.entry.capability,
                            *model.counter,
                            {.variables = std::move(variables),
                             .boundary = assembly::MakeBoundary(options.boundary_seed),
                             .boundary_seed = options.boundary_seed,
                             .model = model.name,
                             .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel});
}

constexpr std::string_view kSent = "call.sent", kReplied = "call.replied";

std::int64_t IntOf(const JsonObject& data, std::string_view key) {
  const Json* value = Find(data, key);
  return value && value->is_int64() ? value->get_int64() : 0;
}

std::string TextOf(const JsonObject& data, std::string_view key) {
  const Json* value = Find(data, key);
  return std::string(value && value->is_string() ? value->get_string() : "");
}

// Returns a reply as text; for a tool call, its arguments after the memory block sent with it.
std::string TextOfReply(const model::Reply& reply) {
  if (reply.tool_calls.empty()) return reply.text;
  const std::string block = memory::FirstBlock(reply.text);
  return fmt::format("{}{}{}", block, block.empty() ? "" : "\n",
                     ToJson(reply.tool_calls.front().arguments));
}

// Returns the bytes sent over the wire, without the key; for a model without a wire, its messages.
std::string BytesOf(const driver::BoundModel& model, const model::Request& request) {
  return model.wire ? model.wire(request) : ToJson(ToCanonicalJson(request.messages));
}

Json DollarsOf(const std::optional<std::int64_t>& nano_usd) {
  constexpr double kNano = 1e9;
  return nano_usd ? Json(static_cast<double>(*nano_usd) / kNano) : Json(nullptr);
}

Json CostOfPrompt(const model::Entry& entry, std::int64_t tokens) {
  if (!entry.price_input) return nullptr;
  return DollarsOf(*entry.price_input * tokens);
}

CallRun::CallRun(CallParts& parts, const CallSite& site, const CallRequest& request,
                 const CancelToken& cancel)
    : parts_(parts),
      site_(site),
      request_(request),
      cancel_(cancel),
      memory_(parts, site, request),
      label_(assembly::SafeFileName(request.label.empty() ? request.site : request.label)),
      base_(fmt::format("{}/{}", request.scope.node.empty() ? "run" : request.scope.node, label_)) {
  entry_.node = request.scope.node;
  entry_.label = label_;
  entry_.attempt = 0;
  entry_.round = 0;
}

std::string CallRun::Place() const {
  return fmt::format("{}/a{}/r{}", base_, entry_.attempt, entry_.round);
}

// A question for memory alone counts as attempt 0. Feedback comes with the first question of the
// next attempt (memory/blocks/rounds.h).
void CallRun::CountRound(const memory::Ask& ask) {
  const bool answer = ask.kind == memory::Ask::Kind::kAnswer;
  const bool next_attempt = answer && (entry_.attempt == 0 || !ask.feedback.empty());
  if (next_attempt) {
    ++entry_.attempt;
    entry_.round = 0;
  }
  ++entry_.round;
}

Result<CallOutcome> CallRun::Run() && {
  DOSSIER_ASSIGN_OR_RETURN(
      const memory::RoundsOutcome rounds,
      memory::RunRounds(
          memory_.Limits(), [this](const memory::Ask& ask) { return Ask(ask); },
          [this](std::string_view payload) { return Check(payload); },
          [this](const memory::ParsedReply& reply) {
            return memory_.Apply(reply, Place(), entry_);
          }));
  if (rounds.failure) return Fail(*rounds.failure);
  return Answer(rounds);
}

Result<std::string> CallRun::Ask(const memory::Ask& ask) {
  if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
  CountRound(ask);
  if (!parts_.journal().Has(kReplied, Place())) DOSSIER_RETURN_IF_ERROR(Send(ask));
  // Always read from the journal, so that this process sees what a resumed one will see.
  DOSSIER_ASSIGN_OR_RETURN(const auto replied, parts_.journal().Recorded(kReplied, Place()));
  if (!replied) return MakeError(ErrorCode::kDamaged, "journal: no reply at {}", Place());
  entry_.counter = IntOf(replied->data, "counter");
  TakeWarnings(replied->data);
  std::string text = TextOf(replied->data, "reply");
  if (memory_.on()) return text;
  memory::ParsedReply without = memory::RemoveBlocks(text);
  for (const memory::Notice& notice : without.warnings) outcome_.warnings.push_back(notice.text);
  return std::move(without.payload);
}

Status CallRun::Send(const memory::Ask& ask) {
  DOSSIER_ASSIGN_OR_RETURN(model_, parts_.Model(site_.role));
  std::optional<MemoryText> memory;
  if (memory_.on()) {
    DOSSIER_RETURN_IF_ERROR(memory_.MakeRoom());
    DOSSIER_ASSIGN_OR_RETURN(memory, memory_.Render());
  }
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                           MakePrompt(parts_, site_, request_, ask, memory, *model_));
  const CallerOptions& options = parts_.options();
  model::Request request = driver::RequestTo(*model_, prompt, model::Purpose::kRoot);
  request.path = Place();
  const auto temperature = options.temperatures.find(site_.role);
  if (temperature != options.temperatures.end()) request.sampling.temperature = temperature->second;
  if (!prompt.messages.tools.empty()) {
    request.tool_use = ask.kind == memory::Ask::Kind::kAnswer ? model::Request::ToolUse::kRequired
                                                              : model::Request::ToolUse::kNone;
  }
  // The server can enforce only one object that has no memory block before it.
  const bool object = site_.reply == PayloadForm::kJson || site_.reply == PayloadForm::kTool;
  if (object && prompt.messages.tools.empty() && !memory_.on() && model_->entry.json_schema) {
    request.schema = parts_.schemas().Of(site_)->json();
  }
  Status written;
  const driver::CallHooks hooks{
      .sending = [&](const model::Request& asked) { return LogSent(ask, prompt, asked, memory); },
      .sent = [&] { written = WritePrompt(prompt, memory); },
      .ended =
          [&](const driver::Called& called) {
            return written && called.reply ? KeepReply(*called.reply) : written;
          }};
  return parts_.caller()
      .Ask(*model_, std::move(request), hooks, cancel_)
      .reply.map([](const model::Reply&) {});
}

// The request bytes are stored first, then the journal entry, then the request is sent; its files
// are written while the model works. A process that ended before the reply was journalled asks
// again, and writes the missing files; existing ones are kept.
Status CallRun::LogSent(const memory::Ask& ask, const assembly::Assembled& prompt,
                        const model::Request& request, const std::optional<MemoryText>& memory) {
  DOSSIER_ASSIGN_OR_RETURN(const auto sent, parts_.journal().Recorded(kSent, Place()));
  std::string sha256;
  if (sent) {
    entry_.counter = IntOf(sent->data, "counter");
    sha256 = TextOf(sent->data, "request");
  } else {
    entry_.counter = parts_.NextCounter(request_.scope.node);
    DOSSIER_ASSIGN_OR_RETURN(sha256,
                             parts_.journal().journal().content().Put(BytesOf(*model_, request)));
  }
  entry_.meta = {{"stage", request_.scope.stage},
                 {"timestamp", FormatTime(parts_.options().clock->WallNow())},
                 {"site", site_.name},
                 {"model", model_->name},
                 {"request_sha256", sha256},
                 {"cost", CostOfPrompt(model_->entry, prompt.tokens)}};
  if (memory) entry_.meta["memory_injected"] = memory->accounting;
  if (sent) return {};
  if (logs() && memory) {
    DOSSIER_RETURN_IF_ERROR(parts_.logs().Append(
        "memory_injections.jsonl",
        {{"place", Place()}, {"branch", request_.scope.branch}, {"shown", memory->accounting}}));
  }
  JsonObject data{{"node", request_.scope.node},
                  {"site", site_.name},
                  {"stage", request_.scope.stage},
                  {"phase", request_.scope.phase},
                  {"role", site_.role},
                  {"model", model_->name},
                  {"counter", entry_.counter},
                  {"tokens", prompt.tokens},
                  {"request", sha256},
                  {"kind", ask.kind == memory::Ask::Kind::kAnswer ? "answer" : "memory"}};
  if (memory) data["memory"] = memory->accounting;
  return parts_.journal().Add(kSent, Place(), std::move(data));
}

Status CallRun::WritePrompt(const assembly::Assembled& prompt,
                            const std::optional<MemoryText>& memory) {
  if (!logs()) return {};
  const model::JsonSchema* schema = parts_.schemas().Of(site_);
  JsonObject parts;
  parts["response_format"] = schema ? schema->json() : Json(nullptr);
  parts["memory"] = memory ? Json(memory->text) : Json(nullptr);
  parts["resources"] = request_.prefix.resources;
  return parts_.logs().WritePrompt(entry_, prompt, std::move(parts));
}

Status CallRun::KeepReply(const model::Reply& reply) {
  const std::string text = TextOfReply(reply);
  const JsonObject usage = ReplyUsageJson(reply.usage);
  JsonArray warnings(reply.warnings.begin(), reply.warnings.end());
  if (reply.finish == model::Finish::kLength) {
    warnings.push_back(Json("the reply was cut at the model's output limit"));
  }
  if (logs()) {
    DOSSIER_RETURN_IF_ERROR(
        parts_.logs().WriteReply(entry_,
                                 {{"model", reply.resolved_model},
                                  {"finish", model::FinishName(reply.finish)},
                                  {"usage", usage},
                                  {"cost", DollarsOf(reply.usage.cost_nano_usd)},
                                  {"attempts", reply.attempts},
                                  {"warnings", warnings},
                                  {"text", text}},
                                 text));
  }
  return parts_.journal().Add(kReplied, Place(),
                              {{"node", request_.scope.node},
                               {"site", site_.name},
                               {"role", site_.role},
                               {"model", reply.resolved_model},
                               {"counter", entry_.counter},
                               {"finish", model::FinishName(reply.finish)},
                               {"usage", usage},
                               {"warnings", std::move(warnings)},
                               {"reply", text}});
}

void CallRun::TakeWarnings(const JsonObject& replied) {
  const Json* list = Find(replied, "warnings");
  if (!list || !list->is_array()) return;
  for (const Json& warning : list->get_array()) {
    if (warning.is_string()) outcome_.warnings.emplace_back(warning.get_string());
  }
}

Status CallRun::Check(std::string_view payload) {
  DOSSIER_ASSIGN_OR_RETURN(const Payload read, parts_.schemas().Read(site_, payload));
  return request_.check ? request_.check(read.text) : Status();
}

Result<CallOutcome> CallRun::Answer(const memory::RoundsOutcome& rounds) {
  for (const memory::Notice& notice : rounds.reply.warnings) {
    outcome_.warnings.push_back(notice.text);
  }
  DOSSIER_ASSIGN_OR_RETURN(Payload read, parts_.schemas().Read(site_, rounds.payload));
  outcome_.payload = std::move(read.text);
  outcome_.warnings.insert(outcome_.warnings.end(), read.warnings.begin(), read.warnings.end());
  outcome_.log = PromptLogs::NameOf(entry_);
  if (!request_.alias.empty() && logs()) {
    DOSSIER_RETURN_IF_ERROR(parts_.logs().Alias(entry_, request_.alias));
  }
  return std::move(outcome_);
}

// Reports the failure as a warning and in the journal, once.
Result<CallOutcome> CallRun::Fail(const memory::RoundsFailure& failure) {
  CallFailure failed{
      .reason = failure.reason,
      .detail = failure.detail,
      .reply_path = fmt::format("{}/{}_response.txt", PromptLogs::FolderOf(request_.scope.node),
                                PromptLogs::NameOf(entry_))};
  const std::string text =
      fmt::format("{}: no answer: {}: {}", base_, failed.reason, failed.detail);
  if (!parts_.journal().Has("warning", base_)) {
    DOSSIER_RETURN_IF_ERROR(parts_.journal().Add("warning", base_,
                                                 {{"code", "call_failed"},
                                                  {"text", text},
                                                  {"node", request_.scope.node},
                                                  {"site", site_.name},
                                                  {"reason", failed.reason},
                                                  {"detail", failed.detail},
                                                  {"reply_path", failed.reply_path}}));
  }
  outcome_.failure = std::move(failed);
  return std::move(outcome_);
}

Result<JsonObject> CallRun::Preview() && {
  DOSSIER_ASSIGN_OR_RETURN(model_, parts_.Model(site_.role));
  std::optional<MemoryText> memory;
  if (memory_.on()) {
    DOSSIER_ASSIGN_OR_RETURN(memory, memory_.Render());
  }
  memory::Ask ask;
  if (memory_.Limits().first == memory::FirstRound::kMemoryFirst) {
    ask.kind = memory::Ask::Kind::kMemoryOnly;
  }
  DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled prompt,
                           MakePrompt(parts_, site_, request_, ask, memory, *model_));
  return JsonObject{{"site", site_.name},
                    {"model", model_->name},
                    {"tokens", prompt.tokens},
                    {"messages", ToCanonicalJson(prompt.messages)},
                    {"report", prompt.report}};
}

Result<const CallSite*> SiteOf(const CallRequest& request) {
  if (const CallSite* site = FindCallSite(request.site)) return site;
  return MakeError(ErrorCode::kInternal, "no call site {}", request.site);
}

class LayoutCaller final : public RoleCaller {
 public:
  explicit LayoutCaller(std::unique_ptr<CallParts> parts) : parts_(std::move(parts)) {}

  Result<CallOutcome> Call(const CallRequest& request, const CancelToken& cancel) override {
    DOSSIER_ASSIGN_OR_RETURN(const CallSite* const site, SiteOf(request));
    return CallRun(*parts_, *site, request, cancel).Run();
  }

  Result<JsonObject> Preview(const CallRequest& request) override {
    DOSSIER_ASSIGN_OR_RETURN(const CallSite* const site, SiteOf(request));
    return CallRun(*parts_, *site, request, CancelToken()).Preview();
  }

 private:
  const std::unique_ptr<CallParts> parts_;
};

}  // namespace

Result<std::unique_ptr<RoleCaller>> RoleCaller::Open(CallerOptions options) {
  if (!options.clock) options.clock = SystemClock();
  DOSSIER_ASSIGN_OR_RETURN(auto parts, CallParts::Load(std::move(options)));
  return std::make_unique<LayoutCaller>(std::move(parts));
}

}  // namespace dossier::research
