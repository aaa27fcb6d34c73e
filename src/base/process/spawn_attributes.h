// Attributes for posix_spawn that reset what a started program must not inherit from this process:
// blocked and ignored signals and, unless it is to share the terminal, the process group.
//
//   const SpawnAttributes attributes(SpawnGroup::kOwn);
//   posix_spawn(&pid, path, nullptr, attributes.get(), argv, environ);
//
// This program blocks the signals it waits for and ignores SIGPIPE; a child would keep both.
// Ownership: the object owns the attributes. Thread-safety: immutable after construction.

#ifndef DOSSIER_BASE_PROCESS_SPAWN_ATTRIBUTES_H_
#define DOSSIER_BASE_PROCESS_SPAWN_ATTRIBUTES_H_

#include <spawn.h>

namespace dossier {

// kOurs: the keys of our terminal reach it, as a foreground program expects. kOwn: Ctrl-C is for us
// to handle.
enum class SpawnGroup { kOurs, kOwn };

class SpawnAttributes {
 public:
  explicit SpawnAttributes(SpawnGroup group);
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_SPAWN_ATTRIBUTES_H_
