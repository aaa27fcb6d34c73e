// One channel for failures: a value, or an Error that a person can act on.
//
//   dossier::Result<int> Half(int n) {
//     if (n % 2) return dossier::MakeError(dossier::ErrorCode::kInvalidArgument, "{} is odd", n);
//     return n / 2;
//   }
//   DOSSIER_ASSIGN_OR_RETURN(int half, Half(8));
//
// The library never throws across a module border, prints, exits or aborts; exceptions of
// third-party code end at the wrapper that calls it.

#ifndef DOSSIER_BASE_RESULT_H_
#define DOSSIER_BASE_RESULT_H_

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace dossier {

// The closed list. ExitCode() maps each to the one table of exit codes.
enum class ErrorCode {
  kInternal,         // 70: a defect of ours
  kUsage,            // 2: the command line
  kInvalidArgument,  // 2: a value passed to the library
  kConfig,           // 3: configuration, layout, template, schema, unknown model
  kNotFound,         // 4
  kPermission,       // 4
  kIo,               // 4: disk errors, disk full
  kIsDevice,         // 4: not a regular file
  kDamaged,          // 4: a file that is not what it should be
  kAuth,             // 5: no key, or refused
  kRateLimited,      // 6: after all retries
  kTimeout,          // 7: deadline or silence
  kNetwork,          // 8: host, connection, malformed reply
  kTooLong,          // 9: does not fit the context window
  kLimit,            // 10: a budget or limit is used up
  kSchema,           // 11: a reply does not match its schema
  kRefused,          // 12: sandbox or policy
  kUnavailable,      // 12: a needed mechanism is missing here
  kPartial,          // 13: a part of the answer, or partly done
  kContextCommand,   // 14: a context command that must not fail failed
  kCheckFailed,      // 15: a check found differences
  kLocked,           // 16: a lock was not obtained in time
  kCancelled,        // 130: the user stopped it
  kProtocol,         // 1: the other side of a protocol broke it
  kDied,             // 1: a child process died
  kFailed,           // 1: any other handled failure
};

// The process exit code that stands for `code`.
int ExitCode(ErrorCode code);
// "not_found" for kNotFound: the name used in JSON.
std::string_view ErrorName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one clear sentence: names the thing and, where there is one, the way out

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// An Error in a form that converts to any Result; `format` is fmt's.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> MakeError(ErrorCode code, fmt::format_string<Args...> format,
                                              Args&&... args) {
  return tl::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

// As MakeError, with strerror(errno_value) appended: "open x: No such file or directory".
[[nodiscard]] tl::unexpected<Error> MakeErrnoError(int errno_value, std::string_view what);

// As MakeErrnoError, but a value: for errors kept in a field.
Error ErrnoError(int errno_value, std::string_view what);

}  // namespace dossier

#define DOSSIER_CONCAT_INNER_(a, b) a##b
#define DOSSIER_CONCAT_(a, b) DOSSIER_CONCAT_INNER_(a, b)

// Returns the error of `expression` to the caller, if it failed.
#define DOSSIER_RETURN_IF_ERROR(expression)                                          \
  do {                                                                               \
    auto dossier_status_ = (expression);                                             \
    if (!dossier_status_) return tl::unexpected(std::move(dossier_status_).error()); \
  } while (false)

// Declares or assigns `target` from a Result, or returns its error to the caller.
#define DOSSIER_ASSIGN_OR_RETURN(target, expression) \
  DOSSIER_ASSIGN_OR_RETURN_(DOSSIER_CONCAT_(dossier_result_, __LINE__), target, expression)
#define DOSSIER_ASSIGN_OR_RETURN_(result, target, expression)    \
  auto result = (expression);                                    \
  if (!result) return tl::unexpected(std::move(result).error()); \
  target = std::move(*result)

#endif  // DOSSIER_BASE_RESULT_H_
