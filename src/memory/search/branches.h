// Reads the branches of a store and their chains from its tables.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Branch branch, FindBranch(connection, "n1"));
//   DOSSIER_ASSIGN_OR_RETURN(const View view, LoadView(connections, connection, {.branch = "n1"}));
//
// Thread-safety: that of the connection. Errors: kNotFound, kDamaged, those of the database.

#ifndef DOSSIER_MEMORY_SEARCH_BRANCHES_H_
#define DOSSIER_MEMORY_SEARCH_BRANCHES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/records/connection.h"
#include "memory/records/types.h"
#include "memory/search/view_state.h"

namespace dossier::memory {

// Accepts [A-Za-z0-9_.:-]{1,128}. Errors: kInvalidArgument with the name.
Status CheckBranchName(std::string_view name);

// Accepts 1 to 128 code points without control characters. Errors: kInvalidArgument "bad_key: …".
Status CheckCoreKey(std::string_view key);
// A key is shown and compared as it is, so a secret in it is refused, not redacted. Errors:
// kInvalidArgument, without the key.
Status CheckNoSecret(std::string_view key);

Result<std::vector<Branch>> LoadBranches(Connection& connection);  // by id
Result<std::optional<Branch>> LookUpBranch(Connection& connection, std::string_view name);
// Errors: kNotFound `no branch "n9"; known: root, n1`.
Result<Branch> FindBranch(Connection& connection, std::string_view name);

// Returns the newest write of the store; 0 before the first.
Result<Seq> NewestSeq(Connection& connection);
// Returns the newest write of `branch` alone; if it has none, the write that created the branch.
Result<Seq> NewestSeqOf(Connection& connection, const Branch& branch);

struct ViewRequest {
  std::string_view branch = kRootBranch;
  std::optional<Seq> at;  // unset: the newest
  Micros now = 0;
  IndexUse index = IndexUse::kIndex;
  std::shared_ptr<const Embedder> embedder = nullptr;
};
// `connection` reads what is loaded at once; `connections` provides those for later reads. Errors
// also: kNotFound (no such write), kInvalidArgument (it was pruned).
Result<View> LoadView(std::shared_ptr<Connections> connections, Connection& connection,
                      const ViewRequest& request);

// Loads the state of a view without its core.
Result<View::State> LoadChain(Connection& connection, const ViewRequest& request);

// Returns State::chain_json for a chain.
std::string ChainJson(const std::vector<ChainLink>& chain);

// A row of `core`; a tombstone has no value.
struct CoreRow {
  Seq seq = 0;
  std::string key, branch;
  std::optional<std::string> value;
  int importance = 3;
  std::optional<Micros> expires_at;
  bool pinned = false;
  Micros updated_at = 0;
};
// Returns the row that counts for each key, including expired ones and tombstones: nearest branch
// first, the keys of one branch in byte order.
Result<std::vector<CoreRow>> LoadCoreRows(Connection& connection,
                                          const std::vector<ChainLink>& chain);
// Returns those rows for one branch alone.
Result<std::vector<CoreRow>> LoadOwnCoreRows(Connection& connection, const ChainLink& link);
// Returns the row that counts for `key`; nullopt if there is none.
Result<std::optional<CoreRow>> FindCoreRow(Connection& connection,
                                           const std::vector<ChainLink>& chain,
                                           std::string_view key);
bool IsLive(const CoreRow& row, Micros now);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_BRANCHES_H_
