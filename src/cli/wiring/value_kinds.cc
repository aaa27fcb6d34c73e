#include "cli/wiring/value_kinds.h"

#include <dirent.h>

#include "agents/run/run.h"
#include "assembly/layout/lookup.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/help_text.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "config/keys.h"
#include "research/files/run_folder.h"
#include "sources/header/agents_config.h"
#include "sources/header/task.h"
#include "sources/repository/repo_facts.h"
#include "store/journal.h"

namespace dossier::cli {
namespace {

// Ignores power keys: completing a word must do nothing that a file requests.
std::optional<config::Config> LoadQuietly(const GlobalFlags& flags) {
  const auto request = MakeLoadRequest(flags);
  if (!request) return std::nullopt;
  const auto refuse = [](const config::Question&) -> Status {
    return MakeError(ErrorCode::kRefused, "not looked at here");
  };
  auto config = config::LoadConfig(*request, config::ReadConfigFile, refuse);
  if (!config) {
    const auto nothing = [](const std::string&) -> Result<std::optional<config::ConfigFile>> {
      return std::nullopt;
    };
    config = config::LoadConfig(*request, nothing, refuse);
  }
  if (!config) return std::nullopt;
  return std::move(*config);
}

// Adds the names in `folder` that end in `ending`, without that ending.
void AddNames(const std::string& folder, std::string_view ending, std::vector<Completion>* out) {
  DIR* open = opendir(folder.c_str());
  if (!open) return;
  while (const dirent* entry = readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with('.') || !name.ends_with(ending)) continue;
    out->push_back({std::string(name.substr(0, name.size() - ending.size())), ""});
  }
  closedir(open);
}

std::vector<Completion> Models(const CompletionContext&) {
  std::vector<Completion> found;
  const auto data = LoadModelData();
  if (!data) return found;
  for (const auto& [alias, name] : data->config.aliases) found.push_back({alias, name});
  for (const model::Entry& entry : data->catalog.entries()) {
    found.push_back({entry.provider + "/" + entry.name, ""});
  }
  found.push_back({"local", "the embedded model"});
  return found;
}

std::vector<Completion> ConfigNames(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto config = LoadQuietly(context.flags);
  if (!config) return found;
  std::vector<std::string> folders = config->project_folders;
  folders.push_back(config->user.config);
  folders.push_back(config->user.legacy_folder());
  for (const std::string& folder : folders) {
    for (const char* ending : {".dossier.yml", ".Cllmfile.yml"}) {
      for (const char* below : {"", "/.dossier", "/.cllm"})
        AddNames(folder + below, ending, &found);
    }
  }
  return found;
}

std::vector<Completion> Layouts(const CompletionContext&) {
  std::vector<Completion> found;
  const auto folders = AllAssetFolders("");
  if (!folders) return found;
  for (const std::string& name : assembly::ListAssets("layouts/", {".yaml"}, *folders)) {
    found.push_back({name.substr(0, name.find('.')), ""});
  }
  return found;
}

std::vector<Completion> ConfigKeys(const CompletionContext&) {
  std::vector<Completion> found;
  for (const config::Key& key : config::Keys()) {
    found.push_back({std::string(key.name), std::string(key.about)});
  }
  return found;
}

// Reads as much configuration as allowed here; completion starts no engine's program.
std::optional<sources::AgentsConfig> AgentsQuietly(const GlobalFlags& flags) {
  const auto config = LoadQuietly(flags);
  if (!config) return std::nullopt;
  auto agents = sources::ReadAgentsConfig(*config, {});
  if (!agents) return std::nullopt;
  return std::move(*agents);
}

std::vector<Completion> Tasks(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto agents = AgentsQuietly(context.flags);
  if (!agents) return found;
  const auto list = sources::LoadTasks(sources::RepoRoot("."), agents->tasks, agents->notes);
  if (!list) return found;
  for (const sources::Task& task : list->tasks) {
    if (!task.id.empty()) found.push_back({task.id, task.summary});
  }
  return found;
}

std::vector<Completion> AgentRuns(const CompletionContext& context) {
  std::vector<Completion> found;
  auto agents = AgentsQuietly(context.flags);
  if (!agents) return found;
  agents::RunPorts ports;
  ports.agents = std::move(*agents);
  if (const auto folder = agents::RunLogFolder(ports)) AddNames(*folder, ".jsonl", &found);
  return found;
}

// Opens the store of the environment, the project or the user's folder; never waits for a lock.
std::unique_ptr<memory::Store> OpenMemoryQuietly(const GlobalFlags& flags) {
  const auto config = LoadQuietly(flags);
  if (!config) return nullptr;
  const auto mode = memory::OpenMode::kExisting;
  auto store = memory::Store::Open(
      {.path = MemoryStorePath("", *config, mode), .mode = mode, .busy_wait = Millis(0)});
  return store ? std::move(*store) : nullptr;
}

std::vector<Completion> MemoryBranches(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto store = OpenMemoryQuietly(context.flags);
  const auto branches = store ? store->Branches() : std::vector<memory::Branch>();
  if (!branches) return found;
  for (const memory::Branch& branch : *branches) found.push_back({branch.name, branch.parent});
  return found;
}

std::vector<Completion> MemoryKeys(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto store = OpenMemoryQuietly(context.flags);
  if (!store) return found;
  const auto view = store->Snapshot(memory::kRootBranch);
  if (!view) return found;
  for (const memory::CoreEntry& entry : view->AllCore()) {
    constexpr std::uint64_t kShown = 40;  // code points
    const std::string_view value = entry.value;
    found.push_back(
        {entry.key, std::string(utf8::Prefix(value.substr(0, value.find('\n')), kShown))});
  }
  return found;
}

// Lists the usual folder: the --out of this command line is not known here.
std::vector<Completion> ResearchRuns(const CompletionContext&) {
  std::vector<Completion> found;
  for (const std::string& run : research::ListRuns("experiments")) {
    found.push_back({run.substr(run.rfind('/') + 1), ""});
  }
  return found;
}

std::vector<Completion> CommandNames(const CompletionContext& context) {
  std::vector<Completion> found;
  for (const CommandNode* command : context.root.Commands()) {
    found.push_back({std::string(command->name()), std::string(command->summary())});
  }
  return found;
}

std::vector<Completion> TopicNames(const CompletionContext& context) {
  std::vector<Completion> found = CommandNames(context);
  for (const HelpTopic& topic : Topics()) {
    found.push_back({std::string(topic.name), std::string(topic.about)});
  }
  return found;
}

std::vector<Completion> Conversations(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto config = LoadQuietly(context.flags);
  if (config) AddNames(config->conversations.path, ".json", &found);
  return found;
}

std::vector<Completion> Runs(const CompletionContext&) {
  constexpr std::size_t kNewest = 30, kShown = 60;  // runs; code points of a question
  std::vector<Completion> found;
  const auto data = DataFolder();
  if (!data || !Exists(*data + "/runs/journal.db")) return found;
  const auto journal = store::Journal::Open(*data + "/runs");
  const auto runs = journal ? (*journal)->List(std::nullopt, kNewest) : tl::unexpected(Error{});
  if (!runs) return found;
  found.push_back({std::string(store::Journal::kNewest), "the newest"});
  for (const store::RunSummary& run : *runs) {
    found.push_back({run.run, OnOneLine(utf8::Prefix(run.question, kShown), 2 * kShown)});
  }
  return found;
}

std::vector<Completion> Variables(const CompletionContext& context) {
  std::vector<Completion> found;
  const auto config = LoadQuietly(context.flags);
  if (!config) return found;
  for (const config::Variable& variable : config->variables) {
    found.push_back({variable.name + "=", variable.value ? ToJson(*variable.value) : "required"});
  }
  return found;
}

constexpr ValueKind KindOffering(std::string_view word,
                                 std::vector<Completion> (*offers)(const CompletionContext&)) {
  return {.word = word, .offers = offers};
}

}  // namespace

constinit const ValueKind kModel = KindOffering("MODEL", Models);
constinit const ValueKind kConversation = KindOffering("CONVERSATION", Conversations);
constinit const ValueKind kRun = KindOffering("RUN", Runs);
constinit const ValueKind kVariable = KindOffering("VARIABLE", Variables);
constinit const ValueKind kConfigName = KindOffering("CONFIG", ConfigNames);
constinit const ValueKind kConfigKey = KindOffering("KEY", ConfigKeys);
constinit const ValueKind kLayout = KindOffering("LAYOUT", Layouts);
constinit const ValueKind kTask = KindOffering("TASK", Tasks);
constinit const ValueKind kAgentRun = KindOffering("AGENT_RUN", AgentRuns);
constinit const ValueKind kResearchRun = KindOffering("RESEARCH_RUN", ResearchRuns);
constinit const ValueKind kMemoryBranch = KindOffering("MEMORY_BRANCH", MemoryBranches);
constinit const ValueKind kMemoryKey = KindOffering("MEMORY_KEY", MemoryKeys);
constinit const ValueKind kPage = KindOffering("PAGE", CommandNames);
constinit const ValueKind kTopic = KindOffering("TOPIC", TopicNames);

}  // namespace dossier::cli
