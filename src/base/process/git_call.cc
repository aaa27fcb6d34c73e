#include "base/process/git_call.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier {
namespace {

constexpr std::size_t kMaxOverruled = 2000;  // settings; each is two variables of an environment
constexpr std::size_t kMaxListed = 8 << 20;  // bytes of all settings

// Environment variables that git needs: to find itself, the user's settings and temporary files.
constexpr std::string_view kPassed[] = {"PATH",    "HOME",  "XDG_CONFIG_HOME", "TMPDIR", "USER",
                                        "LOGNAME", "EMAIL", "LD_LIBRARY_PATH", "TZ"};
constexpr std::string_view kPassedToTransports[] = {
    "http_proxy", "https_proxy", "HTTP_PROXY",    "HTTPS_PROXY",   "all_proxy",   "ALL_PROXY",
    "no_proxy",   "NO_PROXY",    "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"};
constexpr std::string_view kPassedToSigners[] = {"GNUPGHOME", "GPG_TTY", "GPG_AGENT_INFO",
                                                 "SSH_AUTH_SOCK"};

constexpr const char* kVariables[] = {
    "LC_ALL=C",      "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
    "GIT_ASKPASS=",  "SSH_ASKPASS=",         "GIT_EDITOR=false",      "GIT_SEQUENCE_EDITOR=false",
    "GIT_PAGER=cat", "GIT_NO_LAZY_FETCH=1",  "GIT_PROXY_COMMAND=",    "GIT_LFS_SKIP_SMUDGE=1"};

// Settings that start a program or a clean-up in the background, or redirect git.
const std::vector<GitSetting>& AlwaysSet() {
  static const std::vector<GitSetting> settings = {{"core.fsmonitor", "false"},
                                                   {"core.hooksPath", "/dev/null"},
                                                   {"core.pager", "cat"},
                                                   {"core.editor", "false"},
                                                   {"core.askPass", ""},
                                                   {"core.alternateRefsCommand", "true"},
                                                   {"credential.helper", ""},
                                                   {"protocol.ext.allow", "never"},
                                                   {"gc.auto", "0"},
                                                   {"maintenance.auto", "false"},
                                                   {"submodule.recurse", "false"},
                                                   {"fetch.recurseSubmodules", "false"},
                                                   {"log.showSignature", "false"},
                                                   {"diff.orderFile", "/dev/null"},
                                                   {"interactive.diffFilter", "cat"}};
  return settings;
}

const std::vector<GitSetting>& SetWithoutTransport() {
  static const std::vector<GitSetting> settings = {{"core.sshCommand", "false"},
                                                   {"protocol.allow", "never"}};
  return settings;
}

// The programs that git starts for signatures, with their defaults.
constexpr std::pair<std::string_view, std::string_view> kSigners[] = {
    {"gpg.program", "gpg"},
    {"gpg.openpgp.program", "gpg"},
    {"gpg.x509.program", "gpgsm"},
    {"gpg.ssh.program", "ssh-keygen"},
    {"gpg.ssh.defaultkeycommand", "false"}};

// Git's three-way merge, as the program of a merge driver.
constexpr std::string_view kOwnMerge = "git merge-file -q --marker-size=%L %A %O %B";
// Git's file comparison, as the program of an external diff.
constexpr std::string_view kOwnDiff =
    R"(sh -c 'git diff --no-index --no-ext-diff --no-textconv -- "$2" "$5"; exit 0' --)";

// Settings that name a program, and a value with which none runs. The part between the dots is
// somebody's name for it, where `named` says so.
struct PowerSetting {
  std::string_view section, variable;
  enum class Named : std::uint8_t { kNo, kYes, kBoth } named;
  std::string_view harmless;
};
constexpr PowerSetting kPowers[] = {
    {"filter", "process", PowerSetting::Named::kYes, ""},
    {"filter", "clean", PowerSetting::Named::kYes, ""},
    {"filter", "smudge", PowerSetting::Named::kYes, ""},
    {"filter", "required", PowerSetting::Named::kYes, "false"},
    {"merge", "driver", PowerSetting::Named::kYes, kOwnMerge},
    {"diff", "textconv", PowerSetting::Named::kYes, "cat"},
    {"diff", "command", PowerSetting::Named::kYes, kOwnDiff},
    {"diff", "external", PowerSetting::Named::kNo, kOwnDiff},
    {"core", "sshcommand", PowerSetting::Named::kNo, "ssh"},
    {"core", "askpass", PowerSetting::Named::kNo, ""},
    {"core", "editor", PowerSetting::Named::kNo, "false"},
    {"sequence", "editor", PowerSetting::Named::kNo, "false"},
    {"core", "pager", PowerSetting::Named::kNo, "cat"},
    {"pager", "", PowerSetting::Named::kNo, "false"},
    {"core", "alternaterefscommand", PowerSetting::Named::kNo, "true"},
    {"credential", "helper", PowerSetting::Named::kBoth, ""},
    {"remote", "uploadpack", PowerSetting::Named::kYes, "git-upload-pack"},
    {"remote", "receivepack", PowerSetting::Named::kYes, "git-receive-pack"},
    {"alias", "", PowerSetting::Named::kNo, "!false"},
    {"submodule", "update", PowerSetting::Named::kYes, "none"},
    {"trailer", "command", PowerSetting::Named::kYes, "true"},
    {"trailer", "cmd", PowerSetting::Named::kYes, "true"},
    {"interactive", "difffilter", PowerSetting::Named::kNo, "cat"},
    {"difftool", "cmd", PowerSetting::Named::kYes, "true"},
    {"mergetool", "cmd", PowerSetting::Named::kYes, "true"},
    {"browser", "cmd", PowerSetting::Named::kYes, "true"},
    {"man", "cmd", PowerSetting::Named::kYes, "true"},
    {"guitool", "cmd", PowerSetting::Named::kYes, "true"},
    {"hook", "command", PowerSetting::Named::kYes, "true"},
};

// Commands that read no file of the work tree and use no filters or drivers: they need no check of
// the settings first.
constexpr std::string_view kOnlyObjects[] = {
    "--version", "cat-file",     "commit-tree", "config",    "diff-tree",    "for-each-ref", "log",
    "ls-tree",   "pack-objects", "rev-list",    "rev-parse", "symbolic-ref", "update-ref"};

// Splits "filter.a.b.clean" into "filter", "a.b", "clean". Git prints sections and variables in
// lower case.
struct Key {
  std::string_view section, name, variable;
  bool named = false;
};

Key SplitKey(std::string_view key) {
  const std::size_t first = key.find('.'), last = key.rfind('.');
  if (first == std::string_view::npos) return {.section = key};
  if (first == last) return {.section = key.substr(0, first), .variable = key.substr(first + 1)};
  return {.section = key.substr(0, first),
          .name = key.substr(first + 1, last - first - 1),
          .variable = key.substr(last + 1),
          .named = true};
}

const PowerSetting* FindPower(const Key& key) {
  for (const PowerSetting& power : kPowers) {
    using Named = PowerSetting::Named;
    if (power.section != key.section) continue;
    if (power.named != Named::kBoth && (power.named == Named::kYes) != key.named) continue;
    if (power.variable.empty() || power.variable == key.variable) return &power;
  }
  return nullptr;
}

struct ListedSetting {
  std::string_view scope, key, value;

  // Set by the user or the system, so no repository can change it.
  bool is_users() const { return scope == "system" || scope == "global"; }
};

// "SCOPE", NUL, "KEY\nVALUE", NUL, and so on. A key alone is a switch that is on.
std::vector<ListedSetting> ParseSettings(std::string_view out) {
  std::vector<ListedSetting> settings;
  while (true) {
    const std::size_t scope = out.find('\0');
    const std::size_t end = out.find('\0', std::min(scope, out.size() - 1) + 1);
    if (out.empty() || scope == std::string_view::npos || end == std::string_view::npos) break;
    const std::string_view entry = out.substr(scope + 1, end - scope - 1);
    const std::size_t line = std::min(entry.find('\n'), entry.size());
    settings.push_back({.scope = out.substr(0, scope),
                        .key = entry.substr(0, line),
                        .value = entry.substr(std::min(line + 1, entry.size()))});
    out.remove_prefix(end + 1);
  }
  return settings;
}

// Overrides all filters and merge drivers: only git itself merges and stores content.
std::vector<GitSetting> WithoutDrivers(const std::vector<ListedSetting>& listed) {
  std::set<std::string> filters, drivers;
  for (const ListedSetting& setting : listed) {
    const Key key = SplitKey(setting.key);
    if (!key.named) continue;
    if (key.section == "filter") filters.emplace(key.name);
    if (key.section == "merge" && key.variable == "driver") drivers.emplace(key.name);
  }
  std::vector<GitSetting> overruled;
  for (const std::string& name : filters) {
    for (const auto& [variable, value] :
         {std::pair("process", ""), {"clean", ""}, {"smudge", ""}, {"required", "false"}}) {
      overruled.emplace_back(fmt::format("filter.{}.{}", name, variable), value);
    }
  }
  for (const std::string& name : drivers) {
    overruled.emplace_back(fmt::format("merge.{}.driver", name), kOwnMerge);
  }
  return overruled;
}

// Returns the last value of `key` set by the user or the system.
std::optional<std::string> UsersValue(const std::vector<ListedSetting>& listed,
                                      std::string_view key) {
  std::optional<std::string> value;
  for (const ListedSetting& setting : listed) {
    if (setting.is_users() && setting.key == key) value = std::string(setting.value);
  }
  return value;
}

std::vector<GitSetting> UsersSigners(const std::vector<ListedSetting>& listed) {
  std::vector<GitSetting> signers;
  for (const auto& [key, usual] : kSigners) {
    const auto value = UsersValue(listed, key);
    // A general program of the user also applies to its two special names.
    if (!value && key != "gpg.program" && key.starts_with("gpg.openpgp")) {
      if (const auto general = UsersValue(listed, "gpg.program")) {
        signers.emplace_back(key, *general);
        continue;
      }
    }
    signers.emplace_back(key, value.value_or(std::string(usual)));
  }
  return signers;
}

// Overrides programs named by the repository itself; the user's own stay.
std::vector<GitSetting> WithoutRepositorysPrograms(const std::vector<ListedSetting>& listed) {
  std::map<std::string, std::string> overruled;
  for (const ListedSetting& setting : listed) {
    if (setting.is_users()) continue;
    std::string_view harmless;
    if (const PowerSetting* power = FindPower(SplitKey(setting.key))) {
      harmless = power->harmless;
    } else {
      const auto* signer = std::find_if(std::begin(kSigners), std::end(kSigners),
                                        [&](const auto& one) { return one.first == setting.key; });
      if (signer == std::end(kSigners)) continue;
      harmless = signer->second;
    }
    overruled[std::string(setting.key)] =
        UsersValue(listed, setting.key).value_or(std::string(harmless));
  }
  return {overruled.begin(), overruled.end()};
}

void Pass(std::string_view name, std::vector<std::string>* environment) {
  if (const char* value = std::getenv(std::string(name).c_str())) {
    environment->push_back(fmt::format("{}={}", name, value));
  }
}

std::vector<std::string> BaseEnvironment(const GitCall& call) {
  std::vector<std::string> environment;
  for (const std::string_view name : kPassed) Pass(name, &environment);
  if (call.starts == GitCall::Starts::kTransport) {
    for (const std::string_view name : kPassedToTransports) Pass(name, &environment);
  } else {
    environment.insert(environment.end(), {"GIT_ALLOW_PROTOCOL=none", "GIT_SSH_COMMAND=false"});
  }
  if (call.starts == GitCall::Starts::kSigner) {
    for (const std::string_view name : kPassedToSigners) Pass(name, &environment);
  }
  environment.insert(environment.end(), std::begin(kVariables), std::end(kVariables));
  if (!call.index.empty()) environment.push_back("GIT_INDEX_FILE=" + call.index);
  if (!call.git_dir.empty()) environment.push_back("GIT_DIR=" + call.git_dir);
  if (!call.work_tree.empty()) environment.push_back("GIT_WORK_TREE=" + call.work_tree);
  environment.insert(environment.end(), call.environment.begin(), call.environment.end());
  return environment;
}

std::vector<GitSetting> FixedSettings(const GitCall& call) {
  std::vector<GitSetting> settings = AlwaysSet();
  if (call.starts != GitCall::Starts::kTransport) {
    settings.insert(settings.end(), SetWithoutTransport().begin(), SetWithoutTransport().end());
  }
  if (call.starts != GitCall::Starts::kSigner) {
    for (const auto& [key, usual] : kSigners) settings.emplace_back(key, "false");
  }
  return settings;
}

ProcessSpec SpecOf(const GitCall& call, const std::vector<GitSetting>& settings) {
  ProcessSpec spec{.argv = {call.program, "--no-pager"},
                   .folder = call.folder,
                   .environment = BaseEnvironment(call),
                   .input = call.input,
                   .max_output = call.max_output,
                   .timeout = call.timeout};
  spec.argv.insert(spec.argv.end(), call.arguments.begin(), call.arguments.end());
  const std::vector<std::string> variables = GitSettingVariables(settings);
  spec.environment->insert(spec.environment->end(), variables.begin(), variables.end());
  return spec;
}

// Returns the first word after git's own options: "-c core.fsync=… update-ref" updates a ref.
std::string_view CommandOf(const GitCall& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (call.arguments[i] == "-c" || call.arguments[i] == "-C") {
      ++i;
    } else if (call.arguments[i] == "--version" || !call.arguments[i].starts_with('-')) {
      return call.arguments[i];
    }
  }
  return "";
}

bool NeedsSettings(const GitCall& call) {
  if (call.starts == GitCall::Starts::kSigner) return true;
  return std::find(std::begin(kOnlyObjects), std::end(kOnlyObjects), CommandOf(call)) ==
         std::end(kOnlyObjects);
}

// Returns all settings that apply to `call`, as git itself reads them.
Result<ProcessResult> ListSettings(const GitCall& call, const CancelToken& cancel) {
  GitCall list = call;
  list.arguments = {"config", "--list", "-z", "--show-scope"};
  list.input.clear();
  list.max_output = kMaxListed;
  list.starts = GitCall::Starts::kNothing;
  // Without our own settings: they would be listed, too.
  DOSSIER_ASSIGN_OR_RETURN(ProcessResult listed, RunProcess(SpecOf(list, {}), cancel));
  if (listed.out_dropped > 0) {
    return MakeError(ErrorCode::kLimit, "git's settings are longer than {}",
                     FormatSize(kMaxListed));
  }
  return listed;
}

bool Failed(const ProcessResult& result) { return result.timed_out || result.exit_code != 0; }

// A repository's settings may name more files: settings, attributes, ignored names. Git blocks on
// those that are pipes or devices, so they are checked before it is called. Files that name none
// are not parsed; others are parsed by git, one at a time.
class SettingsCheck {
 public:
  SettingsCheck(const GitCall& call, const CancelToken& cancel) : call_(call), cancel_(cancel) {}

  Status Look(const std::string& path) {
    if (!Exists(path) || !seen_.insert(path).second) return {};
    if (seen_.size() > kMostFiles) {
      return MakeError(ErrorCode::kLimit, "{}: more than {} files of settings name each other",
                       path, kMostFiles);
    }
    DOSSIER_RETURN_IF_ERROR(CheckGitFile(path));
    if (IsFolder(path)) return {};
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMaxListed));
    const std::string lower = ToLowerAscii(text);
    const auto holds = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
    if (!holds("include") && std::none_of(std::begin(kFiles), std::end(kFiles), holds)) return {};
    return LookAtNamed(path);
  }

 private:
  static constexpr std::size_t kMostFiles = 64;
  // Settings that name a file which git reads.
  static constexpr std::string_view kFiles[] = {
      "attributesfile",     "excludesfile",   "mailmap", "ignorerevsfile",
      "allowedsignersfile", "revocationfile", "template"};

  Status LookAtNamed(const std::string& path) {
    // Runs outside any repository: inside one, git would read all of its settings.
    GitCall list{.program = call_.program,
                 .git_dir = "/dev/null",
                 .arguments = {"config", "--file", path, "--no-includes", "--list", "-z"},
                 .timeout = call_.timeout};
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult listed, RunProcess(SpecOf(list, {}), cancel_));
    Status good;
    ForEachAtNul(listed.out, [&](std::string_view entry) {
      const std::size_t line = std::min(entry.find('\n'), entry.size());
      const Key key = SplitKey(entry.substr(0, line));
      const std::string_view value = entry.substr(std::min(line + 1, entry.size()));
      if (good && !value.empty()) good = LookAt(key, value, path);
    });
    return good;
  }

  Status LookAt(const Key& key, std::string_view value, const std::string& from) {
    const bool includes =
        (key.section == "include" || key.section == "includeif") && key.variable == "path";
    const bool names_file =
        std::find(std::begin(kFiles), std::end(kFiles), key.variable) != std::end(kFiles) ||
        (key.section == "mailmap" && key.variable == "file");
    if (!includes && !names_file) return {};
    std::string path(value);
    if (value.starts_with("~/")) {
      const char* home = std::getenv("HOME");
      path = fmt::format("{}{}", home ? home : "", value.substr(1));
    } else if (value.starts_with('~') || value.starts_with("%(prefix)")) {
      return MakeError(ErrorCode::kRefused, "{}: {} is set to a path that is not followed", from,
                       key.variable);
    } else if (!value.starts_with('/')) {
      path = fmt::format("{}/{}", from.substr(0, from.rfind('/')), value);
    }
    return includes ? Look(path) : CheckGitFile(path);
  }

  const GitCall& call_;
  const CancelToken& cancel_;
  std::set<std::string> seen_;
};

// Checks that git can run `call` without blocking on something that is no file. Errors: kRefused,
// kLimit, with a sentence.
Status CheckRepository(const GitCall& call, const CancelToken& cancel) {
  auto folders = call.git_dir.empty() ? FindGitFolders(call.folder) : GitFoldersAt(call.git_dir);
  if (!folders) return {};
  if (!call.work_tree.empty()) folders->root = call.work_tree;
  DOSSIER_RETURN_IF_ERROR(CheckGitFiles(*folders));
  SettingsCheck settings(call, cancel);
  DOSSIER_RETURN_IF_ERROR(settings.Look(folders->common + "/config"));
  return settings.Look(folders->git + "/config.worktree");
}

// Returns the call with its walls; or, in `failed`, git's failure to read the settings.
Result<ProcessSpec> Plan(const GitCall& call, ProcessResult* failed, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckRepository(call, cancel));
  std::vector<GitSetting> settings = FixedSettings(call);
  if (NeedsSettings(call)) {
    DOSSIER_ASSIGN_OR_RETURN(ProcessResult result, ListSettings(call, cancel));
    if (Failed(result)) {
      *failed = std::move(result);
      return ProcessSpec{};
    }
    const std::vector<ListedSetting> listed = ParseSettings(result.out);
    for (GitSetting& setting : WithoutDrivers(listed)) settings.push_back(std::move(setting));
    if (call.starts == GitCall::Starts::kSigner) {
      for (GitSetting& setting : UsersSigners(listed)) settings.push_back(std::move(setting));
    }
  }
  if (settings.size() > kMaxOverruled) {
    return MakeError(ErrorCode::kLimit, "git's settings name more than {} filters and drivers",
                     kMaxOverruled / 4);
  }
  return SpecOf(call, settings);
}

Error Complaint(const ProcessResult& result) {
  if (result.timed_out) return {ErrorCode::kTimeout, "git took too long to read its settings"};
  return {ErrorCode::kFailed,
          fmt::format("git cannot read its settings: {}", TrimSpace(result.err))};
}

}  // namespace

std::vector<std::string> GitSettingVariables(const std::vector<GitSetting>& settings,
                                             std::size_t first) {
  std::vector<std::string> variables;
  if (settings.empty() && first == 0) return variables;
  variables.push_back(fmt::format("GIT_CONFIG_COUNT={}", first + settings.size()));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    variables.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", first + i, settings[i].first));
    variables.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", first + i, settings[i].second));
  }
  return variables;
}

Result<ProcessResult> CallGit(const GitCall& call, const CancelToken& cancel) {
  ProcessResult failed;
  DOSSIER_ASSIGN_OR_RETURN(const ProcessSpec spec, Plan(call, &failed, cancel));
  if (Failed(failed) && spec.argv.empty()) return failed;
  return RunProcess(spec, cancel);
}

Result<ProcessSpec> PlanGitCall(const GitCall& call, const CancelToken& cancel) {
  ProcessResult failed;
  DOSSIER_ASSIGN_OR_RETURN(ProcessSpec spec, Plan(call, &failed, cancel));
  if (spec.argv.empty()) return tl::unexpected(Complaint(failed));
  return spec;
}

Result<std::vector<std::string>> GitFilters(const GitCall& call, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(CheckRepository(call, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult listed, ListSettings(call, cancel));
  if (Failed(listed)) return tl::unexpected(Complaint(listed));
  std::set<std::string> names;
  for (const ListedSetting& setting : ParseSettings(listed.out)) {
    const Key key = SplitKey(setting.key);
    if (key.section == "filter" && key.named) names.emplace(key.name);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

std::vector<GitSetting> GitWallsFor(const std::string& folder, const CancelToken& cancel) {
  const auto git = FindGitFolders(folder);
  if (!git || !FindProgram("git")) return {};
  std::vector<GitSetting> settings = {{"core.fsmonitor", "false"},
                                      {"core.hooksPath", "/dev/null"},
                                      {"protocol.ext.allow", "never"}};
  // The settings are unknown, or too many for an environment: git must not work there at all.
  const std::vector<GitSetting> nothing_works = {{"core.repositoryFormatVersion", "99"}};
  if (!CheckRepository({.folder = git->root}, cancel)) return nothing_works;
  const auto listed = ListSettings({.folder = git->root}, cancel);
  if (listed && !Failed(*listed)) {
    for (GitSetting& setting : WithoutRepositorysPrograms(ParseSettings(listed->out))) {
      settings.push_back(std::move(setting));
    }
  }
  return settings.size() > kMaxOverruled ? nothing_works : settings;
}

void AddGitWalls(const std::vector<GitSetting>& walls, std::vector<std::string>* environment) {
  if (walls.empty()) return;
  // No setting overrides an earlier proxy.
  constexpr std::string_view kCount = "GIT_CONFIG_COUNT=", kProxy = "GIT_PROXY_COMMAND=";
  const bool has_proxy =
      std::any_of(environment->begin(), environment->end(),
                  [&](const std::string& variable) { return variable.starts_with(kProxy); });
  if (!has_proxy) environment->emplace_back(kProxy);
  std::size_t first = 0;
  std::erase_if(*environment, [&](const std::string& variable) {
    if (!variable.starts_with(kCount)) return false;
    const std::string_view number = std::string_view(variable).substr(kCount.size());
    std::from_chars(number.data(), number.data() + number.size(), first);
    return true;
  });
  for (std::string& variable : GitSettingVariables(walls, first)) {
    environment->push_back(std::move(variable));
  }
}

}  // namespace dossier
