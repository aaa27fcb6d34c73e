// The systems under test: a plain call of the model, Dossier itself, other engines, any command,
// and solvers without a model. Each gets the same question, the same files, and its own base URL
// (run/proxy.h).
//
//   DOSSIER_ASSIGN_OR_RETURN(Arm arm, ParseArm("dossier:--mode recursive", known));
//   DOSSIER_ASSIGN_OR_RETURN(auto system, MakeSystem(arm, parts));
//   const Answer answer = system->Ask({.asked = &task, .url = url, …}, cancel);
//
// Thread-safety: systems are immutable; Ask may run on many threads at once.

#ifndef DOSSIER_EVALUATION_RUN_SYSTEMS_H_
#define DOSSIER_EVALUATION_RUN_SYSTEMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/net/http_loop.h"
#include "base/result.h"
#include "evaluation/run/questions.h"
#include "evaluation/run/rows.h"

namespace dossier::evaluation {

// A column of the comparison: one system with its settings.
struct Arm {
  std::string name;               // "dossier", "droste-matched"
  std::string system;             // a row of the table, or "command"
  std::vector<std::string> argv;  // of a command; for `dossier`, further flags
  std::map<std::string, std::string> environment;
  std::string setting;  // "shipped", "matched", or what the user wrote
  std::string install;  // how to install it, shown if it is missing
  std::string model;    // the -m model that it uses; empty: the first
  std::string program;  // for `dossier`, if it is not this program
};

// A row of the table of systems.
struct SystemInfo {
  std::string_view name, about;
  enum class Kind : std::uint8_t { kDirect, kDossier, kCommand, kSolver } kind;
  std::string_view package;  // package registry name of a peer; empty: none
  std::string_view program = "";  // a program that it needs; empty: none
};
std::span<const SystemInfo> Systems();

// Returns what a peer lacks here and how to install it; empty: nothing.
std::string MissingOf(const SystemInfo& info, const std::string& peers_folder);

// Parses "direct", "dossier:FLAGS", "droste-matched" or a name in `known` (arms.yml). Errors:
// kConfig with the nearest names.
Result<Arm> ParseArm(std::string_view text, const std::map<std::string, Arm>& known);
// Loads the arms of a file in the format of arms.yml. Errors: kConfig with FILE:LINE.
Result<std::map<std::string, Arm>> LoadArms(const std::string& path);

struct Answer {
  std::string text;
  RowStatus status = RowStatus::kHarnessError;
  std::string detail;
  double seconds = 0;
  std::optional<std::int64_t> turns, sub_calls;
  std::string ended, run;
  bool at_limit = false;  // the system says that a limit was met
  Json result, events;  // of `dossier`, if Asking::events is kYes: result object, journal
};

// One question to a system.
struct Asking {
  const AskedTask* asked = nullptr;
  std::string url;              // of the proxy, for this question only; empty for solvers
  std::string model;            // the name that requests must use
  std::int64_t window = 0;      // tokens of the model; 0: unknown
  std::int64_t max_output = 0;  // tokens reserved for the reply
  Millis limit{600'000};
  enum class Events : std::uint8_t { kNo, kYes } events = Events::kNo;
};

class System {
 public:
  virtual ~System() = default;
  // Never fails: errors become a status.
  virtual Answer Ask(const Asking& asking, const CancelToken& cancel) const = 0;
};

// Answers a task from its set, without a model. Errors: a task without labels.
using SolveTask = std::function<Result<std::string>(std::string_view name, const AskedTask& asked)>;

// The parts from which systems are built.
struct SystemParts {
  std::string program;       // this program, for arms of Dossier
  std::string peers_folder;  // where peers are installed
  std::shared_ptr<HttpLoop> loop;
  std::function<std::int64_t(std::string_view)> count;  // tokens
  SolveTask solve;
};

// Errors: kUnavailable for a peer that is not installed, with how to install it.
Result<std::unique_ptr<System>> MakeSystem(const Arm& arm, const SystemParts& parts);

// Returns the prompt of a plain call: the texts of the files, with their names if there are
// several, then the question. Text in other encodings is decoded. Errors: those of files;
// kInvalidArgument for a file that is not text.
Result<std::string> DirectPrompt(const AskedTask& asked);
// Returns `prompt` without its middle so that it has at most `tokens`; unchanged if it fits.
std::string CutMiddle(const std::string& prompt, std::int64_t tokens,
                      const std::function<std::int64_t(std::string_view)>& count);

// Runs a program in its own process group, home and environment, until it ends or the time limit
// passes: then all its processes get TERM and, after two seconds, KILL.
struct SystemCommand {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::string folder;  // private to this call; also HOME and TMPDIR
  std::string input;   // on stdin
  Millis limit{600'000};
};
struct CommandEnd {
  std::string out, err;
  bool timed_out = false, out_cut = false;
  int exit_code = -1, signal = 0;
};
// Keeps at most 64 MiB of stdout. Errors: kNotFound, kCancelled, kIo.
Result<CommandEnd> RunCommand(const SystemCommand& command, const CancelToken& cancel);

// Replaces {context} {contexts} {question} {question_file} {base_url} {model} {answer_file} {meta}
// in the words of a command; a word that is just {contexts} becomes one word for each context.
std::vector<std::string> FillWords(const std::vector<std::string>& argv,
                                   const std::map<std::string, std::string>& values,
                                   const std::vector<std::string>& contexts);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_SYSTEMS_H_
