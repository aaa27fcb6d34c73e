#include "cli/chat/chat_setup.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "app/spending_window.h"
#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/files/secret_files.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "chat/document/folder.h"
#include "chat/store/index.h"
#include "cli/chat/chat_dialogs.h"
#include "cli/chat/preset.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/conversation_trust.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/server_tools.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {
namespace {

using chat::TurnOptions;
using chat::TurnRequest;

constexpr std::string_view kCompatModel = "gpt-3.5-turbo";  // default of the Python tool
constexpr std::size_t kMaxSystemText = 16 << 20;            // bytes

chat::CompactionLimits LimitsOf(const config::CompactionSettings& config,
                                const ChatArguments& arguments) {
  chat::CompactionLimits limits = cli::LimitsOf(config);
  if (arguments.no_compact) limits.mode = chat::CompactionLimits::Mode::kOff;
  if (arguments.history_budget) limits.hard_tokens = *arguments.history_budget;
  return limits;
}

constexpr std::size_t kMaxFolderShown = 200;  // characters

std::string HomeFolder() {
  const char* home = std::getenv("HOME");
  return home ? Canonical(home) : std::string();
}

// The account's home counts, too: HOME may be unset, or name another folder.
bool HoldsHome(const std::string& folder) {
  const passwd* account = getpwuid(getuid());
  return IsBelow(HomeFolder(), folder) || (account && IsBelow(Canonical(account->pw_dir), folder));
}

// Returns the repository that contains `given`, else the folder itself, also if the home is a
// repository or the repository is too large to search for secrets.
Result<sandbox::CommandJail> JailIn(const std::string& given) {
  std::error_code error;
  const std::string folder = std::filesystem::canonical(given, error).string();
  if (error || !std::filesystem::is_directory(folder, error)) {
    return MakeError(ErrorCode::kNotFound, "{}: there is no such folder", given);
  }
  const auto git = FindGitFolders(folder);
  const bool shows_all = !git || HoldsHome(git->root) || !FindSecretFiles(git->root);
  return sandbox::CommandJail{.root = shows_all ? folder : git->root, .folder = folder};
}

Status TellSecrets(const std::string& root, const std::vector<std::string>& shown,
                   const std::function<void(std::string_view)>& say) {
  const auto found = FindSecretFiles(root);
  if (!found) {
    return MakeError(ErrorCode::kUsage,
                     "commands of the model: {}; start it in a folder below, or name one with "
                     "--commands-in DIR",
                     found.error().message);
  }
  if (found->size() <= shown.size()) return {};
  const std::string first = std::filesystem::path(found->front()).lexically_relative(root);
  say(fmt::format("{} file{} with secrets {} hidden from commands ({}{}); --show-secret shows one",
                  found->size() - shown.size(), found->size() == 1 ? "" : "s",
                  found->size() == 1 ? "is" : "are", first, found->size() > 1 ? ", …" : ""));
  return {};
}

// Returns a schema without the texts that a server writes for the model; the description is fenced.
Json WithoutTexts(Json schema) {
  if (JsonArray* list = schema.if_array()) {
    for (Json& one : *list) one = WithoutTexts(std::move(one));
  }
  JsonObject* map = schema.if_object();
  if (!map) return schema;
  for (const char* text : {"title", "description", "$comment"}) {
    const Json* held = map->if_contains(text);  // an argument of that name is a schema
    if (held && held->is_string()) map->erase(text);
  }
  for (auto& [key, value] : *map) {
    const bool data = key == "enum" || key == "const" || key == "default";
    // An argument of that name is a schema.
    if (!data || value.is_object()) value = WithoutTexts(std::move(value));
  }
  return schema;
}

// A function of a server as a tool of the model.
class ServerTool final : public chat::ChatTool {
 public:
  ServerTool(ask::Tool tool, std::uint64_t most_output)
      : tool_(std::move(tool)), most_output_(most_output) {}

  assembly::ToolSpec Spec() const override {
    return {.name = tool_.name,
            .description = ask::FencedForServer(tool_.server, tool_.description),
            .parameters = WithoutTexts(tool_.parameters.json())};
  }
  chat::Judged Judge(const model::ToolCall& call) const override {
    chat::Judged judged{.asked = {call.name, ToJson(call.arguments)}, .rule = "--mcp"};
    if (const JsonObject* given = call.arguments.if_object()) judged.arguments = *given;
    const Status fits = ask::CheckArguments(tool_, judged.arguments);
    judged.allowed = fits && call.arguments.is_object();
    if (!judged.allowed) {
      judged.sentence = fits ? "the arguments must be an object" : fits.error().message;
    }
    return judged;
  }
  Result<chat::ToolOutput> Run(const chat::Judged& judged,
                               const CancelToken& cancel) const override {
    DOSSIER_ASSIGN_OR_RETURN(const ExactJson value,
                             ask::CallTool(tool_, judged.arguments, cancel, {}));
    const Json& plain = value.nearest();
    const std::string text = plain.is_string() ? std::string(plain.get_string()) : ToJson(value);
    sources::CommandText kept({.cap = most_output_});
    kept.Add(text);
    std::string shown = std::move(kept).Finish(tool_.name).text;
    return chat::ToolOutput{.text = shown.empty() ? "(no output)" : std::move(shown),
                            .bytes = text.size(),
                            .sha256 = Sha256Hex(text)};
  }

 private:
  const ask::Tool tool_;
  const std::uint64_t most_output_;
};

}  // namespace

Result<std::unique_ptr<ChatSetup>> ChatSetup::Make(const ChatArguments& arguments,
                                                   const GlobalFlags& global, config::Config config,
                                                   std::function<void(std::string_view)> say,
                                                   const CancelToken& cancel) {
  std::unique_ptr<ChatSetup> setup(
      new ChatSetup(arguments, global, std::move(config), std::move(say), cancel));
  DOSSIER_RETURN_IF_ERROR(setup->ChooseConversation());
  DOSSIER_RETURN_IF_ERROR(setup->MakeScratch());
  DOSSIER_RETURN_IF_ERROR(setup->ReadPresets());
  DOSSIER_RETURN_IF_ERROR(setup->ReadSystemText());
  std::vector<std::string> places = arguments.files;
  places.insert(places.end(), arguments.attachments.begin(), arguments.attachments.end());
  DOSSIER_ASSIGN_OR_RETURN(setup->attached_, setup->Attach(places));
  for (const std::string& warning : setup->attached_.warnings) setup->say_("warning: " + warning);
  DOSSIER_RETURN_IF_ERROR(setup->FindSchema());
  DOSSIER_RETURN_IF_ERROR(setup->MakeCommandTool());
  DOSSIER_RETURN_IF_ERROR(setup->MakeServerTools());
  DOSSIER_RETURN_IF_ERROR(setup->MakeMemory());
  DOSSIER_RETURN_IF_ERROR(setup->MakeChat());
  return setup;
}

ChatSetup::ChatSetup(const ChatArguments& arguments, const GlobalFlags& global,
                     config::Config config, std::function<void(std::string_view)> say,
                     const CancelToken& cancel)
    : arguments_(arguments),
      global_(global),
      config_(std::move(config)),
      say_(std::move(say)),
      cancel_(cancel),
      store_(config_.conversations.path) {}

Status ChatSetup::ChooseConversation() {
  if (arguments_.conversation) {
    id_ = *arguments_.conversation;
    return chat::CheckId(id_);
  }
  if (arguments_.fresh) NameConversation();
  if (arguments_.last) {
    DOSSIER_ASSIGN_OR_RETURN(auto index, chat::Index::Open(store_.folder(), config_.user.cache));
    DOSSIER_ASSIGN_OR_RETURN(const auto list, index.List({.limit = 0, .since = ""}));
    for (const auto& one : list) {
      if (one.problem.empty()) {
        id_ = one.id;
        return {};
      }
    }
    return MakeError(ErrorCode::kNotFound,
                     "--continue: no conversation is kept in {}; `dossier chat --new` makes one",
                     store_.folder());
  }
  return {};
}

Status ChatSetup::MakeScratch() {
  const bool session_only = arguments_.read_only && arguments_.interactive;
  if (!arguments_.no_save && !session_only) return {};
  std::optional<std::string> bytes;
  if (!id_.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(bytes, chat::ReadConversation(store_.folder(), id_));
  }
  if (arguments_.read_only) DOSSIER_RETURN_IF_ERROR(store_.Load(id_));
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make());
  scratch_.emplace(std::move(folder));
  store_ = chat::ConversationStore(scratch_->path());
  if (!bytes) return {};
  const std::string_view whole = *bytes;
  return chat::ReplaceFile(store_.folder(), id_, {&whole, 1});
}

Status ChatSetup::KeepAs(std::string id, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(chat::CheckId(id));
  const chat::ConversationStore kept(config_.conversations.path);
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock, kept.Hold(id, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const auto existing, kept.Find(id));
  if (existing) return MakeError(ErrorCode::kNotFound, "conversation '{}' exists", id);
  DOSSIER_ASSIGN_OR_RETURN(chat::Loaded own, store_.Load(id_));
  DOSSIER_RETURN_IF_ERROR(own.document.SetId(id));
  const chat::RenderedFile text = own.document.Render();
  DOSSIER_RETURN_IF_ERROR(chat::ReplaceFile(kept.folder(), id, text.pieces()));
  id_ = std::move(id);
  store_ = kept;
  scratch_.reset();
  arguments_.no_save = arguments_.read_only = false;
  return MakeChat();
}

void ChatSetup::NameConversation() {
  id_ = chat::MakeId();
  id_is_new_ = true;
}

// Reads a role (a system text) and a template (a message); both may name their model.
Status ChatSetup::ReadPresets() {
  const std::string folder = config_.user.config;
  const auto use = [&](Preset preset, std::string* text) {
    *text = std::move(preset.text);
    if (arguments_.model.model.empty()) arguments_.model.model = std::move(preset.model);
    if (!arguments_.model.temperature) arguments_.model.temperature = preset.temperature;
  };
  if (!arguments_.role.empty()) {
    if (arguments_.system) {
      DOSSIER_RETURN_IF_ERROR(KeepPreset("roles", arguments_.role, *arguments_.system, folder));
    }
    DOSSIER_ASSIGN_OR_RETURN(Preset preset, FindPreset("roles", arguments_.role, folder));
    arguments_.system.emplace();
    use(std::move(preset), &*arguments_.system);
  }
  if (!arguments_.preset.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(Preset preset, FindPreset("templates", arguments_.preset, folder));
    use(std::move(preset), &template_);
  }
  return {};
}

Result<std::string> ChatSetup::PromptOf(std::string input) const {
  if (arguments_.preset.empty()) return input;
  Result<std::string> filled =
      FillTemplate(template_, std::move(input), arguments_.context.variables);
  if (!filled) {
    filled.error().message =
        fmt::format("template {}: {}", arguments_.preset, filled.error().message);
  }
  return filled;
}

Result<Attachments> ChatSetup::Attach(const std::vector<std::string>& places) const {
  return ReadAttachments(places, global_.offline ? Network::kNone : Network::kAny, cancel_);
}

Status ChatSetup::ReadSystemText() {
  system_text_ = config_.default_system_message;
  system_asked_ = arguments_.system || !arguments_.system_file.empty();
  if (arguments_.system) system_text_ = *arguments_.system;
  if (!arguments_.system_file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(system_text_, ReadNamedFile(arguments_.system_file, kMaxSystemText));
  }
  if (!utf8::IsValid(system_text_)) {
    return MakeError(ErrorCode::kUsage, "the system text is not UTF-8");
  }
  return {};
}

Status ChatSetup::FindSchema() {
  DOSSIER_ASSIGN_OR_RETURN(schema_, ChooseSchema(arguments_.schema, config_, global_, cancel_));
  if (!schema_) return {};
  for (const std::string& warning : schema_->warnings) say_("warning: " + warning);
  if (arguments_.raw.value_or(config_.raw_response)) {
    return MakeError(ErrorCode::kUsage, "--raw and a JSON schema exclude each other");
  }
  return {};
}

// Sets up agent mode: the policy, the jail and the tool.
Status ChatSetup::MakeCommandTool() {
  const config::DynamicCommands& dynamic = config_.dynamic_commands;
  if (!arguments_.allow_commands.value_or(dynamic.allowed)) return {};
  sandbox::PolicyText text{.allow = dynamic.allow};
  if (dynamic.deny) text.deny = *dynamic.deny;
  if (!arguments_.command_allow.empty()) text.allow = arguments_.command_allow;
  if (!arguments_.command_deny.empty()) text.deny = arguments_.command_deny;
  chat::CommandToolOptions options{.timeout = dynamic.timeout,
                                   .max_output = static_cast<std::uint64_t>(dynamic.max_output)};
  for (const auto& one : dynamic.available) {
    options.available.emplace_back(one.command, one.description);
    if (!text.available_commands) text.available_commands.emplace();
    text.available_commands->push_back(one.command);
  }
  text.secret_files = arguments_.show_secrets;
  if (dynamic.write) text.write = sandbox::CommandWrites::kJail;
  if (dynamic.network) text.network = sandbox::JailNetwork::kAny;
  if (config_.mode == config::CompatMode::kCompat) {
    options.form = chat::CommandToolOptions::Form::kCommandLine;
  }
  DOSSIER_ASSIGN_OR_RETURN(sandbox::Policy policy, sandbox::MakePolicy(text));
  for (const std::string& warning : policy.warnings) say_("warning: " + warning);
  DOSSIER_ASSIGN_OR_RETURN(sandbox::CommandJail jail, FindJail());
  DOSSIER_RETURN_IF_ERROR(TellSecrets(jail.root, policy.secret_files, say_));
  tools_.push_back(std::make_unique<chat::CommandTool>(
      std::move(policy), std::move(jail), sources::CurrentEnvironment(), std::move(options)));
  return {};
}

Status ChatSetup::MakeServerTools() {
  const bool sends = !arguments_.dry_run && !arguments_.explain_context;
  DOSSIER_ASSIGN_OR_RETURN(auto found,
                           ServerTools({.names = arguments_.servers,
                                        .use = sends ? ServerUse::kCalled : ServerUse::kLookedAt,
                                        .network = global_.offline ? Network::kNone : Network::kAny,
                                        .say = say_},
                                       config_, cancel_));
  DOSSIER_RETURN_IF_ERROR(ask::CheckToolNames(found));
  const std::string own = tools_.empty() ? "" : tools_.front()->Spec().name;
  if (std::ranges::find(found, own, &ask::Tool::name) != found.end()) {
    return MakeError(ErrorCode::kConfig, "--mcp: {} is the name of the model's commands", own);
  }
  const auto most = static_cast<std::uint64_t>(config_.dynamic_commands.max_output);
  for (ask::Tool& tool : found) {
    tools_.push_back(std::make_unique<ServerTool>(std::move(tool), most));
  }
  return {};
}

// Decides what the model's commands can see. A home folder holds everything that a person has, so
// it is visible only if it was named.
Result<sandbox::CommandJail> ChatSetup::FindJail() const {
  DOSSIER_ASSIGN_OR_RETURN(sandbox::CommandJail jail,
                           JailIn(arguments_.commands_in.empty() ? "." : arguments_.commands_in));
  if (!HoldsHome(jail.root)) return jail;
  if (arguments_.commands_in.empty()) {
    const auto answer = AskOnTerminal(
        fmt::format("dossier: commands of the model see their folder, and {} holds your home.\n"
                    "dossier: in which folder may they run? ",
                    OnOneLine(jail.root, kMaxFolderShown)));
    if (answer && !TrimSpace(*answer).empty()) {
      DOSSIER_ASSIGN_OR_RETURN(jail, JailIn(ExpandHome(TrimSpace(*answer), HomeFolder())));
      if (!HoldsHome(jail.root)) return jail;
    }
  }
  return MakeError(ErrorCode::kUsage,
                   "commands of the model see their folder, and {} holds your home: start it in a "
                   "project's folder, or name one with --commands-in DIR",
                   jail.root);
}

// A session that saves nothing reads memory but does not change it.
Status ChatSetup::MakeMemory() {
  const bool sends = !arguments_.dry_run && !arguments_.explain_context;
  const bool writes = sends && !arguments_.no_save && !arguments_.read_only;
  DOSSIER_ASSIGN_OR_RETURN(memory_,
                           OpenPromptMemory(arguments_.memory, config_,
                                            writes ? MemoryNeed::kWritten : MemoryNeed::kLookedAt));
  if (!memory_.store) return {};
  for (const std::string& warning : memory_.store->warnings()) say_("warning: " + warning);
  if (!writes) return {};
  ModelFlags flags = arguments_.model;
  flags.model.clear();  // use memory.model, not the conversation's model
  DOSSIER_ASSIGN_OR_RETURN(summarizer_,
                           OpenSummarizer(flags, memory_.config, config_, global_, say_, cancel_));
  return {};
}

driver::MemoryUse ChatSetup::Memory() const {
  driver::MemoryUse memory{.store = memory_.store,
                           .branch = memory_.branch,
                           .calls = memory_.calls,
                           .consolidate_from = memory_.consolidate_from,
                           .summarizer = summarizer_};
  if (arguments_.no_save || arguments_.read_only) {
    memory.writes = driver::MemoryUse::Writes::kNo;
  }
  return memory;
}

Status ChatSetup::MakeChat() {
  DOSSIER_ASSIGN_OR_RETURN(prepared_, PrepareContext(arguments_.context, config_));
  context_ = std::make_unique<chat::CommandContext>(prepared_.setup);
  texts_ = std::make_unique<chat::TextContext>(*context_, attached_.texts);
  chat::ChatParts parts{
      .store = &store_,
      .open_model = [this](const std::string& name) { return OpenChatModel(name); },
      .context = texts_.get(),
      .memory = Memory()};
  for (const auto& tool : tools_) parts.tools.push_back(tool.get());
  if (asks()) {
    DOSSIER_ASSIGN_OR_RETURN(parts.confirm, ConfirmOnTerminal());
  }
  if (arguments_.no_log) parts.bodies = driver::RunLogSetting::Bodies::kLeftOut;
  const bool sends = !arguments_.dry_run && !arguments_.explain_context;
  // An unsaved turn is limited by what the runs used, too.
  const bool kept = !arguments_.no_save;
  if (sends && (kept || config_.limits.any()) && !journal_) {
    auto journal = store::Journal::Open(config_.user.data + "/runs");
    // A turn must not fail because the journal cannot be written.
    if (journal) {
      journal_ = std::move(*journal);
    } else {
      say_("warning: no journal is kept: " + journal.error().message);
    }
  }
  if (kept) parts.journal = journal_;
  if (journal_) parts.limits = [this] { return app::LimitsOfTurn(config_.limits, *journal_); };
  parts.content_folder = content_folder();
  parts.rescue_folder = config_.user.state + "/unsaved";
  DOSSIER_ASSIGN_OR_RETURN(layouts_, LayoutSourcesFor(global_, cancel_, std::cerr));
  parts.folders = layouts_.folders;
  parts.makers = layouts_.makers;
  chat_ = std::make_unique<chat::Chat>(std::move(parts));
  return {};
}

bool ChatSetup::asks() const {
  return !tools_.empty() &&
         arguments_.confirm_commands.value_or(config_.dynamic_commands.require_confirmation);
}

Status ChatSetup::SetExec(std::vector<std::string> exec, Attachments attached) {
  arguments_.context.exec = std::move(exec);
  attached_ = std::move(attached);
  return MakeChat();
}

Result<std::string> ChatSetup::ModelInQuestion() const {
  const std::string asked = app::AskedName(arguments_.model);
  const bool settled = id_.empty() || arguments_.model.model.empty() || arguments_.adopt ||
                       arguments_.read_only || arguments_.dry_run || arguments_.explain_context;
  if (settled) return std::string();
  DOSSIER_ASSIGN_OR_RETURN(const auto loaded, store_.Find(id_));
  // By name alone the model is the same one, wherever it was requested.
  const bool same =
      loaded && (loaded->stored.model == asked || loaded->stored.model == arguments_.model.model);
  if (!loaded || same) return std::string();
  const std::vector<std::string>& hints = loaded->stored.hints;
  const bool answered = std::ranges::find(hints, chat::ModelHint(asked)) != hints.end();
  return answered ? std::string() : loaded->stored.model;
}

Result<std::string> ChatSetup::SetModel(const std::string& name) {
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, OpenUsersModel(name));
  arguments_.model.model = name;
  return model.stored;
}

bool ChatSetup::NamedByUser(const std::string& model) const {
  return model.empty() || model == app::AskedName(arguments_.model) || model == config_.model ||
         model == config_.compaction.model;
}

Result<driver::BoundModel> ChatSetup::OpenChatModel(const std::string& name) {
  if (const auto known = models_.find(name); known != models_.end()) return known->second;
  if (NamedByUser(name)) return OpenUsersModel(name);
  DOSSIER_RETURN_IF_ERROR(CheckStoredModel(name, config_, global_, std::cerr));
  const auto model = OpenNamed(name);
  if (!model && model.error().code != ErrorCode::kCancelled) {
    return MakeError(model.error().code,
                     "{}; the conversation was begun with {}: `-m MODEL --adopt` goes on with "
                     "another model",
                     model.error().message, name);
  }
  if (model) models_.emplace(name, *model);
  return model;
}

// Under the name that the conversation's file gives it, too: that one counts from now on.
Result<driver::BoundModel> ChatSetup::OpenUsersModel(const std::string& name) {
  DOSSIER_ASSIGN_OR_RETURN(const driver::BoundModel model, OpenNamed(name));
  models_.emplace(name, model);
  models_.emplace(model.stored, model);
  const bool kept = !id_.empty() && !arguments_.no_save && !arguments_.read_only &&
                    !arguments_.dry_run && !arguments_.explain_context;
  if (kept) DOSSIER_RETURN_IF_ERROR(ApproveStoredModel(model.stored, config_));
  return model;
}

Result<driver::BoundModel> ChatSetup::OpenNamed(const std::string& name) const {
  ModelFlags flags = arguments_.model;
  flags.model = name;
  const bool sends = !arguments_.dry_run && !arguments_.explain_context;
  if (!sends) flags.use = ModelFlags::Use::kLookedAt;
  flags.needs_price = sends && config_.limits.usd;
  return cli::OpenChatModel(flags, config_, global_, say_, cancel_);
}

TurnRequest ChatSetup::RequestFor(std::string prompt) const {
  TurnRequest request{.id = id_, .prompt = std::move(prompt), .system_text = system_text_};
  TurnOptions& options = request.options;
  if (id_.empty()) options.kind = TurnOptions::Kind::kStateless;
  if (arguments_.no_context_exec) options.config_commands = TurnOptions::ConfigCommands::kSkip;
  if (arguments_.refresh_context) options.refresh = TurnOptions::Refresh::kYes;
  if (arguments_.read_only && !unsaved()) options.store = TurnOptions::Store::kReadOnly;
  const bool compat = config_.mode == config::CompatMode::kCompat;
  if (compat) options.compat = TurnOptions::Compat::kYes;
  using System = TurnOptions::System;
  if (system_asked_)
    options.system = arguments_.replace_system ? System::kReplaces : System::kAsked;
  if (arguments_.adopt) options.adopt = TurnOptions::Adopt::kYes;
  request.images = attached_.images;
  request.asked_model = app::AskedName(arguments_.model);
  request.configured_model = config_.model.value_or(compat ? std::string(kCompatModel) : "");
  if (arguments_.dry_run || arguments_.explain_context) request.action = TurnRequest::Action::kPlan;
  if (arguments_.resume_turn) request.resume = TurnRequest::Resume::kYes;
  if (arguments_.wait) request.hold = TurnRequest::Hold::kYes;
  if (arguments_.raw.value_or(config_.raw_response)) request.raw = model::Request::Raw::kKept;
  request.compaction = LimitsOf(config_.compaction, arguments_);
  if (arguments_.compact) request.compacting = TurnRequest::Compacting::kNow;
  request.compaction_model = config_.compaction.model;
  request.context_max_tokens = config_.context_max_tokens;
  request.schema = schema();
  request.repair_rounds = arguments_.repair.value_or(request.repair_rounds);
  const config::DynamicCommands& dynamic = config_.dynamic_commands;
  request.tool_limits = {.commands = dynamic.max_commands, .refusals = dynamic.max_refusals};
  if (dynamic.history == config::DynamicCommands::History::kFull) {
    request.tool_history = TurnRequest::ToolHistory::kFull;
  }
  return request;
}

}  // namespace dossier::cli
