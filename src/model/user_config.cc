#include "model/user_config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "model/catalog_fields.h"
#include "model/yaml_json.h"

namespace dossier::model {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;  // CON-13

// Power over keys and programs: nobody else may write the file (CON-13).
Status CheckOwner(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    return MakeError(ErrorCode::kRefused, "{} belongs to another user", path);
  }
  if ((info.st_mode & 0022) != 0) {
    return MakeError(ErrorCode::kRefused, "{} may be written by others; run: chmod go-w {}", path,
                     path);
  }
  return {};
}

class ConfigReader {
 public:
  explicit ConfigReader(const std::string& path) { config_.path = path; }

  UserConfig Read(const YAML::Node& root) {
    if (root.IsNull()) return std::move(config_);
    if (!root.IsMap()) FailAt(root, "must contain a dictionary");
    ReadText(root["model"], config_.model);
    ReadAccess(root, config_.access);
    if (const YAML::Node models = root["models"]) ReadModels(models);
    if (const YAML::Node local = root["local"]) ReadLocal(local);
    return std::move(config_);
  }

 private:
  // Paths resolve from their file.
  std::string Resolved(const std::string& path) const {
    if (path.empty()) return path;
    return (std::filesystem::path(config_.path).parent_path() / path).lexically_normal();
  }

  // A text is parted at blanks: no shell takes part, so no quotes either.
  void ReadAccess(const YAML::Node& node, KeyAccess& access) const {
    if (const YAML::Node command = node["key_cmd"]) {
      ReadTexts(command, access.command);
      if (command.IsScalar()) {
        access.command.clear();
        for (const std::string_view word : Split(command.Scalar(), ' ')) {
          if (!TrimSpace(word).empty()) access.command.emplace_back(TrimSpace(word));
        }
      }
      if (access.command.empty()) FailAt(command, "key_cmd is a program and its arguments");
    }
    ReadText(node["key_file"], access.file);
    access.file = Resolved(access.file);
  }

  void ReadModels(const YAML::Node& node) {
    CheckKeys(node, {"data", "aliases", "providers"});
    ReadTexts(node["data"], config_.data_files);
    for (std::string& path : config_.data_files) path = Resolved(path);
    if (const YAML::Node aliases = node["aliases"]) {
      if (!aliases.IsMap()) FailAt(aliases, "aliases is a map: NAME: PROVIDER/NAME");
      for (const auto& item : aliases) ReadText(item.second, config_.aliases[item.first.Scalar()]);
    }
    if (const YAML::Node providers = node["providers"]) {
      if (!providers.IsMap()) FailAt(providers, "providers is a map of names");
      for (const auto& item : providers) {
        CheckKeys(item.second, {"key_cmd", "key_file"});
        ReadAccess(item.second, config_.providers[item.first.Scalar()]);
      }
    }
  }

  void ReadLocal(const YAML::Node& node) {
    CheckKeys(node, {"server", "idle", "context"});
    ReadText(node["server"], config_.local_server);
    config_.local_server = Resolved(config_.local_server);
    ReadCount(node["context"], config_.local_context);
    if (const YAML::Node idle = node["idle"]) {
      const auto time = ParseDuration(idle.Scalar());
      if (!time) FailAt(idle, time.error().message);
      config_.local_idle = *time;
    }
  }

  UserConfig config_;
};

}  // namespace

Result<UserConfig> ReadUserConfig(const std::string& path) {
  DOSSIER_RETURN_IF_ERROR(CheckOwner(path));
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  DOSSIER_ASSIGN_OR_RETURN(const YAML::Node root, ParseYaml(text, path));
  try {
    return ConfigReader(path).Read(root);
  } catch (const YAML::Exception& error) {
    return YamlError(path, error.mark, error.msg);
  }
}

Result<UserConfig> LoadUserConfig() {
  const auto folder = ConfigFolder();
  if (!folder) return UserConfig();  // no home, no config
  const std::string path = *folder + "/dossier.yml";
  if (!Exists(path)) return UserConfig{.path = path};
  return ReadUserConfig(path);
}

}  // namespace dossier::model
