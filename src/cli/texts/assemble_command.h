// `dossier assemble`: one prompt from a layout, with a report of what went in.
//
//   AssembleArguments arguments{.layout = "worked", .sources = {"notes=@notes.txt"}};
//   int exit_code = RunAssemble(arguments, flags, cancel, std::cin, std::cout, std::cerr);

#ifndef DOSSIER_CLI_TEXTS_ASSEMBLE_COMMAND_H_
#define DOSSIER_CLI_TEXTS_ASSEMBLE_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct AssembleArguments {
  std::string layout;
  std::vector<std::string> sources;                    // --source NAME=REF
  std::vector<std::string> variables;                  // -D NAME=VALUE
  std::string model;                                   // -m
  std::string tokenizer;                               // --tokenizer
  std::optional<std::int64_t> budget, reserve_output;  // tokens
  std::optional<double> window_share;
  std::string out = "messages";  // --out: messages, request, text, markdown
  bool json = false;             // --json
  bool explain = false;          // --explain
  std::string report, log_dir, previous, layouts_dir;
  std::string now;                    // --now
  std::optional<std::uint64_t> seed;  // --seed
};

void AddAssembleCommand(CLI::App& command, AssembleArguments* arguments);
int RunAssemble(const AssembleArguments& arguments, const GlobalFlags& flags,
                const CancelToken& cancel, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_ASSEMBLE_COMMAND_H_
