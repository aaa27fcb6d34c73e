// Runs one program of an engine or a check: without a shell, inside the sandbox's jail, with one
// time limit for it and all its child processes, and with its output in files.
//
//   ConfinedProcess process{.argv = {"sh", "-c", "make test"}, .folder = worktree,
//                           .own = {worktree}, .out_path = "…/check.out", …};
//   DOSSIER_ASSIGN_OR_RETURN(const ProcessOutcome outcome, RunConfined(process, cancel));
//   if (outcome.end == ProcessOutcome::End::kExit && outcome.exit_code == 0) Use();
//
// A program sees the system's programs, the folders of PATH, the places given here, an empty home,
// and nothing else: none of the user's files, no socket, no other process. The empty home has the
// real one's path, so places given below that path are found where programs expect them; it is
// removed when the program ends. If the jail cannot be built, nothing starts, unless what is
// missing was accepted (Walls).
//
// Thread-safety: RunConfined may be called from many threads; it blocks the caller.

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

// Writes a program's output to a file: limited in size, secrets removed.
//
//   DOSSIER_ASSIGN_OR_RETURN(CappedFile file, CappedFile::Create(path, secrets));
//   DOSSIER_RETURN_IF_ERROR(file.Add(bytes));        // as it comes from the pipe
//   DOSSIER_ASSIGN_OR_RETURN(CappedOutput output, file.Finish());
//
// Memory: at most 64 KiB plus the longest secret, for any output. Thread-safety: one owner.

inline constexpr std::uint64_t kMaxEngineOutput = 16u << 20;  // bytes per stream

struct CappedOutput {
  std::uint64_t bytes = 0;    // written by the program
  std::uint64_t dropped = 0;  // of these, bytes not kept
};

class CappedFile {
 public:
  // Mode 0600; an existing file is truncated. `secrets` must outlive the result. Errors: kIo,
  // kPermission with the path.
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

// The confinement that a person accepts.
struct Walls {
  Confinement confinement = Confinement::kJail;
  std::vector<std::string> degraded;  // jail layers that may be missing
};

// Builds the jail once as a trial. Returns the text for all results: "jail", "jail without
// namespaces", "none". Errors: kUnavailable (exit 12), naming what is missing and the remedy;
// kUsage for an unknown layer.
Result<std::string> TryWalls(const Walls& walls);

inline constexpr Millis kEngineGrace{5000};  // between TERM and KILL

// Folders and files shown besides the system's; absolute, missing ones are left out.
struct ProcessPlaces {
  std::vector<std::string> own;       // made for the program, which has full access
  std::vector<std::string> writable;  // `.git`, `.dossier` and `dossier.yml` stay read-only
  std::vector<std::string> readable;
  std::vector<std::string> hidden;  // folders that are never shown
};

struct ConfinedProcess {
  std::vector<std::string> argv;
  std::string folder;                    // absolute
  std::vector<std::string> environment;  // "NAME=value", without TMPDIR
  std::string input;                     // for stdin; empty: /dev/null
  ProcessPlaces places;
  enum class Network { kNone, kAny } network = Network::kNone;
  Walls walls;
  std::optional<Millis> time_limit;
  Millis grace = kEngineGrace;
  std::string out_path, err_path;  // output files
  const SecretValues* secrets = nullptr;
};

struct ProcessOutcome {
  enum class End { kExit, kSignal, kTimeout, kCancelled };
  End end = End::kExit;
  int exit_code = -1;  // for kExit
  int signal = 0;      // for kSignal
  std::string limit;   // for kSignal: the limit that was reached ("memory"); else empty
  // kSurvivors: processes that could not be ended, because they are another user's.
  enum class Left { kNothing, kSurvivors } left = Left::kNothing;
  CappedOutput out, err;
  Millis took{0};
};

// Ends all descendants before it returns. Errors: kNotFound, kPermission (the program);
// kUnavailable (no jail); kIo (output cannot be written; the process is ended).
Result<ProcessOutcome> RunConfined(const ConfinedProcess& process, const CancelToken& cancel);

// Returns the variables for an engine: PATH HOME LANG LC_* TERM USER SHELL from `own`, and those
// named in `allow`.
std::vector<std::string> EngineEnvironment(const std::vector<std::string>& own,
                                           const std::vector<std::string>& allow);
// Returns the values of the variables named in `allow`.
SecretValues SecretsOf(const std::vector<std::string>& own, const std::vector<std::string>& allow);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_CONFINED_PROCESS_H_
