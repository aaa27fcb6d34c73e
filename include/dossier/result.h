// Result, the return type of every function that can fail: a value, or an Error with advice.
//
// Every function of this library that can fail returns a Result. Nothing throws, prints, exits or
// aborts; exceptions from third-party code are caught inside.
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

// The complete list of error codes, each with its exit code (see ExitCode()).
enum class ErrorCode {
  kInternal,         // 70: a bug in Dossier
  kUsage,            // 2: the command line
  kInvalidArgument,  // 2: a value passed to the library
  kConfig,           // 3: configuration, layout, template, schema, unknown model
  kNotFound,         // 4
  kPermission,       // 4
  kIo,               // 4: disk errors, disk full
  kIsDevice,         // 4: not a regular file
  kDamaged,          // 4: a file is not what it should be
  kAuth,             // 5: no key, or the key was refused
  kRateLimited,      // 6: after all retries
  kTimeout,          // 7: deadline passed, or no data for too long
  kNetwork,          // 8: host, connection, malformed reply
  kTooLong,          // 9: does not fit the context window
  kLimit,            // 10: a budget or limit is used up
  kSchema,           // 11: a reply does not match its schema
  kRefused,          // 12: sandbox or policy
  kUnavailable,      // 12: a required mechanism is missing on this machine
  kPartial,          // 13: only a part of the answer, or partly done
  kContextCommand,   // 14: a required context command failed
  kCheckFailed,      // 15: a check found differences
  kLocked,           // 16: a lock was not obtained in time
  kCancelled,        // 130: the user stopped it
  kProtocol,         // 1: the peer violated a protocol
  kDied,             // 1: a child process died
  kFailed,           // 1: any other handled failure
};

// Returns the exit code of a process that ends with this error; one table for all Dossier programs.
int ExitCode(ErrorCode code);
// Returns the name used in JSON, such as "not_found" for kNotFound.
std::string_view ErrorName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // one clear sentence that names the cause and, if there is one, the remedy

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

}  // namespace dossier

#endif  // DOSSIER_RESULT_H_
