// One program of an engine or a check: no shell, its own session, a time limit for it and all that
// it starts, writes in named places only, output into files.
//
//   ConfinedProcess process{.argv = {"sh", "-c", "make test"}, .folder = worktree,
//                           .writable = {worktree}, .out_path = "…/check.out", …};
//   DOSSIER_ASSIGN_OR_RETURN(const ProcessOutcome outcome, RunConfined(process, cancel));
//   if (outcome.end == ProcessOutcome::End::kExit && outcome.exit_code == 0) Use();
//
// A program can read everything, since it needs its libraries, caches and configuration. The walls
// restrict writing. Where landlock is missing nothing starts, unless Confinement::kNone was asked
// for by name.
//
// Thread-safety: RunConfined may be called from many threads; it blocks its caller.

#ifndef DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_
#define DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/capped_file.h"
#include "agents/git/secret_values.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier::agents {

enum class Confinement { kLandlock, kNone };
std::string_view ConfinementName(Confinement confinement);  // "landlock", "none"

// kUnavailable (exit 12), naming --confine none, if this machine cannot confine.
Status CheckConfinement(Confinement confinement);

inline constexpr Millis kEngineGrace{5000};  // between TERM and KILL

struct ConfinedProcess {
  std::vector<std::string> argv;
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // "NAME=value", but for TMPDIR
  std::string input;                     // for stdin; empty: /dev/null
  std::vector<std::string> writable;     // absolute; those that do not exist are left out
  Confinement confinement = Confinement::kLandlock;
  std::optional<Millis> time_limit;
  Millis grace = kEngineGrace;
  std::string out_path, err_path;  // files of the output
  const SecretValues* secrets = nullptr;
};

struct ProcessOutcome {
  enum class End { kExit, kSignal, kTimeout, kCancelled };
  End end = End::kExit;
  int exit_code = -1;  // of kExit
  int signal = 0;      // of kSignal
  // Processes that could not be ended: another user's.
  enum class Left { kNothing, kSurvivors } left = Left::kNothing;
  CappedOutput out, err;
  Millis took{0};
};

// Ends all descendants before it returns. Errors: kNotFound, kPermission (the program);
// kUnavailable (no confinement); kIo (output cannot be written; the process is ended).
Result<ProcessOutcome> RunConfined(const ConfinedProcess& process, const CancelToken& cancel);

// The variables that an engine gets: PATH HOME LANG LC_* TERM USER SHELL of `own`, and those that
// `allow` names.
std::vector<std::string> EngineEnvironment(const std::vector<std::string>& own,
                                           const std::vector<std::string>& allow);
// The values of the names in `allow`.
SecretValues SecretsOf(const std::vector<std::string>& own, const std::vector<std::string>& allow);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_
