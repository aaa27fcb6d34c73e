// Whether this build is instrumented by a sanitizer. A sanitizer's runtime reserves terabytes of
// address space and makes system calls of its own. So in such a build the sandbox sets no limit on
// memory and allows one more harmless system call. Nothing else may depend on this constant.
//
//   if (kThisBuild == Instrumentation::kSanitizer) GTEST_SKIP() << "memory has no limit";

#ifndef DOSSIER_BASE_INSTRUMENTATION_H_
#define DOSSIER_BASE_INSTRUMENTATION_H_

namespace dossier {

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

}  // namespace dossier

#endif  // DOSSIER_BASE_INSTRUMENTATION_H_
