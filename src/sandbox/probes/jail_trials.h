// The escape attempts of a jailed program, and the kinds of jail in which they are tried.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto trials, RunJailTrials(IsolationMode::kStrict));
//   std::cout << TrialTable(trials);
//
// Each attempt is a Python expression, evaluated by a program in the jail; it worked if it raises
// nothing and is true. Effects that a kind of jail is meant to allow (the network, a writable
// folder) are not tried there. If started as root, each kind is tried as root and as a plain user,
// with a folder of root's and one of the user's; otherwise as the calling user. All of it is tried
// twice: with every layer that this machine has, and without namespaces.
//
// Thread-safety: RunJailTrials forks; only one call at a time.

#ifndef DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_
#define DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_

#include <cstdint>
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
  std::string_view code;  // an expression; may use the names that JailGround defines
  enum class Effect { kNone, kEndsTheTrial } effect = Effect::kNone;  // if it works
  enum class Meant { kNever, kWithNetwork, kWithWrite } meant = Meant::kNever;
};

// The attempts' targets on the host: a secret, and servers that would answer. Removed with it.
class JailGround {
 public:
  static Result<JailGround> Make();
  JailGround(JailGround&&) noexcept;
  ~JailGround();

  const std::string& home() const;
  // Returns the argv of a program that makes these attempts and prints a line for each that worked,
  // with its id and how, then "done".
  std::vector<std::string> Program(const std::function<bool(const JailAttempt&)>& chosen) const;

 private:
  struct State;
  explicit JailGround(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct JailTrial {
  std::string kind;           // "jail, --write"
  std::string as, folder_of;  // "root", "user"
  // kAll: every layer that this machine has. kNoNamespaces: as where these are forbidden.
  enum class Walls : std::uint8_t { kAll, kNoNamespaces } walls = Walls::kAll;
  int tried = 0;
  std::vector<std::string> worked;  // ids
  std::string not_run;              // why no program could start; then nothing was tried
  bool refused() const { return worked.empty(); }
  std::string_view LayersText() const { return walls == Walls::kAll ? "all" : "no namespaces"; }
};

// A kind of jail around a program in a project's folder, which contains a `.git` and a folder
// `own`.
struct JailKind {
  std::string name;
  enum class Folder { kRead, kWrite } folder = Folder::kRead;  // its rights there
  JailNetwork network = JailNetwork::kNone;
  std::function<Result<JailSpec>(const std::string& folder)> spec;
};

// `others`: kinds of jail that other rooms build, tried in addition to this room's. Errors: kIo if
// the ground cannot be made; kCancelled; those of the kinds.
Result<std::vector<JailTrial>> RunJailTrials(IsolationMode mode,
                                             const std::vector<JailKind>& others = {},
                                             const CancelToken& cancel = {});

// Returns one line per trial, and one for each attempt that worked.
std::string TrialTable(const std::vector<JailTrial>& trials);
Json TrialsJson(const std::vector<JailTrial>& trials);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_JAIL_TRIALS_H_
