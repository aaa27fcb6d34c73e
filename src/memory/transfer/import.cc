#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/block.h"
#include "memory/blocks/block_json.h"
#include "memory/records/types.h"
#include "memory/search/branches.h"
#include "memory/search/rows.h"
#include "memory/transfer/import_order.h"
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

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool IsStoreId(std::string_view text) { return text.size() == 32 && IsHex(text); }

// The name of a branch, with an "@" and 8 digits for each import that found its name taken.
Status CheckImportedName(std::string_view name) {
  constexpr std::size_t kSuffix = 9;
  constexpr std::size_t kMost = 256;
  std::string_view plain = name;
  while (name.size() <= kMost && plain.size() > kSuffix && plain[plain.size() - kSuffix] == '@' &&
         IsHex(plain.substr(plain.size() - kSuffix + 1))) {
    plain.remove_suffix(kSuffix);
  }
  return CheckBranchName(plain);
}

ImportedItem KeyItem(std::int64_t branch, std::string_view key) {
  return {branch, fmt::format("key {}", key)};
}
ImportedItem HiddenItem(std::int64_t branch, std::int64_t record) {
  return {branch, fmt::format("record {}", record)};
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
    for (const Row& row : rows) there_[row.uid] = std::max(there_[row.uid], row.seq);
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
    std::unordered_map<Seq, Seq> origins;  // number here -> there
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_,
        "SELECT seq, iif(op = 'import', details ->> '$.uid', NULL), details ->> '$.root', "
        "iif(op = 'import' AND details ->> '$.store' = ?, details ->> '$.seq', NULL), branch_id "
        "FROM ops ORDER BY seq",
        [&](const store::Statement& row) {
          const std::string uid = row.OptionalText(1).value_or(RowUid(store_id_, row.Int(0)));
          known_.emplace(uid, row.Int(2) == 1 ? 0 : row.Int(0));
          const auto found = there_.find(uid);
          const auto there =
              found != there_.end() ? std::optional(found->second) : row.OptionalInt(3);
          if (!there) return;
          origins[row.Int(0)] = *there;
          order_.AddWrite(row.Int(0), row.Int(4), *there);
        },
        from_));
    DOSSIER_RETURN_IF_ERROR(LearnItems(origins));
    return ForEachRow(connection_, "SELECT seq, id FROM records",
                      [&](const store::Statement& row) { ids_[row.Int(0)] = row.Int(1); });
  }

  Status LearnItems(const std::unordered_map<Seq, Seq>& origins) {
    const auto learn = [&](ImportedItem item, Seq here) {
      const auto there = origins.find(here);
      if (there != origins.end()) order_.AddItem(item, there->second);
    };
    DOSSIER_RETURN_IF_ERROR(ForEachRow(
        connection_, "SELECT branch_id, key, seq FROM core",
        [&](const store::Statement& row) { learn(KeyItem(row.Int(0), row.Text(1)), row.Int(2)); }));
    return ForEachRow(connection_, "SELECT branch_id, record_id, seq FROM hidden",
                      [&](const store::Statement& row) {
                        learn(HiddenItem(row.Int(0), row.Int(1)), row.Int(2));
                      });
  }

  // Imports the rows of one write: all are new, or none.
  Status TakeWrite(std::span<const Row> rows) {
    new_branches_.clear();
    const Row& first = rows.front();
    if (first.type == "source") return TakeSource(first);
    if (const auto known = known_.find(first.uid); known != known_.end()) {
      return TakeKnown(rows, known->second);
    }
    JsonObject details = DetailsOf(first);
    std::optional<std::int64_t> branch_id;
    DOSSIER_ASSIGN_OR_RETURN(store::Savepoint part, store::Savepoint::Begin(connection_.db()));
    const std::tuple before(result_.added, result_.unchanged, result_.redacted);
    const std::size_t conflicts = result_.conflicts.size();
    for (const Row& row : rows) {
      DOSSIER_ASSIGN_OR_RETURN(branch_id, TakeOrBlame(row, &details, writer_));
      if (branch_id) continue;
      std::tie(result_.added, result_.unchanged, result_.redacted) = before;
      result_.conflicts.resize(conflicts);
      return {};
    }
    if (result_.added == std::get<0>(before)) return {};  // all of it is replaced here
    DOSSIER_RETURN_IF_ERROR(Finish(first, *branch_id, std::move(details)));
    DOSSIER_RETURN_IF_ERROR(part.Release());
    for (const auto& [name, id] : new_branches_) branches_[name] = id;
    for (const Row& row : rows) NoteItem(row);
    return {};
  }

  // A write that is here already: an export of a view holds some of its rows, one of all the
  // others.
  Status TakeKnown(std::span<const Row> rows, Seq seq) {
    DOSSIER_ASSIGN_OR_RETURN(
        const auto text,
        ReadText(connection_, "SELECT details FROM ops WHERE seq = ? AND op = 'import'", seq));
    std::optional<JsonObject> details;  // none: it was written here, so that no row is missing
    if (text) {
      DOSSIER_ASSIGN_OR_RETURN(Json read, ParseJson(*text));
      if (read.is_object()) details = std::move(read.get_object());
    }
    const std::int64_t before = result_.added;
    for (const Row& row : rows) {
      if (row.type == "branch") DOSSIER_RETURN_IF_ERROR(LearnBranch(row, seq));
      if (row.type == "branch" || !details || Holds(*details, row)) {
        ++result_.unchanged;
        if (details && row.type == "record") DOSSIER_RETURN_IF_ERROR(LinkReplaced(row, seq));
        continue;
      }
      RowWriter writer = writer_.Within(seq);
      DOSSIER_ASSIGN_OR_RETURN(const auto branch_id, TakeOrBlame(row, &*details, writer));
      if (branch_id) NoteItem(row);
      if (const auto id = FindInt(Json(*details), "record")) ids_[seq] = *id;
    }
    if (result_.added > before) {
      DOSSIER_RETURN_IF_ERROR(
          Run(connection_, "UPDATE ops SET details = ? WHERE seq = ?", ToJson(*details), seq));
    }
    order_.SetHere(rows.front().seq, seq);
    return {};
  }

  // Whether a write with such details has, or had before it was pruned, this row.
  bool Holds(const JsonObject& details, const Row& row) const {
    if (row.type == "core") return Find(details, "key") != nullptr;
    if (row.type == "record") return Find(details, "record") != nullptr;
    const auto id = FindId(row.value, "record");
    const Json* hides = Find(details, "hides");
    return !id || (hides && hides->is_array() &&
                   std::ranges::find(hides->as_array(), Json(*id)) != hides->as_array().end());
  }

  // A record that is here learns which one it replaced, if that came later.
  Status LinkReplaced(const Row& row, Seq seq) {
    const auto replaced = FindId(row.value, "supersedes");
    const auto id = ids_.find(seq);
    if (!replaced || id == ids_.end()) return {};
    return Run(connection_, "UPDATE records SET supersedes = ? WHERE id = ? AND supersedes IS NULL",
               *replaced, id->second);
  }

  JsonObject DetailsOf(const Row& row) const {
    return {{"uid", row.uid}, {"store", from_}, {"seq", row.seq}};
  }

  Status Finish(const Row& row, std::int64_t branch_id, JsonObject details) {
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
    known_.emplace(row.uid, is_root ? 0 : seq);
    order_.AddWrite(seq, branch_id, row.seq);
    if (id != 0) ids_[seq] = id;
    order_.SetHere(row.seq, is_root ? 0 : seq);
    return {};
  }

  // The row's branch; none if it is refused, which is a fault then.
  Result<std::optional<std::int64_t>> TakeOrBlame(const Row& row, JsonObject* details,
                                                  RowWriter& writer) {
    Result<std::int64_t> branch = TakeRow(row, details, writer);
    if (branch) return std::optional(*branch);
    if (branch.error().code != ErrorCode::kInvalidArgument) {
      return tl::unexpected(std::move(branch).error());
    }
    result_.faults.push_back({row.line.number, row.line.byte, branch.error().message});
    return std::optional<std::int64_t>();
  }

  Result<std::int64_t> TakeRow(const Row& row, JsonObject* details, RowWriter& writer) {
    std::int64_t id = 0;
    if (row.type == "branch") {
      DOSSIER_ASSIGN_OR_RETURN(id, TakeBranch(row, details));
      ++result_.added;
      return id;
    }
    const auto branch = FindBranch(row, "branch");
    if (!branch) return tl::unexpected(Bad("branch"));
    id = *branch;
    // Added behind a newer row of the store that both come from, an older one would be the newest
    // here.
    if (const auto item = ItemOf(row, id); item && order_.IsReplaced(*item, row.seq)) {
      ++result_.unchanged;
      return id;
    }
    if (row.type == "record") DOSSIER_RETURN_IF_ERROR(TakeRecord(row, id, details, writer));
    if (row.type == "core") DOSSIER_RETURN_IF_ERROR(TakeCore(row, id, details, writer));
    if (row.type == "hidden") DOSSIER_RETURN_IF_ERROR(TakeHidden(row, id, details, writer));
    ++result_.added;
    return id;
  }

  std::optional<ImportedItem> ItemOf(const Row& row, std::int64_t branch) const {
    if (row.type == "core") return KeyItem(branch, TextAt(row.value, "key"));
    const auto id = row.type == "hidden" ? FindId(row.value, "record") : std::nullopt;
    return id ? std::optional(HiddenItem(branch, *id)) : std::nullopt;
  }

  // Notes that a row is stored.
  void NoteItem(const Row& row) {
    const auto branch = FindBranch(row, "branch");
    const auto item = branch ? ItemOf(row, *branch) : std::nullopt;
    if (item) order_.AddItem(*item, row.seq);
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
    if (Status good = CheckImportedName(name); !good) return tl::unexpected(good.error());
    DOSSIER_ASSIGN_OR_RETURN(const Micros created, TimeField(row.value, "time"));
    if (name == kRootBranch && empty_) {
      (*details)["root"] = 1;
      return new_branches_[name] = 1;
    }
    std::int64_t parent = 1;
    Seq fork_seq = 0;  // another store's root sees nothing of ours
    if (name != kRootBranch) {
      const auto at = FindBranch(row, "parent");
      if (!at) return tl::unexpected(Bad("parent"));
      parent = *at;
      const Seq fork_there = FindInt(row.value, "fork_seq").value_or(0);
      fork_seq = order_.HereUpTo(fork_there);
      if (!order_.HoldsStateAt(parent, fork_there)) {
        return MakeError(ErrorCode::kInvalidArgument,
                         "branch \"{}\" is not imported: later writes of \"{}\" came here before "
                         "those that it begins with; import the whole export into a new store",
                         name, TextAt(row.value, "parent"));
      }
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::string free, FreeName(name));
    DOSSIER_RETURN_IF_ERROR(Run(connection_, "INSERT INTO branches VALUES(NULL, ?, ?, ?, ?, ?, ?)",
                                free, parent, fork_seq, TextAt(row.value, "node"), created,
                                writer_.next_seq()));
    return new_branches_[name] = connection_.db().last_insert_id();
  }

  // The branch here that a field of a row names.
  std::optional<std::int64_t> FindBranch(const Row& row, std::string_view field) const {
    const std::string name = TextAt(row.value, field);
    for (const auto* branches : {&new_branches_, &branches_}) {
      if (const auto found = branches->find(name); found != branches->end()) return found->second;
    }
    return std::nullopt;
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

  Status TakeRecord(const Row& row, std::int64_t branch, JsonObject* details, RowWriter& writer) {
    DOSSIER_ASSIGN_OR_RETURN(Record record, ReadRecord(row.value));
    if (redacts_) result_.redacted += RedactRecord(&record);
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t id, writer.AddRecord(branch, record));
    (*details)["record"] = id;
    return {};
  }

  Status TakeCore(const Row& row, std::int64_t branch, JsonObject* details, RowWriter& writer) {
    CoreRow core{.key = TextAt(row.value, "key"), .pinned = FindBool(row.value, "pinned") == true};
    DOSSIER_RETURN_IF_ERROR(CheckCoreKey(core.key));
    if (redacts_) DOSSIER_RETURN_IF_ERROR(CheckNoSecret(core.key));
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
    return writer.AddCore(branch, core);
  }

  Status TakeHidden(const Row& row, std::int64_t branch, JsonObject* details, RowWriter& writer) {
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
    return writer.AddHidden(branch, *id, *reason);
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
  std::unordered_map<std::string, Seq> there_;  // uid -> newest number there
  std::unordered_map<std::string, Seq> known_;  // uid -> number here
  std::unordered_map<Seq, std::int64_t> ids_;   // number here -> record
  ImportOrder order_;
  std::map<std::string, std::int64_t> branches_;      // name there -> id here
  std::map<std::string, std::int64_t> new_branches_;  // the same of the write that is being taken
  ImportResult result_;
};

Result<std::string> ReadHead(ImportReader* lines) {
  const auto line = lines->Next();
  const auto head = line ? ReadObject(*line) : tl::unexpected(LineFault());
  if (!head || FindString(*head, "schema") != kExportSchema ||
      !IsStoreId(TextAt(*head, "store_id"))) {
    return MakeError(ErrorCode::kDamaged,
                     "this is no export of memory: its first line must have \"schema\": \"{}\" and "
                     "a store_id of 32 hex digits",
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
