#include "cli/wiring/limit_flags.h"

#include <CLI/Validators.hpp>
#include <string>

#include "cli/wiring/model_flags.h"

namespace dossier::cli {

void AddLimitFlags(CLI::App& command, LimitFlags* limits) {
  const std::string group = "Limits";
  command.add_option("--max-cost", limits->max_cost, "of the whole run, in USD")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  command.add_option("--max-tokens", limits->max_tokens, "of the whole run")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--max-seconds", limits->max_seconds, "of the whole run")
      ->check(CLI::PositiveNumber)
      ->group(group);
  AddPriceFlag(command, group, &limits->prices);
}

}  // namespace dossier::cli
