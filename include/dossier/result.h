// One channel for failures: a value, or an Error that a person can act on.
//
// Every function of this library that can fail returns a Result. Nothing throws, prints, exits or
// aborts; exceptions of third-party code end inside.
// [example]
//   #include <dossier/inspect.h>
//   dossier::Result<dossier::Description> about = dossier::Inspect("feed.ndjson");
//   if (!about) {
//     std::cerr << dossier::ErrorName(about.error().code) << ": " << about.error().message << "\n";
//     return dossier::ExitCode(about.error().code);
//   }
//   std::cout << about->format << "\n";
// [/example]
//
// Ownership: an Error is a plain value. Thread-safety: plain data and pure functions.

#ifndef DOSSIER_RESULT_H_
#define DOSSIER_RESULT_H_

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace dossier {

// The closed list. ExitCode() gives the exit code that stands for each.
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

// The exit code of a process that ends for this reason: one table for all programs of Dossier.
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

}  // namespace dossier

#endif  // DOSSIER_RESULT_H_
