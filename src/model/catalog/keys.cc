#include "model/catalog/keys.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "model/local/local_runtime.h"

namespace dossier::model {
namespace {

constexpr Millis kCommandLimit{10'000};
constexpr std::uint64_t kMostBytes = 64 << 10;

// Keys are header values: a line break would start a second header.
Result<FoundKey> Checked(FoundKey key) {
  for (const char c : key.value) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      return MakeError(ErrorCode::kAuth,
                       "the key from {} holds a blank, a line break or a character that is not "
                       "ASCII",
                       key.source);
    }
  }
  return key;
}

// The program's output is never put into an error, because it may contain the key.
Result<FoundKey> RunKeyCommand(const std::vector<std::string>& argv) {
  const std::string source = "key_cmd " + argv[0];
  const auto ran = RunProcess({.argv = argv,
                               .environment = EnvironmentWithoutSecrets(),
                               .max_output = kMostBytes,
                               .timeout = kCommandLimit});
  if (!ran) return MakeError(ErrorCode::kAuth, "{}: {}", source, ran.error().message);
  if (ran->timed_out) return MakeError(ErrorCode::kAuth, "{}: no key within 10 s", source);
  if (ran->exit_code != 0) {
    return MakeError(ErrorCode::kAuth, "{} ended with status {} and gave no key", source,
                     ran->exit_code);
  }
  FoundKey key{std::string(FirstLine(ran->out)), source};
  if (key.value.empty()) return MakeError(ErrorCode::kAuth, "{} gave no key", source);
  return Checked(std::move(key));
}

// Asked only if a desktop session can answer; never an error, because most users have none.
std::optional<FoundKey> AskSecretService(std::string_view provider,
                                         const Environment& environment) {
  if (!Variable(environment, "DBUS_SESSION_BUS_ADDRESS")) return std::nullopt;
  const auto program = FindProgram("secret-tool");
  if (!program) return std::nullopt;
  const auto ran = RunProcess(
      {.argv = {*program, "lookup", "service", "dossier", "provider", std::string(provider)},
       .environment = EnvironmentWithoutSecrets(),
       .max_output = kMostBytes,
       .timeout = kCommandLimit});
  if (!ran || ran->exit_code != 0 || FirstLine(ran->out).empty()) return std::nullopt;
  return FoundKey{std::string(FirstLine(ran->out)), "secret-tool"};
}

Result<FoundKey> ReadKeyFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return MakeError(ErrorCode::kAuth, "the key file {} cannot be read", path);
  }
  if ((info.st_mode & 0077) != 0) {
    return MakeError(ErrorCode::kAuth,
                     "the key file {} may be read by others (mode {:o}); run: chmod 600 {}", path,
                     info.st_mode & 0777, path);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMostBytes));
  return Checked({std::string(TrimSpace(text)), path});
}

// As KeyFile, but empty if there is no home.
std::string UsualFile(const Environment& environment, std::string_view provider) {
  return KeyFile(environment, provider).value_or("");
}

}  // namespace

std::optional<std::string> Variable(const Environment& environment, std::string_view name) {
  std::optional<std::string> value = environment(name);
  if (!value) return std::nullopt;
  const std::string trimmed(TrimSpace(*value));
  return trimmed.empty() ? std::nullopt : std::optional<std::string>(trimmed);
}

Result<FoundKey> FindKey(const Provider& provider, std::string_view key_env,
                         const Environment& environment, const UserConfig& config) {
  if (!key_env.empty()) {
    const auto key = Variable(environment, key_env);
    if (!key) return MakeError(ErrorCode::kAuth, "--key-env names {}, which is not set", key_env);
    return Checked({*key, std::string(key_env)});
  }
  for (const std::string& name : provider.key_variables) {
    if (const auto key = Variable(environment, name)) return Checked({*key, name});
  }
  // Only if a key is useful: no program runs and no file is read for a user's own server.
  if (provider.key_variables.empty()) return FoundKey();
  const auto own = config.providers.find(provider.name);
  const KeyAccess& access = own == config.providers.end() ? config.access : own->second;
  if (!access.command.empty()) return RunKeyCommand(access.command);
  if (auto key = AskSecretService(provider.name, environment)) return Checked(std::move(*key));
  if (!access.file.empty()) return ReadKeyFile(access.file);
  const std::string path = UsualFile(environment, provider.name);
  return path.empty() || !Exists(path) ? FoundKey() : ReadKeyFile(path);
}

std::optional<std::string> KeyPlace(const Provider& provider, KeyPlaces places,
                                    const Environment& environment, const UserConfig& config) {
  if (places == KeyPlaces::kVariables) {
    for (const std::string& name : provider.key_variables) {
      if (Variable(environment, name)) return name + " is set";
    }
    return std::nullopt;
  }
  if (provider.key_variables.empty()) return std::nullopt;
  if (const auto own = config.providers.find(provider.name); own != config.providers.end()) {
    if (!own->second.command.empty()) {
      return fmt::format("key_cmd of {} in {}", provider.name, config.path);
    }
    if (!own->second.file.empty()) return fmt::format("the key file {}", own->second.file);
  }
  const std::string path = UsualFile(environment, provider.name);
  if (path.empty() || !Exists(path)) return std::nullopt;
  return fmt::format("the key file {} is there", path);
}

Result<std::string> KeyFile(const Environment& environment, std::string_view provider) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string folder,
                           UserFolder(UserFolderKind::kConfig, environment));
  return fmt::format("{}/keys/{}", folder, provider);
}

Status WriteKeyFile(const Environment& environment, std::string_view provider, std::string key) {
  if (key.empty()) return MakeError(ErrorCode::kAuth, "no key was given");
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, KeyFile(environment, provider));
  DOSSIER_ASSIGN_OR_RETURN(const FoundKey checked, Checked({std::move(key), "stdin"}));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/')), 0700));
  return WriteFileAtomic(path, checked.value + "\n", 0600);
}

Result<bool> RemoveKeyFile(const Environment& environment, std::string_view provider) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, KeyFile(environment, provider));
  if (unlink(path.c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return MakeErrnoError(errno, path);
}

std::string LookedAt(const Provider& provider, const Environment& environment) {
  const std::string file = UsualFile(environment, provider.name);
  return Join(provider.key_variables, ", ") + " is not set" +
         (file.empty() ? "" : " and there is no file " + file);
}

}  // namespace dossier::model
