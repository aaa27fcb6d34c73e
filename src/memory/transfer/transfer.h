// Memory as files: loads records from lines, exports a store, and imports it into another.
//
//   DOSSIER_ASSIGN_OR_RETURN(LoadResult loaded, LoadLines(store, "root", jsonl, {}));
//   DOSSIER_RETURN_IF_ERROR(ExportStore(store, {.format = ExportFormat::kJsonl}, sink));
//   DOSSIER_ASSIGN_OR_RETURN(ImportResult imported, ImportLines(other, exported, {}));
//
// docs/formats/memory.md describes the fields. Offsets are bytes in the whole text; lines count
// from 1. Thread-safety: as Store. Errors: those of Store.

#ifndef DOSSIER_MEMORY_TRANSFER_TRANSFER_H_
#define DOSSIER_MEMORY_TRANSFER_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "memory/store/store.h"

namespace dossier::memory {

// A line that was rejected; the other lines were accepted.
struct LineFault {
  std::int64_t line = 0;
  std::int64_t byte = 0;
  std::string message;
};

struct LoadOptions {
  Tier tier = Tier::kRecall;
  WriteContext context;
};
struct LoadResult {
  std::int64_t added = 0, unchanged = 0, redacted = 0;
  std::vector<LineFault> faults;
};
// Reads one record from a line of JSON. Errors: kInvalidArgument.
Result<Record> ReadLoadLine(std::string_view line, Tier tier);
// Blank lines are skipped.
Result<LoadResult> LoadLines(Store& store, std::string_view branch, std::string_view text,
                             const LoadOptions& options);

enum class ExportFormat : std::uint8_t { kJsonl, kJson, kMarkdown };
// kAll: every row of every branch, including what is hidden and what was replaced.
enum class ExportScope : std::uint8_t { kView, kAll };
struct ExportOptions {
  ExportFormat format = ExportFormat::kJsonl;
  ExportScope scope = ExportScope::kView;
  std::string branch = std::string(kRootBranch);
  std::optional<Seq> at;  // for kView
};
using ExportSink = std::function<Status(std::string_view)>;
// kMarkdown is for people and always covers one view. Errors also: those of `sink`.
Status ExportStore(const Store& store, const ExportOptions& options, const ExportSink& sink);

struct ImportResult {
  std::int64_t added = 0, unchanged = 0, redacted = 0;  // rows
  std::vector<std::string> conflicts;  // branches imported under another name, one sentence each
  std::vector<LineFault> faults;
};
// Imports an export in one transaction. Rows that were imported before or written here are
// recognised by their uid. Errors also: kDamaged (not an export).
Result<ImportResult> ImportLines(Store& store, std::string_view text, const WriteContext& context);

// Returns the first 32 hex digits of SHA-256("store_id:seq").
std::string RowUid(std::string_view store_id, Seq seq);

inline constexpr std::string_view kExportSchema = "dossier.memory.export/1";

// Reads the lines of a text, each with its place.
//
//   for (ImportReader lines(text); auto line = lines.Next();) Use(line->text, line->number);
//
// Thread-safety: one owner.

struct ImportLine {
  std::string_view text;    // without its line ending, LF or CRLF
  std::int64_t number = 0;  // from 1
  std::int64_t byte = 0;    // offset of its first byte
};

class ImportReader {
 public:
  explicit ImportReader(std::string_view text) : text_(text) {}
  // Returns the next line that is not blank; nullopt at the end.
  std::optional<ImportLine> Next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

// Returns the object on a line, or what is wrong with it and where.
tl::expected<Json, LineFault> ReadObject(const ImportLine& line);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_TRANSFER_TRANSFER_H_
