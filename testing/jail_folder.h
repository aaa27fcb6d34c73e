// For tests that run programs in folders that they made, also as root where there are no user
// namespaces (many containers): there no program runs as root, so the folder becomes another
// user's.
//
//   FitForPrograms(folder_->path());   // after it was made, before files of others are in it

#ifndef DOSSIER_TESTING_JAIL_FOLDER_H_
#define DOSSIER_TESTING_JAIL_FOLDER_H_

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace dossier::testing {

inline bool UserNamespacesHere() {
  const pid_t pid = fork();
  if (pid == 0) _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 1;
  waitpid(pid, &status, 0);
  return status == 0;
}

inline void GiveToAnother(const std::string& path) {
  constexpr uid_t kOther = 12345;
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(path.c_str(), kOther, kOther), 0);
}

inline void FitForPrograms(const std::string& path) {
  if (geteuid() == 0 && !UserNamespacesHere()) GiveToAnother(path);
}

}  // namespace dossier::testing

#endif  // DOSSIER_TESTING_JAIL_FOLDER_H_
