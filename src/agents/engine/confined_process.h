// One program of an engine or a check: no shell, behind the walls of the sandbox's jail, a time
// limit for it and all that it starts, output into files.
//
//   ConfinedProcess process{.argv = {"sh", "-c", "make test"}, .folder = worktree,
//                           .own = {worktree}, .out_path = "…/check.out", …};
//   DOSSIER_ASSIGN_OR_RETURN(const ProcessOutcome outcome, RunConfined(process, cancel));
//   if (outcome.end == ProcessOutcome::End::kExit && outcome.exit_code == 0) Use();
//
// A program sees the system's programs, the folders of PATH, what is named here, an empty home, and
// nothing else: no file of the user's, no socket, no other process. The empty home lies where the
// real one does, so what is named inside of that is found where programs look for it; it is gone
// when the program ends. Where the walls cannot be built nothing starts, unless what is missing was
// named (Walls).
//
// Thread-safety: RunConfined may be called from many threads; it blocks its caller.

#ifndef DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_
#define DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/secret_values.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"
#include "base/text/redact.h"

namespace dossier::agents {

// A program's output on its way into a file: at most so many bytes, no secrets.
//
//   DOSSIER_ASSIGN_OR_RETURN(CappedFile file, CappedFile::Create(path, secrets));
//   DOSSIER_RETURN_IF_ERROR(file.Add(bytes));        // as it comes from the pipe
//   DOSSIER_ASSIGN_OR_RETURN(CappedOutput output, file.Finish());
//
// Memory: at most 64 KiB and the longest secret, however much comes. Thread-safety: one owner.

inline constexpr std::uint64_t kMaxEngineOutput = 16u << 20;  // bytes of each stream

struct CappedOutput {
  std::uint64_t bytes = 0;    // written by the program
  std::uint64_t dropped = 0;  // of these, not kept
};

class CappedFile {
 public:
  // Mode 0600; an existing file is emptied. `secrets` must outlive it. Errors: kIo, kPermission
  // with the path.
  static Result<CappedFile> Create(const std::string& path, const SecretValues& secrets,
                                   std::uint64_t max_bytes = kMaxEngineOutput);

  // Errors: kIo with the path (the disk is full).
  Status Add(std::string_view bytes);
  Result<CappedOutput> Finish();

 private:
  CappedFile(std::string path, UniqueFd fd, const SecretValues& secrets, std::uint64_t max_bytes)
      : path_(std::move(path)), fd_(std::move(fd)), filter_(secrets), left_(max_bytes) {}

  Status Write(std::string_view text);

  std::string path_;
  UniqueFd fd_;
  SecretFilter filter_;
  std::uint64_t left_;
  RedactStream redact_;
  CappedOutput output_;
};

enum class Confinement { kJail, kNone };
std::string_view ConfinementName(Confinement confinement);  // "jail", "none"

// What a person accepts to be behind.
struct Walls {
  Confinement confinement = Confinement::kJail;
  std::vector<std::string> degraded;  // layers of the jail that may be missing
};

// Builds the walls once. Returns what every result says of them: "jail", "jail without namespaces",
// "none". Errors: kUnavailable (exit 12), naming what is missing and the way out; kUsage for a name
// that is no layer.
Result<std::string> TryWalls(const Walls& walls);

inline constexpr Millis kEngineGrace{5000};  // between TERM and KILL

// Folders and files beside those of the system; absolute, those that do not exist are left out.
struct ProcessPlaces {
  std::vector<std::string> own;       // made for the program, which may do all there
  std::vector<std::string> writable;  // `.git`, `.dossier` and `dossier.yml` stay as they are there
  std::vector<std::string> readable;
  std::vector<std::string> hidden;  // folders that are not shown, whatever else is
};

struct ConfinedProcess {
  std::vector<std::string> argv;
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // "NAME=value", but for TMPDIR
  std::string input;                     // for stdin; empty: /dev/null
  ProcessPlaces places;
  enum class Network { kNone, kAny } network = Network::kNone;
  Walls walls;
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
  std::string limit;   // of kSignal: the limit that was reached ("memory"); else empty
  // Processes that could not be ended: another user's.
  enum class Left { kNothing, kSurvivors } left = Left::kNothing;
  CappedOutput out, err;
  Millis took{0};
};

// Ends all descendants before it returns. Errors: kNotFound, kPermission (the program);
// kUnavailable (no walls); kIo (output cannot be written; the process is ended).
Result<ProcessOutcome> RunConfined(const ConfinedProcess& process, const CancelToken& cancel);

// The variables that an engine gets: PATH HOME LANG LC_* TERM USER SHELL of `own`, and those that
// `allow` names.
std::vector<std::string> EngineEnvironment(const std::vector<std::string>& own,
                                           const std::vector<std::string>& allow);
// The values of the names in `allow`.
SecretValues SecretsOf(const std::vector<std::string>& own, const std::vector<std::string>& allow);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_
