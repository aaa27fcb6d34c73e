// The ways out that a program in a jail tries, and the kinds of jail that they are tried in.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto trials, RunJailTrials(Mode::kStrict));
//   std::cout << TrialTable(trials);
//
// Each attempt is an expression of Python, made by a program in the jail itself; it worked if that
// raises nothing and is true. Effects that a kind of jail is meant to have (the network, a folder
// that it may write) are not tried there. Started as root, each kind is tried as root and as a
// plain user, with a folder of root's and with one of the user's; else as who starts it.
//
// Thread-safety: RunJailTrials forks, and has one caller at a time.

#ifndef DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_
#define DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "sandbox/jail/jail.h"

namespace dossier::sandbox {

struct JailAttempt {
  std::string_view id;    // "E1 home"
  std::string_view code;  // an expression; may use what JailGround names
  enum class Effect { kNone, kEndsTheTrial } effect = Effect::kNone;  // if it works
  enum class Meant { kNever, kWithNetwork, kWithWrite } meant = Meant::kNever;
};

// What the attempts aim at, on the host: a secret, and servers that would answer. Gone with it.
class JailGround {
 public:
  static Result<JailGround> Make();
  JailGround(JailGround&&) noexcept;
  ~JailGround();

  const std::string& home() const;
  // argv of a program that makes these attempts and prints the id of each that worked and how, one
  // a line, then "done".
  std::vector<std::string> Program(const std::function<bool(const JailAttempt&)>& chosen) const;

 private:
  struct State;
  explicit JailGround(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct JailTrial {
  std::string kind;           // "jail, --write"
  std::string as, folder_of;  // "root", "user"
  int tried = 0;
  std::vector<std::string> worked;  // ids
  std::string not_run;              // why no program started there: then nothing was tried
  bool refused() const { return worked.empty(); }
};

// What is built around a program in the folder of a project, which holds a `.git` and a folder
// `own`.
struct JailKind {
  std::string name;
  enum class Folder { kRead, kWrite } folder = Folder::kRead;  // what it may do there
  JailNetwork network = JailNetwork::kNone;
  std::function<Result<JailSpec>(const std::string& folder)> spec;
};

// `others`: kinds that other rooms build, beside those of this one. Errors: kIo if the ground
// cannot be made; kCancelled; those of the kinds.
Result<std::vector<JailTrial>> RunJailTrials(Mode mode, const std::vector<JailKind>& others = {},
                                             const CancelToken& cancel = {});

// A line for each, and one for each attempt that worked.
std::string TrialTable(const std::vector<JailTrial>& trials);
Json TrialsJson(const std::vector<JailTrial>& trials);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_
