// The limits of a whole run, as `agents run` and `research run` take them.
//
//   LimitFlags limits;  AddLimitFlags(*command, &limits);
//
// Plain data; a function.

#ifndef DOSSIER_CLI_WIRING_LIMIT_FLAGS_H_
#define DOSSIER_CLI_WIRING_LIMIT_FLAGS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dossier::cli {

struct LimitFlags {                // unset: none
  std::optional<double> max_cost;  // USD
  std::optional<std::int64_t> max_tokens, max_seconds;
  std::vector<std::string> prices;  // as ModelFlags::prices
};

void AddLimitFlags(CLI::App& command, LimitFlags* limits);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_LIMIT_FLAGS_H_
