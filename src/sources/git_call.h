// One call of git that starts nothing else and waits for nobody (REP-11).
//
//   DOSSIER_ASSIGN_OR_RETURN(const ProcessResult head,
//                            CallGit({.folder = root, .arguments = {"rev-parse", "--short",
//                            "HEAD"}}));
//
// An argument vector, no shell; the environment is ours without any GIT_ variable, with LC_ALL=C,
// without optional locks, prompts, hooks and file-system monitors.
// Thread-safety: reads the environment; must not run beside setenv.

#ifndef DOSSIER_SOURCES_GIT_CALL_H_
#define DOSSIER_SOURCES_GIT_CALL_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/result.h"

namespace dossier::sources {

struct GitCall {
  std::string folder;                    // where it runs
  std::vector<std::string> arguments;    // without "git"
  std::vector<std::string> environment;  // "GIT_DIR=…": added
  std::string input;
  Millis timeout{10'000};
  std::size_t max_output = 16 << 20;  // bytes
};

// Errors: kNotFound (git is not installed), kCancelled, kIo. A non-zero exit is no error.
Result<ProcessResult> CallGit(const GitCall& call, const CancelToken& cancel = {});

// The environment of such a call, for those who start git in another way.
std::vector<std::string> GitCallEnvironment();

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_GIT_CALL_H_
