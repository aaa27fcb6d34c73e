// Making branches.
//
//   DOSSIER_ASSIGN_OR_RETURN(Branch branch, ForkBranch(connection, {.parent = "root", .name =
//   "n1"}));
//
// Costs the same whatever the parent holds. Thread-safety: as the connection's; only inside a
// transaction. Errors: as Store::Fork.

#ifndef DOSSIER_MEMORY_STORE_FORK_H_
#define DOSSIER_MEMORY_STORE_FORK_H_

#include <optional>
#include <string_view>

#include "memory/records/connection.h"
#include "memory/records/types.h"

namespace dossier::memory {

struct ForkRequest {
  std::string_view parent, name;
  std::optional<Seq> at;
  std::string_view node;
  Micros now = 0;
};

Result<Branch> ForkBranch(Connection& connection, const ForkRequest& request);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_FORK_H_
