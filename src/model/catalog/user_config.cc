#include "model/catalog/user_config.h"

#include "assembly/layout/yaml_fields.h"
#include "base/text/text.h"
#include "config/load.h"

namespace dossier::model {
namespace {

using assembly::FieldPlace;
using assembly::YamlField;
using config::ConfigSection;

// A section while it is read into the UserConfig: relative paths start at its file's folder.
struct Draft {
  const ConfigSection& section;
  UserConfig config;

  std::string Resolved(const std::string& path) const {
    return config::ResolvePath(path, section.folder, "");
  }
};

Status ReadTextsAt(const FieldPlace& at, std::vector<std::string>* out) {
  if (at.value.kind == YamlNode::Kind::kList) return assembly::ReadStrings(at, out);
  return assembly::ReadString(at, &out->emplace_back());
}

Status ReadDataFiles(const FieldPlace& at, Draft* draft) {
  DOSSIER_RETURN_IF_ERROR(ReadTextsAt(at, &draft->config.data_files));
  for (std::string& path : draft->config.data_files) path = draft->Resolved(path);
  return {};
}

Status ReadAliases(const FieldPlace& at, Draft* draft) {
  if (at.value.kind != YamlNode::Kind::kMap) {
    return at.Fail("aliases is a map: NAME: PROVIDER/NAME");
  }
  for (const YamlEntry& entry : at.value.entries) {
    DOSSIER_RETURN_IF_ERROR(
        assembly::ReadString({at.file, entry.key, entry.value}, &draft->config.aliases[entry.key]));
  }
  return {};
}

// A text is split at blanks: there is no shell, so quotes have no meaning.
Status ReadCommand(const FieldPlace& at, KeyAccess* access) {
  std::vector<std::string> words;
  DOSSIER_RETURN_IF_ERROR(ReadTextsAt(at, &words));
  if (at.value.kind != YamlNode::Kind::kList) {
    const std::string text = std::move(words[0]);
    words.clear();
    for (const std::string_view word : Split(text, ' ')) {
      if (!TrimSpace(word).empty()) words.emplace_back(TrimSpace(word));
    }
  }
  if (words.empty()) return at.Fail("key_cmd is a program and its arguments");
  access->command = std::move(words);
  return {};
}

constexpr YamlField<KeyAccess> kAccessFields[] = {
    {"key_cmd", ReadCommand},
    {"key_file", assembly::Into<assembly::ReadString, &KeyAccess::file>},
};

Status ReadProviders(const FieldPlace& at, Draft* draft) {
  if (at.value.kind != YamlNode::Kind::kMap) return at.Fail("providers is a map of names");
  for (const YamlEntry& entry : at.value.entries) {
    KeyAccess& access = draft->config.providers[entry.key];
    DOSSIER_RETURN_IF_ERROR(
        assembly::ReadFields<KeyAccess>(entry.value, at.file, kAccessFields, &access));
    access.file = draft->Resolved(access.file);
  }
  return {};
}

constexpr YamlField<Draft> kModelsFields[] = {
    {"data", ReadDataFiles}, {"aliases", ReadAliases}, {"providers", ReadProviders}};

constexpr YamlField<Draft> kLocalFields[] = {
    {"server",
     [](const FieldPlace& at, Draft* draft) -> Status {
       DOSSIER_RETURN_IF_ERROR(assembly::ReadString(at, &draft->config.local_server));
       draft->config.local_server = draft->Resolved(draft->config.local_server);
       return {};
     }},
    {"idle",
     [](const FieldPlace& at, Draft* draft) -> Status {
       const auto time = ParseDuration(at.value.scalar);
       if (!time) return at.Fail(time.error().message);
       draft->config.local_idle = *time;
       return {};
     }},
    {"context",
     assembly::Into<assembly::ReadWholeFrom<1>, &Draft::config, &UserConfig::local_context>},
};

Status ReadSection(const std::optional<ConfigSection>& section,
                   std::span<const YamlField<Draft>> fields, UserConfig* config) {
  if (!section) return {};
  Draft draft{*section, std::move(*config)};
  DOSSIER_RETURN_IF_ERROR(
      assembly::ReadFields<Draft>(section->node, section->file, fields, &draft));
  *config = std::move(draft.config);
  return {};
}

}  // namespace

Result<UserConfig> UserConfigOf(const config::Config& config) {
  UserConfig out{.path = config.user.config_file(), .model = config.model.value_or("")};
  out.access = {.command = config.access.key_cmd, .file = config.access.key_file};
  DOSSIER_RETURN_IF_ERROR(ReadSection(config.models, kModelsFields, &out));
  DOSSIER_RETURN_IF_ERROR(ReadSection(config.local, kLocalFields, &out));
  return out;
}

Result<UserConfig> ReadUserConfig(const std::string& path) {
  const config::Variables variables = config::ProcessVariables();
  // The folders are only used in messages, so a missing home is no error here.
  const auto user = config::UserFoldersOf(variables);
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config,
                           config::LoadUserFile(path, user.value_or(config::UserFolders()),
                                                variables, config::ReadConfigFile));
  DOSSIER_ASSIGN_OR_RETURN(UserConfig out, UserConfigOf(config));
  out.path = path;
  return out;
}

Result<UserConfig> LoadUserConfig() {
  const auto user = config::UserFoldersOf(config::ProcessVariables());
  return user ? ReadUserConfig(user->config_file()) : UserConfig();  // no home, no config
}

}  // namespace dossier::model
