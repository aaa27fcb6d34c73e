// A number with its noun: "1 run", "2,000 runs".
//
//   out << Counted(runs.size(), "run");
//
// Thread-safety: pure function.

#ifndef DOSSIER_CLI_TERMINAL_COUNTED_H_
#define DOSSIER_CLI_TERMINAL_COUNTED_H_

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/text.h"

namespace dossier::cli {

inline std::string Counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", GroupDigits(number), noun, number == 1 ? "" : "s");
}

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_COUNTED_H_
