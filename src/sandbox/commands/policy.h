// Decides which commands a model may run, and in which jail.
//
//   PolicyText text;
//   text.allow = {"git log [--oneline] [-n <int>] [<word>...]"};
//   DOSSIER_ASSIGN_OR_RETURN(const Policy policy, MakePolicy(text));
//   const Decision decision = Judge(policy, {"git", "log", "-n", "2"}, {.root = project});
//   if (!decision.allowed) Tell(decision.sentence);   // to the model and the user
//   DOSSIER_ASSIGN_OR_RETURN(const JailSpec spec, JailForCommand(policy, project, environment));
//   RunJailed(spec, decision.argv);
//
// Rules are usage lines (usage_rule.h), in this order: the program is found on a fixed PATH;
// `deny`, by the given name, its base name and the base name of the real file;
// `available_commands`, by first words; `allow`. If one of these two is defined, even empty, all
// else is refused; otherwise the built-in table of harmless commands decides (BuiltInRules).
//
// The policy limits the form of a command line; the jail limits what the program can reach. Both
// apply, and neither replaces the other.
//
// Thread-safety: immutable values, pure functions that only read files.

#ifndef DOSSIER_SANDBOX_COMMANDS_POLICY_H_
#define DOSSIER_SANDBOX_COMMANDS_POLICY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/commands/usage_rule.h"
#include "sandbox/jail/jail.h"

namespace dossier::sandbox {

// The search path for programs, whatever the caller's PATH.
inline constexpr std::string_view kCommandPath = "/usr/local/bin:/usr/bin:/bin";

enum class CommandWrites { kNothing, kJail };

// The policy as written in a configuration file.
struct PolicyText {
  std::vector<std::string> deny;
  std::optional<std::vector<std::string>> available_commands, allow;  // empty lists refuse all
  CommandWrites write = CommandWrites::kNothing;
  JailNetwork network = JailNetwork::kNone;
  std::vector<std::string> secret_files;  // readable secret files: paths relative to the root
};

struct Policy {
  std::vector<UsageRule> deny;
  std::optional<std::vector<UsageRule>> available_commands, allow;
  std::vector<UsageRule> built_in;  // used if neither list is defined
  CommandWrites write = CommandWrites::kNothing;
  JailNetwork network = JailNetwork::kNone;
  std::vector<std::string> secret_files;
  std::vector<std::string> warnings;  // "rule `git **`: this rule is not a boundary"
};

// Errors: kConfig naming the list, the rule and the position in it.
Result<Policy> MakePolicy(const PolicyText& text);

// The rules used if nothing is defined: usage lines of commands that only read.
std::span<const std::string_view> BuiltInRules();

struct CommandJail {
  std::string root;    // absolute: the project, which must contain every <path>
  std::string folder;  // working folder of the command, in the root; empty: the root
};

struct Decision {
  bool allowed = false;
  Argv argv;             // to run: argv[0] is the program's full path, git gets its safe options
  std::string rule;      // the rule that decided, with its list: "deny: rm"; empty: none
  std::string sentence;  // the reason of a refusal; empty if allowed
};

Decision Judge(const Policy& policy, const Argv& argv, const CommandJail& jail);

// Returns true if `path`, as a program started in the jail's folder understands it, is in the root
// after all symbolic links are resolved. A missing path is judged by where it would be created.
bool LiesInside(const CommandJail& jail, const std::string& path);

// Makes the jail of a command: it reads the root and the system's folders (and the repository that
// a linked work tree belongs to), writes nothing and has no network unless the policy allows it;
// stdin is empty. Secret files of the root (base/files/secret_files.h) that the policy does not
// name cannot be opened; if there are some and no namespaces to hide them, nothing runs. Errors:
// kLimit if the root has too many files to search. Environment: PATH, HOME (a missing folder),
// LANG, LC_*, TZ and USER of `environment`, a list of "NAME=value".
//
// git in this jail shows no content of secret files, also of earlier versions: they count as
// binary. Its settings are shown without passwords and tokens.
Result<JailSpec> JailForCommand(const Policy& policy, const CommandJail& jail,
                                const std::vector<std::string>& environment);

// Lets `git diff` pass over the files that `spec` hides: it cannot read them, and would give up.
void PassOverHidden(const JailSpec& spec, const CommandJail& jail, Argv* argv);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_COMMANDS_POLICY_H_
