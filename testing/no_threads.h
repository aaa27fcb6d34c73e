// For tests of what happens when the system gives no more threads.
//
//   const NoThreads none;                       // until the end of the scope
//   EXPECT_FALSE(tasks.Run([] {}));
//
// New threads would get a stack that fits into no memory. Thread-safety: changes the whole process.

#ifndef DOSSIER_TESTING_NO_THREADS_H_
#define DOSSIER_TESTING_NO_THREADS_H_

#include <pthread.h>

namespace dossier::testing {

class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t none;
    pthread_attr_init(&none);
    pthread_attr_setstacksize(&none, kTooLarge);
    pthread_setattr_default_np(&none);
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  static constexpr size_t kTooLarge = 1ull << 60;
  pthread_attr_t before_;
};

}  // namespace dossier::testing

#endif  // DOSSIER_TESTING_NO_THREADS_H_
