// Times that flags of memory commands name, and where its store lies.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto clock, ClockOf(arguments.now));
//
// Thread-safety: pure functions, and those of app/memory_setup.h.

#ifndef DOSSIER_CLI_WIRING_MEMORY_SETUP_H_
#define DOSSIER_CLI_WIRING_MEMORY_SETUP_H_

#include <memory>
#include <string>
#include <string_view>

#include "app/memory_setup.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier::cli {

using app::CallLogOf;
using app::MemoryStorePath;
using app::StoreOptionsOf;

// A clock that always says `now`, for --now; "": the machine's. Errors: kUsage with the flag.
Result<std::shared_ptr<const Clock>> ClockOf(const std::string& now);

// RFC 3339, or a day alone: its begin or its end. Errors: kUsage with `flag`.
enum class DayEdge : std::uint8_t { kBegin, kEnd };
Result<memory::Micros> ReadMoment(std::string_view flag, const std::string& text, DayEdge edge);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_SETUP_H_
