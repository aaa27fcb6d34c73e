#include "config/load.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/files/file.h"
#include "base/text/text.h"
#include "config/expand.h"
#include "config/keys.h"

namespace dossier::config {
namespace {

using Owner = Candidate::Owner;

constexpr std::string_view kUserOnly[] = {"models", "local"};

// Collects the layers in order.
class Loader {
 public:
  Loader(const LoadRequest& request, const FileReader& read, const Decide& decide)
      : request_(request), read_(read), decide_(decide) {}

  Result<Config> Load() {
    config_.mode = request_.mode;
    config_.raw = MakeMap({});
    DOSSIER_ASSIGN_OR_RETURN(config_.user, UserFoldersOf(request_.variables));
    DOSSIER_ASSIGN_OR_RETURN(const Search search, MakeSearch());
    config_.project_folders = ProjectFolders(request_.folder, request_.root);
    AddCompatVariables();
    for (const Candidate& candidate : FindCandidates(search)) {
      DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const bool found, AddFile(candidate));
    }
    DOSSIER_RETURN_IF_ERROR(AddNamed(search));
    DOSSIER_ASSIGN_OR_RETURN(Value variables, ReadVariables(request_.variables));
    Merge(std::move(variables), MapRule::kByKey, &config_.raw);
    for (const Override& flag : request_.flags) {
      Set(flag.key, FromText(flag.value, {Origin::Kind::kFlag, flag.flag}), &config_.raw);
    }
    config_.expanded = config_.raw;
    Expand(request_.variables, &config_.expanded);
    DOSSIER_RETURN_IF_ERROR(ReadKeys(request_.folder, &config_));
    config_.conversations = FindConversations(search);
    return std::move(config_);
  }

 private:
  std::string Absolute(const std::string& path) const {
    return ResolvePath(path, request_.folder, config_.user.home);
  }
  std::string Variable(std::string_view name) const {
    return Absolute(Lookup(request_.variables, name).value_or(""));
  }

  Result<Search> MakeSearch() const {
    Search search{.folder = request_.folder,
                  .root = request_.root,
                  .config_dir = Absolute(request_.config_dir),
                  .cllm_path = Variable("CLLM_PATH"),
                  .name = request_.name,
                  .mode = request_.mode,
                  .user = config_.user};
    const bool flag = !search.config_dir.empty();
    if (flag) search.config_dir_from = Search::ConfigDir::kNamed;
    if (!flag) search.config_dir = Variable("DOSSIER_CONFIG_DIR");
    if (!search.config_dir.empty() && !IsFolder(search.config_dir)) {
      return MakeError(ErrorCode::kConfig, "{} {}: {}",
                       flag ? "--config-dir" : "DOSSIER_CONFIG_DIR", search.config_dir,
                       std::filesystem::exists(search.config_dir) ? "not a directory"
                                                                  : "there is no such folder");
    }
    if (request_.name.find('/') != std::string::npos) {
      return MakeError(ErrorCode::kConfig,
                       "--config {}: a name is wanted, as in NAME.dossier.yml, not a path",
                       request_.name);
    }
    return search;
  }

  // Their precedence is below every file.
  void AddCompatVariables() {
    if (request_.mode != CompatMode::kCompat) return;
    constexpr std::pair<std::string_view, std::string_view> kRows[] = {
        {"CLLM_DEBUG", "debug"}, {"CLLM_JSON_LOGS", "json_logs"}, {"CLLM_LOG_FILE", "log_file"}};
    for (const auto& [name, key] : kRows) {
      const auto value = Lookup(request_.variables, name);
      if (!value || (key != "log_file" && *value != "1")) continue;
      Set(key,
          FromText(key == "log_file" ? *value : "true",
                   {Origin::Kind::kVariable, std::string(name)}),
          &config_.raw);
    }
  }

  Result<bool> AddFile(const Candidate& candidate) {
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<ConfigFile> file, read_(candidate.path));
    if (!file) return false;
    DOSSIER_ASSIGN_OR_RETURN(Value values, ParseConfigFile(*file));
    if (candidate.owner == Owner::kProject) {
      std::vector<std::string> powers = FindPowers(values, request_.mode);
      if (LeadsOut(*file, TopOf(candidate.path))) powers.push_back("a link to " + file->real_path);
      if (!powers.empty()) DOSSIER_RETURN_IF_ERROR(decide_({*file, std::move(powers)}));
      DropUserOnly(candidate.path, &values);
    }
    config_.files.push_back(candidate.path);
    Merge(std::move(values),
          request_.mode == CompatMode::kCompat ? MapRule::kWhole : MapRule::kByKey, &config_.raw);
    return true;
  }

  // Returns the repository, or else the folder, that a project file belongs to.
  std::string TopOf(const std::string& path) const {
    if (!request_.root.empty() && path.starts_with(request_.root + "/")) return request_.root;
    return std::filesystem::path(path).parent_path().string();
  }

  void DropUserOnly(const std::string& path, Value* values) {
    std::erase_if(values->entries, [&](const MapEntry& entry) {
      for (const std::string_view key : kUserOnly) {
        if (entry.key != key) continue;
        config_.warnings.push_back(fmt::format("{}:{}: '{}' is ignored here; it counts in {} only",
                                               path, entry.value.node.line, key,
                                               config_.user.config_file()));
        return true;
      }
      return false;
    });
  }

  Status AddNamed(const Search& search) {
    bool any = false;
    std::string places;
    for (const auto& group : FindNamedCandidates(search)) {
      for (const Candidate& candidate : group) {
        places += (places.empty() ? "" : ", ") + candidate.path;
        DOSSIER_ASSIGN_OR_RETURN(const bool found, AddFile(candidate));
        any = any || found;
        if (found) break;
      }
      if (any && search.mode == CompatMode::kDefault) break;
    }
    if (any || search.name.empty()) return {};
    return MakeError(ErrorCode::kConfig, "--config {}: there is no such file; looked for {}",
                     search.name, places);
  }

  // A project folder is used only if the user owns it and it is not a link to elsewhere.
  std::vector<std::string> OwnProjectFolders() {
    std::vector<std::string> own;
    for (const std::string& folder : config_.project_folders) {
      bool good = true;
      for (const char* name :
           {"/.dossier", "/.dossier/conversations", "/.cllm", "/.cllm/conversations"}) {
        const std::string path = (folder == "/" ? "" : folder) + name;
        const std::string legacy = config_.user.legacy_folder();  // "" without a home
        if (!legacy.empty() && IsBelow(path, legacy)) continue;
        const Status checked = CheckOwnPath(path, PathKind::kFolder);
        if (checked) continue;
        config_.warnings.push_back(checked.error().message + "; no conversation is kept there");
        good = false;
        break;
      }
      if (good) own.push_back(folder);
    }
    return own;
  }

  Located FindConversations(const Search& search) {
    const std::string flag_dir = Absolute(request_.config_dir);
    return ConversationFolder({.flag = Absolute(request_.conversations_path),
                               .dossier_variable = Variable("DOSSIER_CONVERSATIONS_PATH"),
                               .cllm_variable = Variable("CLLM_CONVERSATIONS_PATH"),
                               .config = config_.conversations_path,
                               .config_dir = flag_dir,
                               .dossier_config_dir = Variable("DOSSIER_CONFIG_DIR"),
                               .cllm_path = search.cllm_path,
                               .project_folders = OwnProjectFolders(),
                               .user = config_.user},
                              IsFolder);
  }

  const LoadRequest& request_;
  const FileReader& read_;
  const Decide& decide_;
  Config config_;
};

}  // namespace

Result<Config> LoadConfig(const LoadRequest& request, const FileReader& read,
                          const Decide& decide) {
  return Loader(request, read, decide).Load();
}

Result<Config> LoadUserFile(const std::string& path, const UserFolders& user,
                            const Variables& variables, const FileReader& read) {
  Config config;
  config.raw = MakeMap({});
  config.user = user;
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<ConfigFile> file, read(path));
  if (file) {
    DOSSIER_ASSIGN_OR_RETURN(config.raw, ParseConfigFile(*file));
    config.files.push_back(path);
  }
  config.expanded = config.raw;
  Expand(variables, &config.expanded);
  DOSSIER_RETURN_IF_ERROR(ReadKeys(std::filesystem::path(path).parent_path(), &config));
  return config;
}

namespace {

class Finder {
 public:
  explicit Finder(CompatMode mode) : mode_(mode) {}

  std::vector<std::string> Find(const Value& root) {
    for (const MapEntry& entry : root.entries) {
      CheckKey(entry.key, entry.value);
      FindVariables(entry.key, entry.value);
    }
    return std::move(powers_);
  }

 private:
  void Add(std::string what, int line) {
    powers_.push_back(fmt::format("{} (line {})", what, line));
  }

  void CheckKey(const std::string& name, const Value& value) {
    const bool group = !FindKey(name) && HoldsKeys(name);
    // These replace all that the user has set there, and perhaps a protection: `limits: null`.
    const bool replaces = value.is_null() || (group && value.entries.empty());
    if (replaces && HoldsPower(name)) return Add(name, value.node.line);
    if (value.is_null()) return;
    if (group) {
      for (const MapEntry& entry : value.entries) CheckKey(name + "." + entry.key, entry.value);
      return;
    }
    switch (PowerOf(name)) {
      case Power::kNone:
        return;
      case Power::kAlways:
        return Add(name, value.node.line);
      case Power::kModel:
        if (NamesAPlace(value.node.scalar)) Add(name, value.node.line);
        return;
      case Power::kParams:
        return CheckParams(name, value);
      case Power::kAgents:
        for (const MapEntry& entry : value.entries) {
          const bool power =
              entry.value.is_null() || IsAgentPower(entry.key, ToJsonValue(entry.value));
          if (power) Add(name + "." + entry.key, entry.value.node.line);
        }
        return;
    }
  }

  static bool HoldsKeys(const std::string& name) {
    return std::ranges::any_of(Keys(),
                               [&](const Key& key) { return key.name.starts_with(name + "."); });
  }

  // It, or a key below it, needs trust.
  static bool HoldsPower(const std::string& name) {
    return std::ranges::any_of(Keys(), [&](const Key& key) {
      return key.power != Power::kNone && (key.name == name || key.name.starts_with(name + "."));
    });
  }

  static Power PowerOf(const std::string& name) {
    const Key* key = FindKey(name);
    return key ? key->power : Power::kParams;
  }

  // A provider, an address or a program decides where data goes; a bare name is one of the user's
  // own providers.
  static bool NamesAPlace(std::string_view model) {
    return model.find_first_of("/:#@") != std::string_view::npos;
  }

  // An unknown key is sent to the provider under --compat, and is a slip otherwise.
  void CheckParams(const std::string& name, const Value& value) {
    if (name != "params") {
      const bool sent = mode_ == CompatMode::kCompat && !IsNumber(value);
      if (sent || IsAccessName(name)) Add(name, value.node.line);
      return;
    }
    for (const MapEntry& entry : value.entries) {
      if (!IsNumber(entry.value)) Add(name + "." + entry.key, entry.value.node.line);
    }
  }

  static bool IsNumber(const Value& value) { return ToJsonValue(value).is_number(); }

  void FindVariables(const std::string& name, const Value& value) {
    FindInNode(name, value.node);
    for (const MapEntry& entry : value.entries) FindVariables(name + "." + entry.key, entry.value);
  }

  void FindInNode(const std::string& name, const YamlNode& node) {
    if (HasVariable(node.scalar)) Add("${…} in " + name, node.line);
    for (const YamlNode& item : node.items) FindInNode(name, item);
    for (const YamlEntry& entry : node.entries) FindInNode(name, entry.value);
  }

  const CompatMode mode_;
  std::vector<std::string> powers_;
};

bool LeavesTheFolder(std::string_view path) {
  if (path.starts_with('/') || path.starts_with('~')) return true;
  const auto parts = Split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

}  // namespace

std::string NumberedLines(std::string_view text) {
  std::string out;
  std::size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (!TrimSpace(line).empty()) out += fmt::format("{:>5}  {}\n", number, line);
  }
  return out;
}

std::vector<std::string> FindPowers(const Value& values, CompatMode mode) {
  return Finder(mode).Find(values);
}

bool IsAgentPower(std::string_view key, const Json& value) {
  constexpr std::string_view kPowers[] = {"engines", "checks", "runs"};
  if (std::find(std::begin(kPowers), std::end(kPowers), key) != std::end(kPowers)) return true;
  if (const auto* text = value.if_string()) return LeavesTheFolder(*text);
  const auto* list = value.if_array();
  return list && std::any_of(list->begin(), list->end(),
                             [&](const Json& item) { return IsAgentPower("", item); });
}

}  // namespace dossier::config
