#include "sandbox/commands/policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/files/secret_files.h"
#include "base/process/git_call.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sandbox {
namespace {

// Sub-commands of git whose output may come from a program that the repository's files name.
constexpr std::string_view kGitDiffs[] = {"log", "diff", "show"};

std::string_view BaseName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string StartOf(const CommandJail& jail) {
  return jail.folder.empty() ? jail.root : jail.folder;
}

std::string FindCommand(const std::string& name, const CommandJail& jail) {
  if (name.front() == '/') return FindProgram(name).value_or("");
  if (name.find('/') != name.npos) return FindProgram(StartOf(jail) + "/" + name).value_or("");
  for (const std::string_view folder : Split(kCommandPath, ':')) {
    if (auto found = FindProgram(fmt::format("{}/{}", folder, name))) return *found;
  }
  return {};
}

constexpr std::string_view kMask = "/dev/null";
constexpr std::size_t kMostSettings = 1 << 20;  // bytes of a file of git's settings

// The real paths of the secret files that the user lets the model see.
std::vector<std::string> NamedSecrets(const Policy& policy, const CommandJail& jail) {
  std::vector<std::string> named;
  for (const std::string& path : policy.secret_files) {
    std::string real = Canonical(path.starts_with('/') ? path : jail.root + "/" + path);
    if (!real.empty()) named.push_back(std::move(real));  // "" is what is not there
  }
  return named;
}

// Mounts over each one a device that no mount of the jail lets anybody open.
Status HideSecrets(const Policy& policy, const CommandJail& jail, JailSpec* spec) {
  const std::vector<std::string> named = NamedSecrets(policy, jail);
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> secrets, FindSecretFiles(jail.root));
  for (const std::string& path : secrets) {
    if (IsOneOf(Canonical(path), named)) continue;
    spec->mounts.push_back({std::string(kMask), path, JailMount::Access::kRead});
  }
  if (!spec->mounts.empty()) spec->required_layers.emplace_back("namespaces");
  return {};
}

// Makes a file that the jail of `spec` shows, also where it becomes another user's.
Result<std::string> MakeShown(const std::string& name, std::string_view text, JailSpec* spec) {
  if (!spec->made) {
    DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-git"));
    if (chmod(folder.path().c_str(), 0711) != 0) return MakeErrnoError(errno, folder.path());
    spec->made = std::make_shared<const TempFolder>(std::move(folder));
  }
  std::string path = fmt::format("{}/{}", spec->made->path(), name);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, text));
  return path;
}

// Shows the settings of git without passwords and tokens.
Status HideLogins(const GitFolders& git, JailSpec* spec) {
  for (const std::string& folder : {git.common, git.git}) {
    for (const char* name : {"config", "config.worktree"}) {
      const std::string file = fmt::format("{}/{}", folder, name);
      const std::string text = ReadRegularFile(file, kMostSettings).value_or("");
      const std::string shown = Redact(text);
      if (shown == text) continue;
      const std::string made = fmt::format("{}-{}", name, spec->mounts.size());
      DOSSIER_ASSIGN_OR_RETURN(const std::string path, MakeShown(made, shown, spec));
      spec->mounts.push_back({path, file, JailMount::Access::kRead});
      spec->required_layers.emplace_back("namespaces");
    }
    if (git.git == git.common) break;
  }
  return {};
}

// Returns the word by which git would show a secret file's content, which no attribute prevents:
// "HEAD:.env", or the id of a content, which has no name. "": none.
Result<std::string> SecretWord(const Policy& policy, const Argv& argv, const CommandJail& jail) {
  const std::vector<std::string> named = NamedSecrets(policy, jail);
  std::string objects;  // one a line
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    const std::size_t colon = word.rfind(':');
    const std::string path = colon == word.npos ? "" : word.substr(colon + 1);
    const std::string file = fmt::format("{}/{}", StartOf(jail), path);
    if (!path.empty() && IsOneOf(Canonical(file), named)) continue;
    if (!path.empty() && (HasSecretName(path) || IsSecretFile(file))) return word;
    if (word.starts_with('-') || word.find('\n') != word.npos) continue;
    objects += ReplaceAll(word.substr(word.starts_with('^') ? 1 : 0), "..", "\n") + "\n";
  }
  if (objects.empty() || !FindGitFolders(jail.root)) return "";
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult types,
                           CallGit({.folder = StartOf(jail),
                                    .arguments = {"cat-file", "--batch-check=%(objecttype)"},
                                    .input = objects}));
  const std::vector<std::string_view> words = Split(objects, '\n');
  const std::vector<std::string_view> kinds = Split(types.out, '\n');
  for (std::size_t i = 0; i < std::min(words.size(), kinds.size()); ++i) {
    if (kinds[i] == "blob" && words[i].find(':') == words[i].npos) return std::string(words[i]);
  }
  return "";
}

Result<std::vector<UsageRule>> ParseAll(std::string_view list,
                                        const std::vector<std::string>& lines,
                                        std::vector<std::string>* warnings) {
  std::vector<UsageRule> rules;
  for (const std::string& line : lines) {
    Result<UsageRule> rule = UsageRule::Parse(line);
    if (!rule) return MakeError(ErrorCode::kConfig, "{}: {}", list, rule.error().message);
    if (rule->open_ended() && warnings != nullptr) {
      warnings->push_back(fmt::format("{}: rule `{}`: this rule is not a boundary", list, line));
    }
    rules.push_back(std::move(*rule));
  }
  return rules;
}

Decision Refuse(std::string rule, std::string sentence) {
  return {.rule = std::move(rule), .sentence = std::move(sentence)};
}

// git reads the repository's own configuration, which may name programs.
void HardenGit(Argv* argv) {
  const auto is_diff = [](const std::string& word) {
    return std::find(std::begin(kGitDiffs), std::end(kGitDiffs), word) != std::end(kGitDiffs);
  };
  if (argv->size() > 1 && is_diff((*argv)[1])) {
    argv->insert(argv->begin() + 2, {"--no-ext-diff", "--no-textconv"});
  }
  argv->insert(argv->begin() + 1, {"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"});
}

// Lists what is allowed for this program, after a refusal.
std::string Alternatives(const std::vector<const UsageRule*>& rules, const std::string& program) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> texts;
  for (const UsageRule* rule : rules) {
    const std::string& text = rule->text();
    if (text.substr(0, text.find(' ')) == program && texts.size() < kShown) {
      texts.push_back("`" + text + "`");
    }
  }
  if (texts.empty()) return fmt::format("no rule allows {}", program);
  return fmt::format("it does not fit {}", Join(texts, " or "));
}

// Returns a path that is the only reason why `rules` refuse the command; empty: none.
std::string PathOutside(const std::vector<UsageRule>& rules, const Argv& argv,
                        const PathCheck& inside) {
  for (const UsageRule& rule : rules) {
    std::string outside;
    const PathCheck anywhere = [&](const std::string& path) {
      if (outside.empty() && !inside(path)) outside = path;
      return true;
    };
    if (rule.Admits(argv, anywhere)) return outside;
  }
  return {};
}

constexpr std::size_t kMaxQuoted = 200;  // bytes of a command in a sentence

std::string Quoted(const Argv& argv) {
  const std::string text = Join(argv, " ");
  if (text.size() <= kMaxQuoted) return fmt::format("`{}`", text);
  return fmt::format("`{}…`", text.substr(0, utf8::FloorBoundary(text, kMaxQuoted)));
}

// Hands an allowed command to git with its safe options, if it asks for no secret.
Decision Allow(std::string rule, const Policy& policy, const Argv& argv, const CommandJail& jail,
               const std::string& program) {
  Decision decision{.allowed = true, .argv = argv, .rule = std::move(rule)};
  decision.argv[0] = program;
  if (BaseName(Canonical(program)) != "git") return decision;
  const auto secret = SecretWord(policy, argv, jail);
  if (!secret) return Refuse("", secret.error().message);
  if (secret->empty()) {
    HardenGit(&decision.argv);
    return decision;
  }
  return Refuse("", Quoted({*secret}) + " would show a file with secrets, or one without its name: "
                                        "name it as REV:PATH");
}

}  // namespace

Result<Policy> MakePolicy(const PolicyText& text) {
  Policy policy{.write = text.write, .network = text.network, .secret_files = text.secret_files};
  DOSSIER_ASSIGN_OR_RETURN(policy.deny, ParseAll("deny", text.deny, nullptr));
  if (text.available_commands) {
    DOSSIER_ASSIGN_OR_RETURN(policy.available_commands,
                             ParseAll("available_commands", *text.available_commands, nullptr));
  }
  if (text.allow) {
    DOSSIER_ASSIGN_OR_RETURN(policy.allow, ParseAll("allow", *text.allow, &policy.warnings));
  }
  if (policy.available_commands || policy.allow) return policy;
  const auto built_in = BuiltInRules();
  DOSSIER_ASSIGN_OR_RETURN(
      policy.built_in,
      ParseAll("built-in", std::vector<std::string>(built_in.begin(), built_in.end()), nullptr));
  return policy;
}

Decision Judge(const Policy& policy, const Argv& argv, const CommandJail& jail) {
  if (argv.empty() || argv[0].empty()) return Refuse("", "the command is empty");
  for (const std::string& word : argv) {
    if (word.find('\0') != std::string::npos)
      return Refuse("", "a word of the command holds a NUL");
  }
  const std::string program = FindCommand(argv[0], jail);
  const std::string real = program.empty() ? std::string() : Canonical(program);
  for (const UsageRule& rule : policy.deny) {
    for (const std::string_view name :
         {std::string_view(argv[0]), BaseName(argv[0]), BaseName(real)}) {
      if (!name.empty() && rule.Names(argv, name)) {
        return Refuse("deny: " + rule.text(),
                      fmt::format("{} is denied by the rule `{}`", Quoted(argv), rule.text()));
      }
    }
  }
  if (program.empty()) {
    return Refuse("", fmt::format("there is no program {} on {}", argv[0], kCommandPath));
  }
  std::vector<const UsageRule*> tried;
  const PathCheck inside = [&](const std::string& path) { return LiesInside(jail, path); };
  if (policy.available_commands) {
    for (const UsageRule& rule : *policy.available_commands) {
      if (rule.Begins(argv)) {
        return Allow("available_commands: " + rule.text(), policy, argv, jail, program);
      }
      tried.push_back(&rule);
    }
  }
  const bool defined = policy.available_commands || policy.allow;
  const std::vector<UsageRule>& rules =
      policy.allow ? *policy.allow : policy.built_in;  // built_in is empty if either is defined
  for (const UsageRule& rule : rules) {
    if (rule.Admits(argv, inside)) {
      return Allow((defined ? "allow: " : "built-in: ") + rule.text(), policy, argv, jail, program);
    }
    tried.push_back(&rule);
  }
  const std::string outside = PathOutside(rules, argv, inside);
  return Refuse("", fmt::format("{} is not allowed: {}", Quoted(argv),
                                outside.empty() ? Alternatives(tried, argv[0])
                                                : Quoted({outside}) +
                                                      " lies outside the project, or leads there"));
}

bool LiesInside(const CommandJail& jail, const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return false;
  const std::string root = Canonical(jail.root);
  if (root.empty()) return false;
  std::string whole = path.front() == '/' ? path : StartOf(jail) + "/" + path;
  // The existing part decides; the rest must not lead back up.
  std::string real = Canonical(whole);
  while (real.empty()) {
    struct stat info;
    // A dangling symbolic link: whoever creates the target decides where it leads.
    if (lstat(whole.c_str(), &info) == 0) return false;
    const std::size_t slash = whole.rfind('/');
    if (slash == std::string::npos || BaseName(whole) == "..") return false;
    whole.resize(slash);
    real = Canonical(whole.empty() ? "/" : whole);
  }
  return IsBelow(real, root);
}

Result<JailSpec> JailForCommand(const Policy& policy, const CommandJail& jail,
                                const std::vector<std::string>& environment) {
  JailSpec spec;
  spec.folder = StartOf(jail);
  (policy.write == CommandWrites::kJail ? spec.write : spec.read).push_back(jail.root);
  DOSSIER_RETURN_IF_ERROR(HideSecrets(policy, jail, &spec));
  std::vector<GitSetting> settings = GitWallsFor(jail.root);
  const auto git = FindGitFolders(jail.root);
  if (git && git->root == Canonical(jail.root)) {
    if (git->common != git->root + "/.git") spec.read.push_back(git->common);
    DOSSIER_RETURN_IF_ERROR(HideLogins(*git, &spec));
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string rules,
        MakeShown("attributes", SecretAttributes("-diff", "!diff"), &spec));
    spec.mounts.push_back({rules, rules, JailMount::Access::kRead});
    settings.emplace_back("core.attributesFile", rules);
  }
  spec.network = policy.network;
  spec.environment = {fmt::format("PATH={}", kCommandPath), "HOME=/nonexistent"};
  for (const std::string& entry : environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (name == "LANG" || name == "TZ" || name == "USER" || name.starts_with("LC_")) {
      spec.environment.push_back(entry);
    }
  }
  AddGitWalls(settings, &spec.environment);
  return spec;
}

void PassOverHidden(const JailSpec& spec, const CommandJail& jail, Argv* argv) {
  const bool is_diff = argv->size() > 1 && BaseName(Canonical(argv->front())) == "git" &&
                       std::find(argv->begin() + 1, argv->end(), "diff") != argv->end();
  // Git takes no path beside REV:PATH; secret names are refused there.
  const auto is_content = [](const std::string& word) { return word.find(':') != word.npos; };
  if (!is_diff || std::any_of(argv->begin() + 1, argv->end(), is_content)) return;
  const std::string root = Canonical(jail.root);
  for (const JailMount& mount : spec.mounts) {
    const std::string path = Canonical(mount.inside);
    if (mount.host != kMask || !IsBelow(path, root)) continue;
    argv->push_back(":(exclude,top,literal)" + path.substr(root.size() + 1));
  }
}

// The built-in table: commands that only read, with options that keep it so. No option here runs a
// program, writes a file, waits forever or reads a list of names from a file.

namespace {

// Each rule takes several lines of source.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr std::string_view kBuiltIn[] = {
    "git status [-s|--short] [-b|--branch] [--porcelain] [--porcelain=<word>] [-z] [--long]"
    " [-u|--untracked-files] [--untracked-files=<word>] [--ignored] [--show-stash] [-v|--verbose]"
    " [<path>...]",
    "git log [--oneline] [-n|--max-count <int>] [-<int>] [--skip <int>] [--since|--after=<word>]"
    " [--until|--before=<word>] [--author=<word>] [--committer=<word>] [--grep=<word>] [-i]"
    " [--all] [--branches] [--tags] [--remotes] [--graph] [--decorate] [--no-decorate]"
    " [--decorate=<word>] [--stat] [--shortstat] [--numstat] [--name-only] [--name-status]"
    " [-p|-u|--patch] [-s|--no-patch] [--follow] [--merges] [--no-merges] [--first-parent]"
    " [--reverse] [--topo-order] [--date-order] [--date=<word>] [--format|--pretty=<word>]"
    " [--abbrev-commit] [--abbrev=<int>] [--full-history] [--diff-filter=<word>] [-S <word>]"
    " [-G <word>] [-L <word>] [-M] [-C] [-w] [--word-diff] [--color=<word>] [--no-color]"
    " [<word>...]",
    "git diff [--cached|--staged] [--stat] [--shortstat] [--numstat] [--summary] [--name-only]"
    " [--name-status] [-p|-u|--patch] [-s|--no-patch] [-U|--unified <int>] [-M] [-C] [-w] [-b]"
    " [--word-diff] [--diff-filter=<word>] [--merge-base] [--check] [--exit-code] [--quiet]"
    " [--function-context] [-W] [--color=<word>] [--no-color] [--minimal] [--patience]"
    " [--histogram] [<word>...]",
    "git show [--oneline] [--stat] [--shortstat] [--numstat] [--name-only] [--name-status]"
    " [-p|-u|--patch] [-s|--no-patch] [-U|--unified <int>] [-M] [-C] [-w] [--word-diff]"
    " [--date=<word>] [--format|--pretty=<word>] [--abbrev-commit] [--color=<word>] [--no-color]"
    " [<word>...]",
    "git branch [-a|--all] [-r|--remotes] [-v|--verbose] [-l|--list] [--show-current]"
    " [--no-color] [--color=<word>]",
    "git branch --list [-a|--all] [-r|--remotes] [-v|--verbose] [--sort=<word>]"
    " [--format=<word>] [<word>...]",
    "ls [-a|--all] [-A|--almost-all] [-l] [-h|--human-readable] [-R|--recursive] [-t] [-S] [-r]"
    " [-1] [-d|--directory] [-i|--inode] [-F|--classify] [-s|--size] [-n] [-g] [-o] [-p] [-X] [-U]"
    " [-L] [-C] [-m] [-x] [--full-time] [--time-style=<word>] [--sort=<word>]"
    " [--group-directories-first] [--color=<word>] [<path>...]",
    "cat [-n|--number] [-b] [-s] [-A|--show-all] [-E] [-T] [-v] [-e] [-t] <path>...",
    "head [-n|--lines <int>] [-c|--bytes <int>] [-<int>] [-q] [-v] <path>...",
    "tail [-n|--lines <int>] [-c|--bytes <int>] [-<int>] [-q] [-v] <path>...",
    "grep [-n|--line-number] [-r|--recursive] [-i|--ignore-case] [-l|--files-with-matches]"
    " [-L|--files-without-match] [-c|--count] [-v|--invert-match] [-w] [-x] [-E] [-F] [-P] [-G]"
    " [-o|--only-matching] [-h] [-H] [-s] [-q] [-I] [-a] [-b] [-m|--max-count <int>]"
    " [-A|--after-context <int>] [-B|--before-context <int>] [-C|--context <int>] [-<int>]"
    " [--include=<word>] [--exclude=<word>] [--exclude-dir=<word>] [--color=<word>]"
    " <word> [<path>...]",
    "grep [-e <word>] [-n|--line-number] [-r|--recursive] [-i|--ignore-case] [-l] [-L] [-c] [-v]"
    " [-w] [-x] [-E] [-F] [-P] [-G] [-o] [-h] [-H] [-s] [-q] [-I] [-a] [-m <int>] [-A <int>]"
    " [-B <int>] [-C <int>] [--include=<word>] [--exclude=<word>] [--exclude-dir=<word>] <path>...",
    "find [<path>...] [-name <word>] [-iname <word>] [-path <word>] [-ipath <word>]"
    " [-regex <word>] [-type <word>] [-size <word>] [-mtime <word>] [-mmin <word>] [-newer <path>]"
    " [-maxdepth <int>] [-mindepth <int>] [-empty] [-not] [-o] [-or] [-a] [-and] [-prune] [-print]"
    " [-print0] [-ls] [-printf <word>] [-perm <word>] [-user <word>] [-executable] [-readable]"
    " [-writable] [-xdev]",
    "df [-h|--human-readable] [-H] [-T|--print-type] [-i|--inodes] [-k] [-m] [-a] [-P] [<path>...]",
    "ps [-e|-A] [-f] [-F] [-l] [-a] [-x] [-u] [-o <word>] [-p <word>] [-C <word>] [--sort=<word>]"
    " [--forest] [--no-headers]",
    "ps aux|ax|auxw|auxww|axf|ef",
    "whoami",
    "pwd [-L] [-P]",
    "echo [-n] [-e] [-E] [<word>...]",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace

std::span<const std::string_view> BuiltInRules() { return kBuiltIn; }

}  // namespace dossier::sandbox
