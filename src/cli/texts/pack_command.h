// `dossier pack`: a folder as text for a model.
//
// The pack goes to stdout (or --out), the table to stderr. Thread-safety: none needed; one call a
// process.

#ifndef DOSSIER_CLI_TEXTS_PACK_COMMAND_H_
#define DOSSIER_CLI_TEXTS_PACK_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace dossier::cli {

struct PackArguments {
  std::vector<std::string> paths, include, exclude, priority;
  std::optional<std::int64_t> budget;
  std::string encoding, model;  // empty: o200k_base
  std::string format = "xml", order = "auto", secrets = "redact";
  std::string manifest, task, out, files_from;
  std::optional<std::int64_t> top, seed;
  bool line_numbers = false, explain = false, tree = false, hidden = false, submodules = false;
  bool json = false, nul = false, quiet = false, no_cache = false;
  CancelToken cancel;
};

// Returns the exit code.
int RunPack(const PackArguments& arguments, std::istream& in, std::ostream& out, std::ostream& err);

void AddPackCommand(CLI::App& command, PackArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_PACK_COMMAND_H_
