#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text/text.h"
#include "memory/records/types.h"
#include "memory/search/branches.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {
namespace {

struct Exported {
  JsonObject head;
  std::vector<JsonObject> branches, rows;
};

Json OptionalTime(const std::optional<Micros>& time) {
  return time ? Json(FormatMicrosTime(*time)) : Json(nullptr);
}

class Exporting {
 public:
  Exporting(const RowAccess& rows, const ExportOptions& options, std::string_view store_id)
      : connection_(rows.connection),
        redacts_(rows.redaction == Redaction::kOn),
        now_(rows.now),
        options_(options),
        store_id_(store_id) {}

  Result<Exported> Read() {
    DOSSIER_ASSIGN_OR_RETURN(
        state_, LoadChain(connection_, {.branch = options_.branch, .at = options_.at}));
    DOSSIER_RETURN_IF_ERROR(ReadOrigins());
    DOSSIER_RETURN_IF_ERROR(ReadBranches());
    DOSSIER_RETURN_IF_ERROR(ReadCore());
    DOSSIER_RETURN_IF_ERROR(ReadRecords());
    DOSSIER_RETURN_IF_ERROR(ReadHidden());
    DOSSIER_RETURN_IF_ERROR(ReadSources());
    exported_.head = {{"schema", kExportSchema},
                      {"store_id", store_id_},
                      {"branches", exported_.branches.size()},
                      {"rows", exported_.rows.size()},
                      {"seq", state_.at}};
    return std::move(exported_);
  }

 private:
  bool all() const { return options_.scope == ExportScope::kAll; }

  // Imported rows keep their uid, so that their source store recognises them.
  Status ReadOrigins() {
    return ForEachRow(connection_,
                      "SELECT seq, branch_id, details ->> '$.uid', details ->> '$.root' FROM ops "
                      "WHERE op = 'import'",
                      [&](const store::Statement& row) {
                        origins_[row.Int(3) == 1 ? 0 : row.Int(0)] = row.Text(2);
                      });
  }

  std::string UidOf(Seq seq) const {
    const auto origin = origins_.find(seq);
    return origin == origins_.end() ? RowUid(store_id_, seq) : origin->second;
  }

  JsonObject Line(std::string_view type, Seq seq, std::string_view branch) const {
    return {{"type", type}, {"uid", UidOf(seq)}, {"seq", seq}, {"branch", branch}};
  }

  std::string Clean(std::string text) const {
    if (redacts_) RedactSecrets(&text);
    return text;
  }

  Status ReadBranches() {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<Branch> branches, LoadBranches(connection_));
    for (const Branch& branch : branches) {
      names_[branch.id] = branch.name;
      if (!all() &&
          std::ranges::find(state_.chain, branch.id, &ChainLink::branch_id) == state_.chain.end()) {
        continue;
      }
      exported_.branches.push_back({{"type", "branch"},
                                    {"uid", UidOf(branch.seq)},
                                    {"seq", branch.seq},
                                    {"name", branch.name},
                                    {"parent", branch.parent},
                                    {"fork_seq", branch.fork_seq},
                                    {"node", branch.node},
                                    {"time", FormatMicrosTime(branch.created_at)}});
    }
    return {};
  }

  void AddCore(const CoreRow& row) {
    JsonObject line = Line("core", row.seq, row.branch);
    line["key"] = Clean(row.key);
    std::optional<std::string> value = row.value;
    if (value && redacts_) RedactNamed(row.key, &*value);
    line["value"] = value ? Json(*value) : Json(nullptr);
    line["importance"] = row.importance;
    line["expires"] = OptionalTime(row.expires_at);
    line["pinned"] = row.pinned;
    line["time"] = FormatMicrosTime(row.updated_at);
    exported_.rows.push_back(std::move(line));
  }

  Status ReadCore() {
    if (!all()) {
      DOSSIER_ASSIGN_OR_RETURN(const std::vector<CoreRow> rows,
                               LoadCoreRows(connection_, state_.chain));
      for (const CoreRow& row : rows) {
        if (IsLive(row, now_)) AddCore(row);
      }
      return {};
    }
    return ForEachRow(connection_,
                      "SELECT seq, branch_id, key, value, importance, expires_at, pinned, "
                      "updated_at FROM core ORDER BY seq",
                      [&](const store::Statement& row) {
                        AddCore({.seq = row.Int(0),
                                 .key = row.Text(2),
                                 .branch = names_[row.Int(1)],
                                 .value = row.OptionalText(3),
                                 .importance = static_cast<int>(row.Int(4)),
                                 .expires_at = row.OptionalInt(5),
                                 .pinned = row.Int(6) != 0,
                                 .updated_at = row.Int(7)});
                      });
  }

  Json UidOfRecord(const std::optional<std::int64_t>& id) const {
    const auto seq = id ? record_seqs_.find(*id) : record_seqs_.end();
    return seq == record_seqs_.end() ? Json(nullptr) : Json(UidOf(seq->second));
  }

  void AddRecord(const Record& record) {
    JsonObject line = Line("record", record.seq, record.branch);
    line["id"] = record.id;
    line["tier"] = TierName(record.tier);
    line["kind"] = Clean(record.kind);
    line["text"] = Clean(record.text);
    line["thread"] = Clean(record.thread);
    line["ref"] = Clean(record.ref);
    line["time"] = FormatMicrosTime(record.at);
    line["phase"] = Clean(record.phase);
    line["supersedes"] = UidOfRecord(record.supersedes);
    JsonArray tags;
    for (const std::string& tag : record.tags) tags.emplace_back(Clean(tag));
    line["tags"] = std::move(tags);
    JsonObject meta = record.meta;
    if (redacts_) RedactJson(&meta);
    line["meta"] = std::move(meta);
    exported_.rows.push_back(std::move(line));
  }

  Status ReadRecords() {
    const std::string all_sql =
        fmt::format("{}SELECT {} FROM records AS r ORDER BY r.id", WithChain(), RecordColumns());
    const std::string sql = all() ? all_sql : VisibleRecords(RecordColumns(), "ORDER BY r.id");
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<Record> records,
                             LoadRecords(connection_, state_, sql));
    for (const Record& record : records) record_seqs_[record.id] = record.seq;
    for (const Record& record : records) AddRecord(record);
    return {};
  }

  // For a view: the records that it consolidated, so that the window is the same elsewhere.
  Status ReadHidden() {
    const std::string sql = fmt::format(
        "{}SELECT h.branch_id, h.record_id, h.seq, h.reason FROM hidden AS h {} "
        "ORDER BY h.seq, h.record_id",
        WithChain(),
        all() ? "WHERE ?1 IS NOT NULL"
              : "JOIN chain ON chain.branch_id = h.branch_id AND h.seq <= chain.last "
                "WHERE h.reason IN ('consolidated', 'restored')");
    return ForEachRow(
        connection_, sql,
        [&](const store::Statement& row) {
          if (!record_seqs_.contains(row.Int(1))) return;
          JsonObject line = Line("hidden", row.Int(2), names_[row.Int(0)]);
          line["record"] = UidOfRecord(row.Int(1));
          line["reason"] = row.Text(3);
          exported_.rows.push_back(std::move(line));
        },
        state_.chain_json);
  }

  Status ReadSources() {
    return ForEachRow(
        connection_,
        "SELECT summary_id, record_id FROM summary_sources ORDER BY summary_id, record_id",
        [&](const store::Statement& row) {
          if (!record_seqs_.contains(row.Int(0)) || !record_seqs_.contains(row.Int(1))) return;
          exported_.rows.push_back({{"type", "source"},
                                    {"summary", UidOfRecord(row.Int(0))},
                                    {"record", UidOfRecord(row.Int(1))}});
        });
  }

  Connection& connection_;
  const bool redacts_;
  const Micros now_;
  const ExportOptions& options_;
  const std::string store_id_;
  View::State state_;
  std::map<Seq, std::string> origins_;         // uids of what was imported
  std::map<std::int64_t, std::string> names_;  // branch names
  std::map<std::int64_t, Seq> record_seqs_;    // writes that stored the exported records
  Exported exported_;
};

Status WriteLines(const Exported& exported, const ExportSink& sink) {
  DOSSIER_RETURN_IF_ERROR(sink(ToJson(exported.head) + "\n"));
  for (const auto* lines : {&exported.branches, &exported.rows}) {
    for (const JsonObject& line : *lines) DOSSIER_RETURN_IF_ERROR(sink(ToJson(line) + "\n"));
  }
  return {};
}

Status WriteObject(Exported exported, const ExportSink& sink) {
  exported.head["branches"] = JsonArray(exported.branches.begin(), exported.branches.end());
  exported.head["rows"] = JsonArray(exported.rows.begin(), exported.rows.end());
  return sink(ToPrettyJson(exported.head) + "\n");
}

// Text is written unchanged with further lines indented, so that it stays within its item.
std::string Item(std::string_view label, std::string_view text) {
  return ReplaceAll(fmt::format("- {}{}", label, text), "\n", "\n  ") + "\n";
}

Status WriteMarkdown(const View& view, Redaction redaction, const ExportSink& sink) {
  const auto clean = [&](std::string text) {
    if (redaction == Redaction::kOn) RedactSecrets(&text);
    return text;
  };
  DOSSIER_RETURN_IF_ERROR(
      sink(fmt::format("# Memory of branch {}, as of write {}\n", view.branch(), view.at())));
  if (!view.AllCore().empty()) DOSSIER_RETURN_IF_ERROR(sink("\n## Core\n\n"));
  for (const CoreEntry& entry : view.AllCore()) {
    DOSSIER_RETURN_IF_ERROR(sink(Item("", clean(entry.key + ": " + entry.value))));
  }
  constexpr std::pair<Tier, std::string_view> kSections[] = {
      {Tier::kRecall, "Recall"}, {Tier::kArchival, "Archival"}, {Tier::kSummary, "Summaries"}};
  for (const auto& [tier, title] : kSections) {
    DOSSIER_ASSIGN_OR_RETURN(std::vector<Record> records, view.Records({.tiers = {tier}}));
    if (!records.empty()) DOSSIER_RETURN_IF_ERROR(sink(fmt::format("\n## {}\n\n", title)));
    std::ranges::reverse(records);  // oldest first, as things happened
    for (const Record& record : records) {
      const std::string tags =
          record.tags.empty() ? "" : fmt::format(" ({})", fmt::join(record.tags, ", "));
      DOSSIER_RETURN_IF_ERROR(sink(
          Item(fmt::format("#{} {}{}{}: ", record.id, FormatMicrosTime(record.at),
                           record.kind.empty() ? "" : " [" + clean(record.kind) + "]", clean(tags)),
               clean(record.text))));
    }
  }
  return {};
}

}  // namespace

std::string RowUid(std::string_view store_id, Seq seq) {
  return Sha256Hex(fmt::format("{}:{}", store_id, seq)).substr(0, 32);
}

Status ExportStore(const Store& store, const ExportOptions& options, const ExportSink& sink) {
  if (options.format == ExportFormat::kMarkdown) {
    DOSSIER_ASSIGN_OR_RETURN(const View view, store.Snapshot(options.branch, options.at));
    Redaction redaction = Redaction::kOn;
    DOSSIER_RETURN_IF_ERROR(store.ReadRows([&](const RowAccess& rows) -> Status {
      redaction = rows.redaction;
      return {};
    }));
    return WriteMarkdown(view, redaction, sink);
  }
  Exported exported;
  DOSSIER_RETURN_IF_ERROR(store.ReadRows([&](const RowAccess& rows) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(exported, Exporting(rows, options, store.store_id()).Read());
    return {};
  }));
  return options.format == ExportFormat::kJsonl ? WriteLines(exported, sink)
                                                : WriteObject(std::move(exported), sink);
}

}  // namespace dossier::memory
