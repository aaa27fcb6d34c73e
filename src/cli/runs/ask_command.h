// `dossier ask`: one question over files of any size.

#ifndef DOSSIER_CLI_RUNS_ASK_COMMAND_H_
#define DOSSIER_CLI_RUNS_ASK_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/content_flags.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/sandbox_flags.h"

namespace dossier::cli {

struct AskArguments {
  std::string question;
  std::vector<std::string> paths;     // behind the question
  std::vector<std::string> contexts;  // -c
  std::vector<std::string> texts;     // --context-text
  bool recurse = false;               // -r
  std::string mode = "auto", profile = "auto", forcing = "full";
  std::string blocks = "until-error", dialect = "python";
  int max_depth = 1;
  std::optional<int> votes;
  std::optional<int> max_iterations;
  std::int64_t max_calls = 500;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_cost;
  std::string max_time;
  int max_errors = 5;
  std::optional<std::size_t> max_output_chars;
  std::optional<std::int64_t> sub_max_output;
  std::optional<std::uint64_t> seed;
  std::string cache = "on";
  std::string compaction = "auto";
  double compact_at = 0.75;
  std::string progress = "auto";
  bool json = false, dry_run = false;
  std::string output;  // -o
  std::string layouts_dir;
  ContentFlags content;
  MemoryFlags memory;
  ModelFlags model;
  SandboxFlags sandbox;
  std::vector<std::string> argv;  // for the journal
};

void AddAskCommand(CLI::App& command, AskArguments* arguments);
// Model, temperature, max_tokens, params and provider access that no flag gives come from the
// configuration. Returns the exit code.
int RunAsk(const AskArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
           std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_COMMAND_H_
