// Whether this build is one of ThreadSanitizer's. Its runtime has a thread of its own, and a
// process of several threads may make no user namespace: tests of what needs one are skipped there.
//
//   if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";

#ifndef DOSSIER_TESTING_THREAD_SANITIZER_H_
#define DOSSIER_TESTING_THREAD_SANITIZER_H_

namespace dossier {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace dossier

#endif  // DOSSIER_TESTING_THREAD_SANITIZER_H_
