// The command line of `ask`: its flags, and the request made from them.
//
//   AskArguments arguments;
//   DeclareAskFlags(flags, arguments);                    // then the line is parsed
//   DOSSIER_RETURN_IF_ERROR(CheckAskArguments(arguments));
//   DOSSIER_ASSIGN_OR_RETURN(ask::AskRequest request, MakeAskRequest(arguments, argv, sandbox));
//
// Thread-safety: none needed.

#ifndef DOSSIER_CLI_RUNS_ASK_FLAGS_H_
#define DOSSIER_CLI_RUNS_ASK_FLAGS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ask/engine.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/schema_choice.h"
#include "cli/wiring/shared_flags.h"

namespace dossier::cli {

struct AskArguments {
  std::vector<std::string> words;     // the question and the contexts, in any order
  std::vector<std::string> contexts;  // -c
  std::vector<std::string> texts;     // --context-text
  ContextFlags exec;                  // --exec
  bool recurse = false;               // -r
  std::string mode = "auto", profile = "auto", forcing = "full", observe = "full";
  std::string blocks, dialect = "python";
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
  bool json = false, dry_run = false, estimate = false;
  std::string confirm_above, citations = "check";

  bool sends_nothing() const { return dry_run || estimate; }

  std::string output;  // -o
  std::string out_dir;
  std::string layouts_dir;
  std::string tools;                  // --tools
  std::vector<std::string> servers;   // --mcp
  std::string sub_tools = "inherit";  // --sub-tools
  std::vector<std::string> media;     // --media: NAME=PATH or NAME=URL
  std::string session;                // --session
  SchemaFlags schema;                 // --json-schema, --json-schema-file
  std::string validate;               // --validate
  std::vector<std::string> required;  // --require
  int repair = 2;
  ContentFlags content;
  MemoryFlags memory;
  ModelFlags model;
  SandboxFlags sandbox;
};

// `to` must outlive the parsing of the line.
void DeclareAskFlags(Flags& flags, AskArguments& to);

// Checks combinations of flags. Errors: kUsage: flags that exclude each other.
Status CheckAskArguments(const AskArguments& arguments);

// Sets modes, limits and seed; the caller adds the question, its context and the models. `argv` is
// the command line for the journal. Errors: kUsage: not a valid time.
Result<ask::AskRequest> MakeAskRequest(const AskArguments& arguments,
                                       std::span<const std::string> argv,
                                       const SandboxChoice& sandbox);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_FLAGS_H_
