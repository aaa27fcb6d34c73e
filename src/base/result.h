// The one way to report failures: a value, or an Error that a person can act on.
//
//   dossier::Result<int> Half(int n) {
//     if (n % 2) return dossier::MakeError(dossier::ErrorCode::kInvalidArgument, "{} is odd", n);
//     return n / 2;
//   }
//   DOSSIER_ASSIGN_OR_RETURN(int half, Half(8));
//
// The library never throws across a module border, prints, exits or aborts; exceptions of
// third-party code end at the wrapper that calls it.
//
// Thread-safety: none is needed; a Result has one owner.

#ifndef DOSSIER_BASE_RESULT_H_
#define DOSSIER_BASE_RESULT_H_

#include <dossier/result.h>
#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace dossier {

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
