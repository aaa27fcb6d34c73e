#include "base/process/spawn_attributes.h"

#include <signal.h>

namespace dossier {

SpawnAttributes::SpawnAttributes(SpawnGroup group) {
  posix_spawnattr_init(&attributes_);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &all);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == SpawnGroup::kOwn) {
    posix_spawnattr_setpgroup(&attributes_, 0);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  posix_spawnattr_setflags(&attributes_, flags);
}

}  // namespace dossier
