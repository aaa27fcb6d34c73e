// Lets a test that root runs see what an ordinary user sees: files that shut their owner out.
//
//   const WithoutRootPowers shut_out;   // for this thread and those that it starts
//   EXPECT_THAT(ReadFile(path_of_mode_0), FailsWith(ErrorCode::kPermission));
//
// The capabilities that pass over file modes are put away until the end of the scope. A process
// that is not root's has none, and nothing changes. Thread-safety: one owner, one thread.

#ifndef DOSSIER_TESTING_WITHOUT_ROOT_POWERS_H_
#define DOSSIER_TESTING_WITHOUT_ROOT_POWERS_H_

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace dossier::testing {

class WithoutRootPowers {
 public:
  WithoutRootPowers() {
    EXPECT_EQ(syscall(SYS_capget, &header_, before_.data()), 0);
    auto lowered = before_;
    lowered[0].effective &= ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(syscall(SYS_capset, &header_, lowered.data()), 0);
  }
  ~WithoutRootPowers() { EXPECT_EQ(syscall(SYS_capset, &header_, before_.data()), 0); }
  WithoutRootPowers(const WithoutRootPowers&) = delete;
  WithoutRootPowers& operator=(const WithoutRootPowers&) = delete;

 private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> before_{};
};

}  // namespace dossier::testing

#endif  // DOSSIER_TESTING_WITHOUT_ROOT_POWERS_H_
