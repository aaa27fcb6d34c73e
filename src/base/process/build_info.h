// Identifies the build of the program, and tells whether a sanitizer instruments it.

#ifndef DOSSIER_BASE_PROCESS_BUILD_INFO_H_
#define DOSSIER_BASE_PROCESS_BUILD_INFO_H_

#include <string>

#include "base/result.h"

namespace dossier {

// Tells whether a sanitizer instruments this build. A sanitizer's runtime reserves terabytes of
// address space and makes its own system calls, so in such a build the sandbox sets no memory limit
// and allows one more harmless system call. Nothing else may depend on this constant.
//
//   if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "memory has no limit";

enum class Instrumentation { kNone, kSanitizer };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr Instrumentation kThisBuild = Instrumentation::kSanitizer;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr Instrumentation kThisBuild = Instrumentation::kSanitizer;
#else
inline constexpr Instrumentation kThisBuild = Instrumentation::kNone;
#endif
#else
inline constexpr Instrumentation kThisBuild = Instrumentation::kNone;
#endif

// Identifies the build of a program, for reports that must name it.
//
//   BuildId()                          // "705460f34c82711a357791d40905781e4d883711"
//   BuildIdOf("/usr/libexec/helper")   // of a program that does not run
//
// The id is the note that the linker writes (--build-id): a hash of its input. Two builds of the
// same sources with the same tools have the same id. The running program's id is read from memory,
// so it is right even if the file was replaced since the start. Thread-safety: only reads.

// Lower-case hexadecimal digits; "" if the program was linked without one.
std::string BuildId();

// Returns the id of the program in a file. Errors: kIo, kNotFound, kDamaged (no 64-bit ELF file of
// this byte order).
Result<std::string> BuildIdOf(const std::string& path);

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_BUILD_INFO_H_
