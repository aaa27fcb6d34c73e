#include "cli/wiring/quantity_flags.h"

#include "base/text/text.h"

namespace dossier::cli {
namespace {

template <typename Value>
Result<Value> Named(std::string_view flag, std::string_view text, Result<Value> read, Zero zero) {
  if (!read) return MakeError(ErrorCode::kUsage, "{} {}", flag, read.error().message);
  if (zero == Zero::kRefused && *read == Value(0)) {
    return MakeError(ErrorCode::kUsage, "{} {}: must be above 0", flag, text);
  }
  return read;
}

}  // namespace

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseDuration(text), zero);
}

Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text, Zero zero) {
  return Named(flag, text, ParseSize(text), zero);
}

}  // namespace dossier::cli
