// Flags that are a time or a size: their texts, read with the flag's name in front of what is
// wrong.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.deadline, ReadTimeFlag("--timeout", flags.timeout));
//
// Errors: kUsage with flag and text. Thread-safety: pure functions.

#ifndef DOSSIER_CLI_WIRING_QUANTITY_FLAGS_H_
#define DOSSIER_CLI_WIRING_QUANTITY_FLAGS_H_

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace dossier::cli {

// Whether 0 is a value like any other, or nonsense: a limit that lets nothing through.
enum class Zero { kRefused, kTaken };

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text,
                            Zero zero = Zero::kRefused);
Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text,
                                   Zero zero = Zero::kRefused);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_QUANTITY_FLAGS_H_
