#include "memory/search/branches.h"

#include <algorithm>
#include <set>

#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::string_view kBranchColumns =
    "SELECT b.id, b.name, coalesce(p.name, ''), b.fork_seq, b.node_uid, b.created_at, b.seq "
    "FROM branches AS b LEFT JOIN branches AS p ON p.id = b.parent_id ";

Branch ReadBranch(const store::Statement& row) {
  return {.id = row.Int(0),
          .name = row.Text(1),
          .parent = row.Text(2),
          .fork_seq = row.Int(3),
          .node = row.Text(4),
          .created_at = row.Int(5),
          .seq = row.Int(6)};
}

bool IsNameByte(char c) { return IsWordByte(c) || c == '.' || c == ':' || c == '-'; }

Result<Error> NoBranch(Connection& connection, std::string_view name) {
  constexpr std::size_t kMostNamed = 20;
  std::vector<std::string> names;
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, "SELECT name FROM branches ORDER BY id LIMIT ?",
      [&](const store::Statement& row) { names.push_back(row.Text(0)); }, kMostNamed + 1));
  if (names.size() > kMostNamed) names.back() = "…";
  return Error{ErrorCode::kNotFound, fmt::format("no branch \"{}\"; known: {}{}", name,
                                                 fmt::join(names, ", "), DidYouMean(name, names))};
}

// Errors: kNotFound, kInvalidArgument.
Status CheckSeq(Connection& connection, Seq at, Seq newest) {
  if (at < 0 || at > newest) {
    return MakeError(ErrorCode::kNotFound, "no write {}; the newest is {}", at, newest);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const auto pruned,
      ReadInt(connection, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", kPrunedBefore));
  if (at < pruned.value_or(0)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "what stood at write {} was pruned; the oldest kept is {}", at, *pruned);
  }
  return {};
}

// Requires a parent to be older than its children, so a damaged file cannot form a cycle.
Result<std::vector<ChainLink>> FollowChain(Connection& connection, const Branch& branch, Seq at) {
  std::vector<ChainLink> chain = {{branch.id, branch.name, at}};
  std::optional<std::int64_t> parent;
  Seq fork_seq = 0;
  for (std::int64_t id = branch.id; id != 1; id = *parent) {
    parent.reset();
    std::string name;
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection,
        "SELECT b.parent_id, b.fork_seq, p.name FROM branches AS b "
        "JOIN branches AS p ON p.id = b.parent_id WHERE b.id = ?",
        [&](const store::Statement& row) {
          parent = row.OptionalInt(0);
          fork_seq = row.Int(1);
          name = row.Text(2);
        },
        id));
    if (!parent || *parent >= id) {
      return MakeError(ErrorCode::kDamaged,
                       "the chain of branch \"{}\" is broken at branch {}; see `dossier memory "
                       "check`",
                       branch.name, id);
    }
    chain.push_back({*parent, name, std::min(chain.back().last, fork_seq)});
  }
  return chain;
}

CoreEntry EntryOf(CoreRow row) {
  return {.key = std::move(row.key),
          .value = std::move(*row.value),
          .importance = row.importance,
          .expires_at = row.expires_at,
          .pinned = row.pinned,
          .updated_at = row.updated_at,
          .seq = row.seq,
          .branch = std::move(row.branch)};
}

CoreRow ReadCoreRow(const store::Statement& row, const ChainLink& link) {
  return {.seq = row.Int(0),
          .key = row.Text(1),
          .branch = link.name,
          .value = row.OptionalText(2),
          .importance = static_cast<int>(std::clamp<std::int64_t>(row.Int(3), 1, 5)),
          .expires_at = row.OptionalInt(4),
          .pinned = row.Int(5) != 0,
          .updated_at = row.Int(6)};
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

}  // namespace

std::string ChainJson(const std::vector<ChainLink>& chain) {
  std::string json = "[";
  for (const ChainLink& link : chain) {
    json += fmt::format("{}[{},{}]", json.size() > 1 ? "," : "", link.branch_id, link.last);
  }
  return json + "]";
}

Status CheckBranchName(std::string_view name) {
  if (name.empty() || name.size() > 128 || !std::ranges::all_of(name, IsNameByte)) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "\"{}\" is no branch name: 1 to 128 of A-Z a-z 0-9 _ . : -", name);
  }
  return {};
}

Status CheckCoreKey(std::string_view key) {
  constexpr std::uint64_t kMaxKey = 128;  // code points
  const std::uint64_t length = utf8::CodePoints(key);
  if (length < 1 || length > kMaxKey) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "bad_key: a key has 1 to {} characters, this one {}", kMaxKey, length);
  }
  for (std::size_t at = 0; at < key.size();) {
    if (IsControl(utf8::Next(key, &at))) {
      return MakeError(ErrorCode::kInvalidArgument, "bad_key: \"{}\" holds a control character",
                       utf8::CleanForTerminal(key));
    }
  }
  if (!utf8::IsValid(key)) {
    return MakeError(ErrorCode::kInvalidArgument, "bad_key: a key is UTF-8");
  }
  return {};
}

Status CheckNoSecret(std::string_view key) {
  const std::vector<Secret> found = FindSecrets(key);
  if (found.empty()) return {};
  return MakeError(ErrorCode::kInvalidArgument,
                   "bad_key: the key holds a secret ({}); give it another name",
                   found.front().kind);
}

Result<std::vector<Branch>> LoadBranches(Connection& connection) {
  static const std::string kSql = fmt::format("{}ORDER BY b.id", kBranchColumns);
  std::vector<Branch> branches;
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, kSql, [&](const store::Statement& row) { branches.push_back(ReadBranch(row)); }));
  return branches;
}

Result<std::optional<Branch>> LookUpBranch(Connection& connection, std::string_view name) {
  static const std::string kSql = fmt::format("{}WHERE b.name = ?", kBranchColumns);
  std::optional<Branch> branch;
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, kSql, [&](const store::Statement& row) { branch = ReadBranch(row); }, name));
  return branch;
}

Result<Branch> FindBranch(Connection& connection, std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Branch> branch, LookUpBranch(connection, name));
  if (branch) return *std::move(branch);
  DOSSIER_ASSIGN_OR_RETURN(Error error, NoBranch(connection, name));
  return tl::unexpected(std::move(error));
}

Result<Seq> NewestSeq(Connection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(const auto seq, ReadInt(connection, "SELECT MAX(seq) FROM ops"));
  return seq.value_or(0);
}

Result<Seq> NewestSeqOf(Connection& connection, const Branch& branch) {
  DOSSIER_ASSIGN_OR_RETURN(
      const auto seq,
      ReadInt(connection, "SELECT MAX(seq) FROM ops WHERE branch_id = ?", branch.id));
  return seq.value_or(branch.seq);
}

bool IsLive(const CoreRow& row, Micros now) {
  return row.value && (!row.expires_at || *row.expires_at > now);
}

Result<std::vector<CoreRow>> LoadOwnCoreRows(Connection& connection, const ChainLink& link) {
  std::vector<CoreRow> rows;
  // SQLite takes the other columns from the row that has the maximum.
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection,
      "SELECT MAX(seq), key, value, importance, expires_at, pinned, updated_at FROM core "
      "WHERE branch_id = ? AND seq <= ? GROUP BY key ORDER BY key",
      [&](const store::Statement& row) { rows.push_back(ReadCoreRow(row, link)); }, link.branch_id,
      link.last));
  return rows;
}

Result<std::vector<CoreRow>> LoadCoreRows(Connection& connection,
                                          const std::vector<ChainLink>& chain) {
  std::vector<CoreRow> rows;
  std::set<std::string, std::less<>> seen;
  for (const ChainLink& link : chain) {
    DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> own, LoadOwnCoreRows(connection, link));
    for (CoreRow& row : own) {
      if (seen.insert(row.key).second) rows.push_back(std::move(row));
    }
  }
  return rows;
}

Result<std::optional<CoreRow>> FindCoreRow(Connection& connection,
                                           const std::vector<ChainLink>& chain,
                                           std::string_view key) {
  std::optional<CoreRow> found;
  for (const ChainLink& link : chain) {
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection,
        "SELECT seq, key, value, importance, expires_at, pinned, updated_at FROM core "
        "WHERE branch_id = ? AND key = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
        [&](const store::Statement& row) { found = ReadCoreRow(row, link); }, link.branch_id, key,
        link.last));
    if (found) break;
  }
  return found;
}

Result<View::State> LoadChain(Connection& connection, const ViewRequest& request) {
  DOSSIER_ASSIGN_OR_RETURN(const Branch branch, FindBranch(connection, request.branch));
  DOSSIER_ASSIGN_OR_RETURN(const Seq newest, NewestSeq(connection));
  if (request.at) DOSSIER_RETURN_IF_ERROR(CheckSeq(connection, *request.at, newest));
  View::State state{.at = request.at.value_or(newest), .now = request.now, .index = request.index};
  DOSSIER_ASSIGN_OR_RETURN(state.chain, FollowChain(connection, branch, state.at));
  state.chain_json = ChainJson(state.chain);
  return state;
}

Result<View> LoadView(std::shared_ptr<Connections> connections, Connection& connection,
                      const ViewRequest& request) {
  DOSSIER_ASSIGN_OR_RETURN(View::State state, LoadChain(connection, request));
  DOSSIER_ASSIGN_OR_RETURN(std::vector<CoreRow> rows, LoadCoreRows(connection, state.chain));
  for (CoreRow& row : rows) {
    if (IsLive(row, request.now)) state.core.push_back(EntryOf(std::move(row)));
  }
  std::ranges::sort(state.core, {}, &CoreEntry::key);
  state.connections = std::move(connections);
  state.embedder = request.embedder;
  return View(std::make_shared<const View::State>(std::move(state)));
}

}  // namespace dossier::memory
