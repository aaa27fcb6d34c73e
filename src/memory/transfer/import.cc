#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/block.h"
#include "memory/blocks/block_json.h"
#include "memory/records/types.h"
#include "memory/search/branches.h"
#include "memory/search/rows.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {
namespace {

// One line of an export after the first.
struct Row {
  ImportLine line;
  std::string type, uid;
  Seq seq = 0;  // in the store of origin
  Json value;
};

// The rows of one write in order of dependency; sources name two others and belong to no write.
constexpr std::string_view kTypes[] = {"branch", "record", "core", "hidden", "source"};

std::size_t Rank(const Row& row) {
  return static_cast<std::size_t>(std::ranges::find(kTypes, row.type) - std::begin(kTypes));
}

Result<Micros> TimeField(const Json& value, std::string_view key) {
  DOSSIER_ASSIGN_OR_RETURN(const Clock::Wall time, ParseTime(TextAt(value, key)));
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

Error Bad(std::string_view field) {
  return {ErrorCode::kInvalidArgument, fmt::format("field {} is missing or wrong", field)};
}

class Importing {
 public:
  Importing(const RowAccess& access, std::string store_id, std::string from,
            const WriteContext& context, RowWriter writer)
      : connection_(access.connection),
        now_(access.now),
        redacts_(access.redaction == Redaction::kOn),
        store_id_(std::move(store_id)),
        from_(std::move(from)),
        context_(context),
        writer_(writer) {}

  Result<ImportResult> Take(std::vector<Row> rows) {
    DOSSIER_RETURN_IF_ERROR(LearnKnown());
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
      const auto key = [](const Row& row) {
        return std::tuple(row.type == "source", row.seq, Rank(row));
      };
      return key(a) < key(b);
    });
    for (std::size_t at = 0; at < rows.size();) {
      std::size_t end = at + 1;
      while (end < rows.size() && rows[end].uid == rows[at].uid && !rows[at].uid.empty()) ++end;
      DOSSIER_RETURN_IF_ERROR(TakeWrite({rows.begin() + static_cast<std::ptrdiff_t>(at),
                                         rows.begin() + static_cast<std::ptrdiff_t>(end)}));
      at = end;
    }
    return std::move(result_);
  }

 private:
  // Loads what was written here and what was imported before.
  Status LearnKnown() {
    DOSSIER_ASSIGN_OR_RETURN(const Seq newest, NewestSeq(connection_));
    empty_ = newest == 0;
    known_.emplace(RowUid(store_id_, 0), 0);
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_,
        "SELECT seq, iif(op = 'import', details ->> '$.uid', NULL), details ->> '$.root' FROM ops",
        [&](const store::Statement& row) {
          const auto uid = row.OptionalText(1);
          known_.emplace(uid ? *uid : RowUid(store_id_, row.Int(0)),
                         row.Int(2) == 1 ? 0 : row.Int(0));
        }));
    return ForEachRow(connection_, "SELECT seq, id FROM records",
                      [&](const store::Statement& row) { ids_[row.Int(0)] = row.Int(1); });
  }

  // Imports the rows of one write: all are new, or none.
  Status TakeWrite(std::span<const Row> rows) {
    const Row& first = rows.front();
    if (first.type == "source") return TakeSource(first);
    if (const auto known = known_.find(first.uid); known != known_.end()) {
      result_.unchanged += static_cast<std::int64_t>(rows.size());
      if (first.type == "branch") DOSSIER_RETURN_IF_ERROR(LearnBranch(first, known->second));
      SetNewSeq(first.seq, known->second);
      return {};
    }
    JsonObject details{{"uid", first.uid}, {"store", from_}};
    std::optional<std::int64_t> branch_id;
    DOSSIER_ASSIGN_OR_RETURN(store::Savepoint part, store::Savepoint::Begin(connection_.db()));
    const std::int64_t redacted = result_.redacted;
    for (const Row& row : rows) {
      Result<std::int64_t> branch = TakeRow(row, &details);
      if (!branch) {
        if (branch.error().code != ErrorCode::kInvalidArgument) {
          return tl::unexpected(std::move(branch).error());
        }
        result_.redacted = redacted;
        result_.faults.push_back({row.line.number, row.line.byte, branch.error().message});
        return {};
      }
      branch_id = *branch;
    }
    DOSSIER_RETURN_IF_ERROR(Finish(rows, *branch_id, std::move(details)));
    return part.Release();
  }

  Status Finish(std::span<const Row> rows, std::int64_t branch_id, JsonObject details) {
    const bool is_root = Find(details, "root") != nullptr;
    const std::int64_t id = FindInt(Json(details), "record").value_or(0);
    DOSSIER_ASSIGN_OR_RETURN(const Seq seq, writer_.AddOp({.at = now_,
                                                           .branch_id = branch_id,
                                                           .op = "import",
                                                           .actor = ActorName(context_.actor),
                                                           .block_id = context_.block_id,
                                                           .node_id = context_.node_id,
                                                           .phase = context_.phase,
                                                           .details = std::move(details)}));
    known_.emplace(rows.front().uid, is_root ? 0 : seq);
    if (id != 0) ids_[seq] = id;
    SetNewSeq(rows.front().seq, is_root ? 0 : seq);
    result_.added += static_cast<std::int64_t>(rows.size());
    return {};
  }

  Result<std::int64_t> TakeRow(const Row& row, JsonObject* details) {
    if (row.type == "branch") return TakeBranch(row, details);
    const auto branch = branches_.find(TextAt(row.value, "branch"));
    if (branch == branches_.end()) return tl::unexpected(Bad("branch"));
    if (row.type == "record") DOSSIER_RETURN_IF_ERROR(TakeRecord(row, branch->second, details));
    if (row.type == "core") DOSSIER_RETURN_IF_ERROR(TakeCore(row, branch->second, details));
    if (row.type == "hidden") DOSSIER_RETURN_IF_ERROR(TakeHidden(row, branch->second, details));
    return branch->second;
  }

  // Returns the newest local write among those that represent the other store's writes up to `seq`.
  Seq NewSeqUpTo(Seq seq) const {
    const auto after = new_seqs_.upper_bound(seq);
    return after == new_seqs_.begin() ? 0 : std::prev(after)->second;
  }
  void SetNewSeq(Seq old_seq, Seq new_seq) {
    new_seqs_[old_seq] = std::max(new_seq, NewSeqUpTo(old_seq));
  }

  Status LearnBranch(const Row& row, Seq seq) {
    DOSSIER_ASSIGN_OR_RETURN(const auto id,
                             ReadInt(connection_, "SELECT id FROM branches WHERE seq = ?", seq));
    if (id) branches_[TextAt(row.value, "name")] = *id;
    return {};
  }

  // Returns a free name unchanged; a taken one gets the other store's id.
  Result<std::string> FreeName(const std::string& name) {
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Branch> taken, LookUpBranch(connection_, name));
    if (!taken) return name;
    const std::string other = fmt::format("{}@{}", name, from_.substr(0, 8));
    DOSSIER_ASSIGN_OR_RETURN(const std::optional<Branch> again, LookUpBranch(connection_, other));
    if (again) return tl::unexpected(Bad(fmt::format("name ({} is taken, too)", other)));
    result_.conflicts.push_back(
        fmt::format("branch \"{}\" is another one here; imported as \"{}\"", name, other));
    return other;
  }

  Result<std::int64_t> TakeBranch(const Row& row, JsonObject* details) {
    const std::string name = TextAt(row.value, "name");
    if (Status good = CheckBranchName(name); !good) return tl::unexpected(good.error());
    DOSSIER_ASSIGN_OR_RETURN(const Micros created, TimeField(row.value, "time"));
    if (name == kRootBranch && empty_) {
      (*details)["root"] = 1;
      return branches_[name] = 1;
    }
    std::int64_t parent = 1;
    Seq fork_seq = 0;  // another store's root sees nothing of ours
    if (name != kRootBranch) {
      const auto at = branches_.find(TextAt(row.value, "parent"));
      if (at == branches_.end()) return tl::unexpected(Bad("parent"));
      parent = at->second;
      fork_seq = NewSeqUpTo(FindInt(row.value, "fork_seq").value_or(0));
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::string free, FreeName(name));
    DOSSIER_RETURN_IF_ERROR(Run(connection_, "INSERT INTO branches VALUES(NULL, ?, ?, ?, ?, ?, ?)",
                                free, parent, fork_seq, TextAt(row.value, "node"), created,
                                writer_.next_seq()));
    return branches_[name] = connection_.db().last_insert_id();
  }

  std::optional<std::int64_t> FindId(const Json& value, std::string_view key) const {
    const auto known = known_.find(TextAt(value, key));
    if (known == known_.end()) return std::nullopt;
    const auto id = ids_.find(known->second);
    return id == ids_.end() ? std::nullopt : std::optional(id->second);
  }

  Result<Record> ReadRecord(const Json& value) const {
    const auto tier = FindTier(TextAt(value, "tier"));
    if (!tier) return tl::unexpected(Bad("tier"));
    DOSSIER_ASSIGN_OR_RETURN(const Micros at, TimeField(value, "time"));
    Record record{.tier = *tier,
                  .kind = TextAt(value, "kind"),
                  .text = TextAt(value, "text"),
                  .thread = TextAt(value, "thread"),
                  .ref = TextAt(value, "ref"),
                  .at = at,
                  .phase = TextAt(value, "phase"),
                  .supersedes = FindId(value, "supersedes")};
    // An evicted entry is stored with an additional head.
    constexpr std::size_t kMostBytes = kMaxTextBytes + 4096;
    if (TrimSpace(record.text).empty() || record.text.size() > kMostBytes) {
      return tl::unexpected(Bad("text"));
    }
    if (const Json* tags = Find(value, "tags"); tags && tags->is_array()) {
      for (const Json& tag : tags->as_array()) {
        if (!tag.is_string()) return tl::unexpected(Bad("tags"));
        record.tags.emplace_back(tag.as_string());
      }
    }
    if (const Json* meta = Find(value, "meta"); meta && meta->is_object()) {
      record.meta = meta->as_object();
    }
    return record;
  }

  Status TakeRecord(const Row& row, std::int64_t branch, JsonObject* details) {
    DOSSIER_ASSIGN_OR_RETURN(Record record, ReadRecord(row.value));
    if (redacts_) result_.redacted += RedactRecord(&record);
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t id, writer_.AddRecord(branch, record));
    (*details)["record"] = id;
    return {};
  }

  Status TakeCore(const Row& row, std::int64_t branch, JsonObject* details) {
    CoreRow core{.key = TextAt(row.value, "key"), .pinned = FindBool(row.value, "pinned") == true};
    DOSSIER_RETURN_IF_ERROR(CheckCoreKey(core.key));
    if (const auto value = FindString(row.value, "value")) core.value = *value;
    if (core.value && core.value->size() > kMaxTextBytes) return tl::unexpected(Bad("value"));
    if (core.value && redacts_) result_.redacted += RedactNamed(core.key, &*core.value);
    core.importance = static_cast<int>(
        std::clamp<std::int64_t>(FindInt(row.value, "importance").value_or(3), 1, 5));
    if (FindString(row.value, "expires")) {
      DOSSIER_ASSIGN_OR_RETURN(core.expires_at, TimeField(row.value, "expires"));
    }
    DOSSIER_ASSIGN_OR_RETURN(core.updated_at, TimeField(row.value, "time"));
    (*details)["key"] = core.key;
    return writer_.AddCore(branch, core);
  }

  Status TakeHidden(const Row& row, std::int64_t branch, JsonObject* details) {
    const auto reason = FindHideReason(TextAt(row.value, "reason"));
    const auto id = FindId(row.value, "record");
    if (!reason) return tl::unexpected(Bad("reason"));
    if (!id) return tl::unexpected(Bad("record"));
    // A branch can hide only what it sees.
    DOSSIER_ASSIGN_OR_RETURN(
        const auto seen,
        ReadInt(connection_,
                "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT b.parent_id FROM up JOIN "
                "branches AS b ON b.id = up.id WHERE b.parent_id IS NOT NULL) "
                "SELECT 1 FROM records WHERE id = ?2 AND branch_id IN (SELECT id FROM up)",
                branch, *id));
    if (!seen) return tl::unexpected(Bad("record"));
    Json& hides = (*details)["hides"];
    if (!hides.is_array()) hides = JsonArray();
    hides.as_array().emplace_back(*id);
    return writer_.AddHidden(branch, *id, *reason);
  }

  Status TakeSource(const Row& row) {
    const auto summary = FindId(row.value, "summary");
    const auto record = FindId(row.value, "record");
    if (!summary || !record) {
      result_.faults.push_back({row.line.number, row.line.byte, Bad("summary or record").message});
      return {};
    }
    DOSSIER_RETURN_IF_ERROR(
        Run(connection_, "INSERT OR IGNORE INTO summary_sources VALUES(?, ?)", *summary, *record));
    ++(connection_.db().changes() > 0 ? result_.added : result_.unchanged);
    return {};
  }

  Connection& connection_;
  const Micros now_;
  const bool redacts_;
  const std::string store_id_, from_;
  const WriteContext& context_;
  RowWriter writer_;
  bool empty_ = false;
  std::unordered_map<std::string, Seq> known_;    // uid -> number here
  std::unordered_map<Seq, std::int64_t> ids_;     // number here -> record
  std::map<Seq, Seq> new_seqs_;                   // number there -> newest here up to it
  std::map<std::string, std::int64_t> branches_;  // name there -> id here
  ImportResult result_;
};

Result<std::string> ReadHead(ImportReader* lines) {
  const auto line = lines->Next();
  const auto head = line ? ReadObject(*line) : tl::unexpected(LineFault());
  if (!head || FindString(*head, "schema") != kExportSchema ||
      TextAt(*head, "store_id").size() < 8) {
    return MakeError(ErrorCode::kDamaged,
                     "this is no export of memory: its first line must have \"schema\": \"{}\" and "
                     "a store_id",
                     kExportSchema);
  }
  return TextAt(*head, "store_id");
}

Result<Row> RowOf(const ImportLine& line, Json value) {
  Row row{.line = line,
          .type = TextAt(value, "type"),
          .uid = TextAt(value, "uid"),
          .seq = FindInt(value, "seq").value_or(-1),
          .value = std::move(value)};
  if (std::ranges::find(kTypes, row.type) == std::end(kTypes)) return tl::unexpected(Bad("type"));
  if (row.type != "source" && row.uid.empty()) return tl::unexpected(Bad("uid"));
  if (row.type != "source" && row.seq < 0) return tl::unexpected(Bad("seq"));
  return row;
}

}  // namespace

Result<ImportResult> ImportLines(Store& store, std::string_view text, const WriteContext& context) {
  ImportReader lines(text);
  DOSSIER_ASSIGN_OR_RETURN(const std::string from, ReadHead(&lines));
  std::vector<Row> rows;
  std::vector<LineFault> faults;
  for (auto line = lines.Next(); line; line = lines.Next()) {
    tl::expected<Json, LineFault> value = ReadObject(*line);
    if (!value) {
      faults.push_back(std::move(value).error());
      continue;
    }
    Result<Row> row = RowOf(*line, *std::move(value));
    if (row) {
      rows.push_back(*std::move(row));
    } else {
      faults.push_back({line->number, line->byte, row.error().message});
    }
  }
  ImportResult result;
  DOSSIER_RETURN_IF_ERROR(store.WriteRows([&](const RowAccess& access) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const RowWriter writer,
                             RowWriter::Make(access.connection, access.embedder));
    Importing importing(access, store.store_id(), from, context, writer);
    DOSSIER_ASSIGN_OR_RETURN(result, importing.Take(std::move(rows)));
    return {};
  }));
  std::ranges::move(faults, std::back_inserter(result.faults));
  std::ranges::sort(result.faults, {}, &LineFault::line);
  return result;
}

namespace {

// Lines per transaction: enough to make its cost small, few enough to let others take a turn.
constexpr std::size_t kLinesTogether = 5000;

Result<Record> RecordOf(const Json& value, Tier tier) {
  std::vector<Notice> warnings;
  BlockOperation read = CheckValue(OperationOf(OperationId::kRecallAppend), "$", value, warnings);
  if (const auto* bad = std::get_if<BadValue>(&read.value)) {
    return MakeError(ErrorCode::kInvalidArgument, "{}", bad->Text());
  }
  Record record = std::move(std::get<NewRecords>(read.value).records.front());
  record.tier = tier;
  if (tier != Tier::kRecall && !Find(value, "kind")) record.kind.clear();
  return record;
}

class Loading {
 public:
  Loading(Store& store, std::string_view branch, const LoadOptions& options)
      : store_(store), branch_(branch), options_(options) {}

  Status Take(const ImportLine& line) {
    tl::expected<Json, LineFault> value = ReadObject(line);
    if (!value) {
      result_.faults.push_back(std::move(value).error());
      return {};
    }
    Result<Record> record = RecordOf(*value, options_.tier);
    if (!record) {
      AddFault(line, record.error());
      return {};
    }
    batch_.push_back({line, *std::move(record)});
    return batch_.size() < kLinesTogether ? Status() : Flush();
  }

  Status Flush() {
    LoadResult added;
    const auto work = [&](BranchTransaction& session) -> Status {
      added = {};
      for (const auto& [line, record] : batch_) {
        DOSSIER_RETURN_IF_ERROR(Add(session, line, record, &added));
      }
      return {};
    };
    if (!batch_.empty()) {
      DOSSIER_RETURN_IF_ERROR(store_.Transact(branch_, options_.context, work));
    }
    batch_.clear();
    result_.added += added.added;
    result_.unchanged += added.unchanged;
    result_.redacted += added.redacted;
    std::ranges::move(added.faults, std::back_inserter(result_.faults));
    return {};
  }

  LoadResult Finish() {
    std::ranges::sort(result_.faults, {}, &LineFault::line);
    return std::move(result_);
  }

 private:
  struct Waiting {
    ImportLine line;
    Record record;
  };

  void AddFault(const ImportLine& line, const Error& error) {
    result_.faults.push_back({line.number, line.byte, error.message});
  }

  // A rejected line fails alone; a disk error ends the load.
  static Status Add(BranchTransaction& session, const ImportLine& line, const Record& record,
                    LoadResult* added) {
    const Result<RecordWrite> written = session.Add(record);
    if (written) {
      ++(written->unchanged ? added->unchanged : added->added);
      added->redacted += written->redacted;
      return {};
    }
    const ErrorCode code = written.error().code;
    if (code != ErrorCode::kInvalidArgument && code != ErrorCode::kNotFound) {
      return tl::unexpected(written.error());
    }
    added->faults.push_back({line.number, line.byte, written.error().message});
    return {};
  }

  Store& store_;
  const std::string_view branch_;
  const LoadOptions& options_;
  std::vector<Waiting> batch_;
  LoadResult result_;
};

}  // namespace

Result<Record> ReadLoadLine(std::string_view line, Tier tier) {
  const tl::expected<Json, LineFault> value = ReadObject({line, 1, 0});
  if (!value) {
    return MakeError(ErrorCode::kInvalidArgument, "byte {}: {}", value.error().byte,
                     value.error().message);
  }
  return RecordOf(*value, tier);
}

Result<LoadResult> LoadLines(Store& store, std::string_view branch, std::string_view text,
                             const LoadOptions& options) {
  // Reports a missing branch before reading any line.
  DOSSIER_RETURN_IF_ERROR(store.Snapshot(branch));
  Loading loading(store, branch, options);
  ImportReader lines(text);
  for (auto line = lines.Next(); line; line = lines.Next()) {
    DOSSIER_RETURN_IF_ERROR(loading.Take(*line));
  }
  DOSSIER_RETURN_IF_ERROR(loading.Flush());
  return loading.Finish();
}

std::optional<ImportLine> ImportReader::Next() {
  while (at_ < text_.size()) {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    at_ = end + 1;
    ++number_;
    std::string_view line = text_.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!TrimSpace(line).empty())
      return ImportLine{line, number_, static_cast<std::int64_t>(begin)};
  }
  return std::nullopt;
}

tl::expected<Json, LineFault> ReadObject(const ImportLine& line) {
  const auto fault = [&](std::size_t at, std::string message) {
    return tl::unexpected(
        LineFault{line.number, line.byte + static_cast<std::int64_t>(at), std::move(message)});
  };
  if (!utf8::IsValid(line.text)) return fault(utf8::FirstInvalid(line.text), "not UTF-8");
  Result<Json> value = ParseJson(line.text);
  if (!value) {
    const auto wrong = ReadBlockJson(line.text).fault;
    if (wrong) return fault(wrong->offset, fmt::format("expected {}", wrong->expected));
    return fault(0, value.error().message);
  }
  if (!value->is_object()) return fault(0, "expected a JSON object");
  return *std::move(value);
}

}  // namespace dossier::memory
