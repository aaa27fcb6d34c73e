// Which commands a model may run, and in which jail.
//
//   PolicyText text;
//   text.allow = {"git log [--oneline] [-n <int>] [<word>...]"};
//   DOSSIER_ASSIGN_OR_RETURN(const Policy policy, MakePolicy(text));
//   const Decision decision = Judge(policy, {"git", "log", "-n", "2"}, {.root = project});
//   if (!decision.allowed) Tell(decision.sentence);   // to the model and the user
//   DOSSIER_ASSIGN_OR_RETURN(const JailSpec spec, JailForCommand(policy, project, environment));
//   RunJailed(spec, decision.argv);
//
// Rules are usage lines (usage_rule.h). The order: the program is found on a fixed PATH; `deny` by
// the name as given, its base name and the base name of the file that it really is;
// `available_commands` by first words; `allow`; if either of these two is defined, even empty, all
// else is refused; if neither is, the built-in table of harmless commands decides (BuiltInRules).
//
// The policy says what a command line may look like. What the program can reach is the jail's to
// say: both hold together, and neither stands for the other.
//
// Thread-safety: immutable values, pure functions over files that are only read.

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

// Where programs are looked for, whatever the caller's PATH.
inline constexpr std::string_view kCommandPath = "/usr/local/bin:/usr/bin:/bin";

enum class CommandWrites { kNothing, kJail };

// As a configuration file has it.
struct PolicyText {
  std::vector<std::string> deny;
  std::optional<std::vector<std::string>> available_commands, allow;  // empty lists refuse all
  CommandWrites write = CommandWrites::kNothing;
  JailNetwork network = JailNetwork::kNone;
  std::vector<std::string> secret_files;  // that may be read: paths, from the root
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

// Errors: kConfig naming the list, the rule and the place in it.
Result<Policy> MakePolicy(const PolicyText& text);

// What is allowed where nothing is defined: usage lines of commands that only look.
std::span<const std::string_view> BuiltInRules();

struct CommandJail {
  std::string root;    // absolute: the project, which every <path> must lie in
  std::string folder;  // where the command starts, inside the root; empty: the root
};

struct Decision {
  bool allowed = false;
  Argv argv;             // to run: argv[0] is the program's full path, git has its safe options
  std::string rule;      // that decided, with its list: "deny: rm"; empty: none
  std::string sentence;  // why it is refused; empty if allowed
};

Decision Judge(const Policy& policy, const Argv& argv, const CommandJail& jail);

// Whether `path`, as a program started in the jail's folder understands it, lies in the root after
// every symbolic link. What does not exist counts where it would be made.
bool LiesInside(const CommandJail& jail, const std::string& path);

// Reads the root and the system's folders (and the repository that a linked work tree belongs to),
// writes nothing unless the policy says so, no network unless it says so; stdin is empty. Secret
// files of the root (base/files/secret_files.h) that the policy does not name cannot be opened;
// where there are some and no namespaces to hide them, nothing runs. Errors: kLimit if the root
// holds too many files to look for them. Environment: PATH, HOME (a
// place that is not there), LANG, LC_*, TZ and USER of `environment`, a list of "NAME=value".
Result<JailSpec> JailForCommand(const Policy& policy, const CommandJail& jail,
                                const std::vector<std::string>& environment);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_COMMANDS_POLICY_H_
