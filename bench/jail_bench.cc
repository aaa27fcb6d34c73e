// The cost of a jail: /bin/true behind all walls, bare, and behind bubblewrap.

#include <unistd.h>

#include "benches.h"
#include "measure.h"
#include "processes.h"
#include "sandbox/jail/jail.h"

namespace dossier::bench {
namespace {

constexpr int kStarts = 60;

Status StartJailed(std::vector<std::string> disabled_layers) {
  sandbox::JailSpec spec;
  spec.disabled_layers = std::move(disabled_layers);
  const std::string argv[] = {"/bin/true"};
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit, sandbox::RunJailed(spec, argv));
  if (exit.status == 0) return {};
  return MakeError(ErrorCode::kFailed, "true ended with {}", exit.shell_status());
}

// As near to a jail's walls as its flags come.
Status StartBubblewrap() {
  return Spawn({"/usr/bin/bwrap", "--ro-bind",     "/usr",
                "/usr",           "--symlink",     "usr/lib",
                "/lib",           "--symlink",     "usr/lib64",
                "/lib64",         "--symlink",     "usr/bin",
                "/bin",           "--proc",        "/proc",
                "--dev",          "/dev",          "--tmpfs",
                "/tmp",           "--unshare-all", "--die-with-parent",
                "--new-session",  "--cap-drop",    "ALL",
                "/bin/true"});
}

}  // namespace

Status RunJailBench() {
  Samples jail, light, bare, bubblewrap;
  const bool has_bubblewrap = access("/usr/bin/bwrap", X_OK) == 0;
  Status status;
  for (int i = 0; i < kStarts; ++i) {
    bare.Time([&] { status = Spawn({"/bin/true"}); });
    DOSSIER_RETURN_IF_ERROR(status);
    jail.Time([&] { status = StartJailed({}); });
    DOSSIER_RETURN_IF_ERROR(status);
    light.Time([&] { status = StartJailed({"namespaces"}); });
    DOSSIER_RETURN_IF_ERROR(status);
    if (!has_bubblewrap) continue;
    bubblewrap.Time([&] { status = StartBubblewrap(); });
    DOSSIER_RETURN_IF_ERROR(status);
  }
  Report("jail.true", jail);
  Report("jail.true_without_namespaces", light);
  Report("jail.spawn", bare);
  if (has_bubblewrap) Report("jail.bwrap", bubblewrap);
  return {};
}

}  // namespace dossier::bench
