#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace dossier {
namespace {

struct Row {
  ErrorCode code;
  std::string_view name;
  int exit_code;
};

constexpr Row kRows[] = {
    {ErrorCode::kInternal, "internal", 70},
    {ErrorCode::kUsage, "usage", 2},
    {ErrorCode::kInvalidArgument, "invalid_argument", 2},
    {ErrorCode::kConfig, "config", 3},
    {ErrorCode::kNotFound, "not_found", 4},
    {ErrorCode::kPermission, "permission", 4},
    {ErrorCode::kIo, "io", 4},
    {ErrorCode::kIsDevice, "is_device", 4},
    {ErrorCode::kDamaged, "damaged", 4},
    {ErrorCode::kAuth, "auth", 5},
    {ErrorCode::kRateLimited, "rate_limited", 6},
    {ErrorCode::kTimeout, "timeout", 7},
    {ErrorCode::kNetwork, "network", 8},
    {ErrorCode::kTooLong, "too_long", 9},
    {ErrorCode::kLimit, "limit", 10},
    {ErrorCode::kSchema, "schema", 11},
    {ErrorCode::kRefused, "refused", 12},
    {ErrorCode::kUnavailable, "unavailable", 12},
    {ErrorCode::kPartial, "partial", 13},
    {ErrorCode::kContextCommand, "context_command_failed", 14},
    {ErrorCode::kCheckFailed, "check_failed", 15},
    {ErrorCode::kLocked, "locked", 16},
    {ErrorCode::kCancelled, "cancelled", 130},
    {ErrorCode::kProtocol, "protocol", 1},
    {ErrorCode::kDied, "died", 1},
    {ErrorCode::kFailed, "failed", 1},
};

const Row& Find(ErrorCode code) {
  for (const Row& row : kRows) {
    if (row.code == code) return row;
  }
  return kRows[0];
}

ErrorCode CodeOfErrno(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermission;
    case EINVAL:
      return ErrorCode::kInvalidArgument;
    case EMFILE:
    case ENFILE:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

int ExitCode(ErrorCode code) { return Find(code).exit_code; }

std::string_view ErrorName(ErrorCode code) { return Find(code).name; }

Error ErrnoError(int errno_value, std::string_view what) {
  return {CodeOfErrno(errno_value),
          fmt::format("{}: {}", what, std::generic_category().message(errno_value))};
}

tl::unexpected<Error> MakeErrnoError(int errno_value, std::string_view what) {
  return tl::unexpected(ErrnoError(errno_value, what));
}

}  // namespace dossier
