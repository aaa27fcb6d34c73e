#include <dossier/ask.h>

#include <filesystem>
#include <mutex>

#include "api/access.h"
#include "app/load_config.h"
#include "app/spending_window.h"
#include "ask/engine.h"
#include "ask/tools.h"
#include "base/files/locations.h"
#include "base/net/named_place.h"
#include "base/random.h"
#include "base/result.h"
#include "model/schema/schema_source.h"
#include "store/content.h"
#include "store/prune.h"

namespace dossier {
namespace {

// Forwards the events of one run.
class AskWatch final : public ask::EventSink {
 public:
  explicit AskWatch(const AskOptions& options) : options_(options) {}

  void OnEvent(const store::Event& event) override {
    const std::lock_guard lock(mutex_);
    if (options_.on_event) options_.on_event(RunEventOf(event));
  }
  void OnDelta(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (options_.on_text) options_.on_text(text);
  }

 private:
  const AskOptions& options_;
  std::mutex mutex_;  // events and texts come from different threads
};

// The folder for a run's record, and the cached replies of earlier sub-calls.
struct Records {
  std::string folder;
  std::shared_ptr<store::Journal> journal;
  std::shared_ptr<const store::Memo> replies;
};

Result<Records> OpenRecords(std::string folder) {
  if (folder.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
    folder = data + "/runs";
  }
  Records records{.folder = folder};
  DOSSIER_ASSIGN_OR_RETURN(records.journal, store::Journal::Open(folder));
  DOSSIER_ASSIGN_OR_RETURN(records.replies, store::Memo::Open(folder, records.journal->content()));
  return records;
}

Status CheckAskOptions(std::string_view question, const AskOptions& options) {
  if (question.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "the question is empty");
  }
  for (const Model* model : {&options.model, &options.sub_model, &options.child_model}) {
    if (!options.max_usd || !*model || model->has_price()) continue;
    return MakeError(ErrorCode::kInvalidArgument,
                     "a limit of cost is set, but the price of {} is unknown: give it by "
                     "ModelOptions::price_input and price_output (0 if it costs nothing)",
                     model->name());
  }
  const bool above = options.max_calls > 0 && options.max_tokens.value_or(1) > 0 &&
                     options.max_usd.value_or(1) > 0 && options.max_turns.value_or(1) > 0 &&
                     options.max_time.value_or(Millis(1)).count() > 0;
  if (!above) return MakeError(ErrorCode::kInvalidArgument, "a limit must be above 0");
  constexpr int kDeepest = 16;
  if (options.max_depth < 0 || options.max_depth > kDeepest) {
    return MakeError(ErrorCode::kInvalidArgument, "max_depth must be 0 to {}", kDeepest);
  }
  return {};
}

Result<std::shared_ptr<const ask::ContextSet>> Load(const std::vector<Context>& contexts,
                                                    store::ContentStore& content,
                                                    const config::Config& config,
                                                    const CancelToken& cancel) {
  ask::ContextOptions options{.content = &content, .copy_limit = config.store.copy_limit};
  std::vector<ask::ContextSource> sources;
  for (const Context& context : contexts) {
    if (context.kind == Context::Kind::kText) {
      sources.push_back({.text = context.value, .name = context.name});
      continue;
    }
    // The command's name for standard input; a library has no such file.
    if (context.value == "-") {
      return MakeError(ErrorCode::kInvalidArgument,
                       "a context has the path \"-\"; for a file of "
                       "that name write ./-");
    }
    std::error_code error;
    if (context.kind == Context::Kind::kFile &&
        std::filesystem::is_directory(context.value, error)) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "{} is a folder: give it as Folder(), which reads the files below it",
                       context.value);
    }
    sources.push_back({.path = context.value, .name = context.name, .shown = context.name});
  }
  return ask::LoadContext(sources, options, cancel);
}

ask::Mode ModeOf(AskOptions::Mode mode) {
  switch (mode) {
    case AskOptions::Mode::kAuto:
      return ask::Mode::kAuto;
    case AskOptions::Mode::kDirect:
      return ask::Mode::kDirect;
    case AskOptions::Mode::kRecursive:
      return ask::Mode::kRecursive;
  }
  return ask::Mode::kAuto;
}

ask::AskRequest RequestOf(std::string_view question, const AskOptions& options,
                          const Model::Impl& model) {
  ask::AskRequest request{.question = std::string(question), .mode = ModeOf(options.mode)};
  request.limits.calls = options.max_calls;
  request.limits.depth = options.max_depth;
  request.limits.tokens = options.max_tokens;
  request.limits.usd = options.max_usd;
  request.limits.time = options.max_time;
  request.limits.iterations = options.max_turns;
  request.cell = LimitsOf(options.sandbox);
  request.temperature = options.temperature ? options.temperature : model.temperature;
  request.seed = options.seed.value_or(SystemEntropy() >> 1);
  if (options.seed) request.seed_from = ask::AskRequest::Seed::kGiven;
  if (const Memory::Impl* memory = MemoryAccess::Of(options.memory)) {
    request.memory.store = memory->store;
    request.memory.branch = memory->branch;
  }
  return request;
}

Result<std::vector<ask::Requirement>> RequirementsOf(const AskOptions& options) {
  std::vector<ask::Requirement> out;
  if (!options.json_schema.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const model::FoundSchema found,
                             model::SchemaOfText(options.json_schema, "AskOptions::json_schema"));
    out.push_back(ask::RequireSchema(found.schema));
  }
  if (options.check) {
    out.push_back({.told = std::string(ask::kToldOfCheck),
                   .complaint = [check = options.check](ask::FoundAnswer* answer,
                                                        const CancelToken&) -> Result<std::string> {
                     return check(answer->text);
                   }});
  }
  return out;
}

Result<std::vector<ask::Tool>> ToolsOf(const std::vector<AskTool>& given) {
  std::vector<ask::Tool> out;
  for (const AskTool& tool : given) {
    DOSSIER_ASSIGN_OR_RETURN(Json schema, ParseJson(tool.parameters));
    DOSSIER_ASSIGN_OR_RETURN(auto compiled, model::JsonSchema::Compile(std::move(schema)));
    out.push_back({.name = tool.name,
                   .description = tool.description,
                   .parameters = std::move(compiled),
                   .run = [run = tool.run](const JsonObject& arguments,
                                           const CancelToken& cancel) -> Result<ExactJson> {
                     DOSSIER_ASSIGN_OR_RETURN(const std::string value,
                                              run(ToJson(arguments), cancel));
                     return ExactJson::Parse(value);
                   }});
  }
  DOSSIER_RETURN_IF_ERROR(ask::CheckToolNames(out));
  return out;
}

Result<std::vector<ask::Medium>> MediaOf(const std::vector<AskImage>& given,
                                         const CancelToken& cancel) {
  std::vector<ask::Medium> out;
  for (const AskImage& image : given) {
    if (image.place.empty() == image.bytes.empty()) {
      return MakeError(
          ErrorCode::kInvalidArgument,
          "the image \"{}\" needs a place, which is a path or an address, or its bytes",
          image.name);
    }
    std::string read;
    if (!image.place.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(read,
                               ReadNamedPlace(image.place, ask::kMaxImage, Network::kAny, cancel));
    }
    DOSSIER_ASSIGN_OR_RETURN(ask::Medium medium,
                             ask::MediumOf(image.name, image.place.empty() ? "bytes" : image.place,
                                           image.place.empty() ? image.bytes : read, cancel));
    out.push_back(std::move(medium));
  }
  return out;
}

AnswerStatus AnswerStatusOf(ask::RunStatus status) {
  switch (status) {
    case ask::RunStatus::kFinal:
      return AnswerStatus::kFinal;
    case ask::RunStatus::kExtracted:
      return AnswerStatus::kExtracted;
    case ask::RunStatus::kPartial:
      return AnswerStatus::kUnconfirmed;
    case ask::RunStatus::kNone:
      return AnswerStatus::kNone;
    case ask::RunStatus::kInterrupted:
      return AnswerStatus::kInterrupted;
    case ask::RunStatus::kFailed:
      return AnswerStatus::kFailed;
  }
  return AnswerStatus::kNone;
}

double NumberOf(const Json& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return 0;
}

Answer AnswerOf(const ask::Outcome& outcome) {
  Answer answer{.status = AnswerStatusOf(outcome.status),
                .text = outcome.text,
                .doubts = outcome.evidence.doubts,
                .error = outcome.error,
                .usage = UsageOf(outcome.usage),
                .run = outcome.run,
                .turns = outcome.turns,
                .elapsed = outcome.elapsed,
                .json = ToJson(outcome.ToJson())};
  for (const ask::LimitHit& hit : outcome.limits_hit) {
    answer.limits_hit.push_back(
        {.limit = hit.limit, .max = NumberOf(hit.max), .used = NumberOf(hit.used)});
  }
  for (const ask::OutFile& file : outcome.files.value_or(std::vector<ask::OutFile>())) {
    answer.files.push_back({.path = file.path, .bytes = file.bytes, .sha256 = file.sha256});
  }
  for (const ask::Warning& warning : outcome.warnings) {
    const auto* text = warning.data.if_string();
    answer.warnings.push_back(text ? fmt::format("{}: {}", warning.code, std::string_view(*text))
                                   : warning.code);
  }
  return answer;
}

}  // namespace

Context File(std::string path) {
  return {.kind = Context::Kind::kFile, .value = std::move(path), .name = {}};
}
Context Folder(std::string path) {
  return {.kind = Context::Kind::kFolder, .value = std::move(path), .name = {}};
}
Context Text(std::string utf8) {
  return {.kind = Context::Kind::kText, .value = std::move(utf8), .name = {}};
}

std::string_view AnswerStatusName(AnswerStatus status) {
  constexpr std::string_view kNames[] = {"final", "extracted",   "unconfirmed",
                                         "none",  "interrupted", "failed"};
  return kNames[static_cast<std::size_t>(status)];
}

Result<Answer> Ask(std::string_view question, const std::vector<Context>& contexts,
                   const AskOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const auto model, ModelAccess::Of(options.model));
  DOSSIER_RETURN_IF_ERROR(CheckAskOptions(question, options));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, app::LoadOwnConfig());
  DOSSIER_ASSIGN_OR_RETURN(const Records records, OpenRecords(options.runs_folder));
  ask::AskRequest request = RequestOf(question, options, *model);
  DOSSIER_ASSIGN_OR_RETURN(request.requirements, RequirementsOf(options));
  DOSSIER_ASSIGN_OR_RETURN(request.tools, ToolsOf(options.tools));
  DOSSIER_ASSIGN_OR_RETURN(request.media, MediaOf(options.media, options.cancel));
  request.repairs = options.repairs;
  DOSSIER_RETURN_IF_ERROR(app::ApplyWindow(config.limits, *records.journal, &request.limits));
  DOSSIER_ASSIGN_OR_RETURN(request.context,
                           Load(contexts, records.journal->content(), config, options.cancel));
  ask::EngineOptions parts{.root = model->opened.root,
                           .sub = model->opened.root,
                           .pool = SandboxPoolAccess::Of(options.pool),
                           .pool_options = PoolOptionsOf(options.sandbox),
                           .journal = records.journal,
                           .replies = records.replies};
  if (options.sub_model) {
    DOSSIER_ASSIGN_OR_RETURN(const auto sub, ModelAccess::Of(options.sub_model));
    parts.sub = sub->opened.root;
  }
  if (options.child_model) {
    DOSSIER_ASSIGN_OR_RETURN(const auto child, ModelAccess::Of(options.child_model));
    parts.child = child->opened.root;
  }
  DOSSIER_ASSIGN_OR_RETURN(parts.folders, app::UserAssetFolders(options.layouts_dir));
  parts.makers = SectionMakersOf(config, options.cancel);
  if (!options.out_dir.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(request.out, ask::OutFolder::Open(options.out_dir));
  }
  ask::Engine engine(std::move(parts));
  AskWatch watch(options);
  DOSSIER_ASSIGN_OR_RETURN(const ask::Outcome outcome, engine.Run(request, options.cancel, watch));
  // Removes old runs if the store is too large; a failure does not matter, as the answer exists.
  static_cast<void>(store::PruneRuns(records.folder, {.max_bytes = config.store.limit},
                                     store::PruneAction::kRemove, *SystemClock()));
  return AnswerOf(outcome);
}

}  // namespace dossier
