// `dossier research`: a staged run that plans, installs, codes, compiles, runs, measures, plots and
// writes up without a person.
//
// Results go to stdout, progress to stderr. Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_RUNS_RESEARCH_COMMAND_H_
#define DOSSIER_CLI_RUNS_RESEARCH_COMMAND_H_

#include <CLI/App.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/limit_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

struct ResearchArguments {
  std::string action;  // run, status, resume, tree, report, probe, check, digest, show, prompts
  std::string out = "experiments";
  // Of run; some of them of resume and probe, too.
  std::string idea, config, name, resources, backend, image, stages = "1-4", until, memory;
  std::string review_bias;
  std::int64_t attempt = 0;
  std::optional<std::int64_t> workers, seed;
  LimitFlags limits;
  std::vector<std::string> degraded, models, settings;
  bool no_memory = false, dry_run = false;
  bool skip_plots = false, skip_citations = false, skip_writeup = false, skip_review = false;
  ModelFlags connection;  // how models are reached; which they are, `models` and `config` say
  // Of the others.
  std::string run;  // folder, or the beginning of one or of an id; "": the latest
  bool watch = false, retry_failed = false, rewrite = false;
  int stage = 0;  // of tree; 0: all
  std::string format;
  std::string file;  // of resources
  int phase = 0;     // of resources show
  std::string node, show;
  bool json = false;
};

void AddResearchCommand(CLI::App& command, ResearchArguments* arguments);

// Returns the exit code.
int RunResearch(const ResearchArguments& arguments, const GlobalFlags& flags,
                const CancelToken& cancel, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_RESEARCH_COMMAND_H_
