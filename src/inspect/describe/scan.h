// The state that the parts of Describe share while they look at the text of one source.
//
//   Scan scan{…};
//   DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeJson(&scan));
//   if (!taken) DOSSIER_ASSIGN_OR_RETURN(taken, DescribeTable(&scan, …));
//
// Each Describe… looks at the text in its own way; if the text is of its kind it fills
// `scan->out` and says so. Errors: kCancelled, and kIo, which ends the scan with bounds.
// Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_DESCRIBE_SCAN_H_
#define DOSSIER_INSPECT_DESCRIBE_SCAN_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"
#include "inspect/description/options.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/json/field_collector.h"
#include "inspect/json/json_machine.h"
#include "inspect/records/record_passes.h"
#include "inspect/text/byte_source.h"
#include "inspect/text/text_stream.h"

namespace dossier::inspect {

// What the head of a text promises: the scan of records that may ride on the counting pass.
//
//   RecordPlan plan = PlanRecords(scan);                  // looks at scan.head
//   TakeCensus(source, {.records = plan.pass()});
//   scan.plan = &plan;                                    // Describe… takes what it wants from it
//
// A plan is a guess that costs time if it is wrong, never a result: whoever takes the scan checks
// that it is the one needed, and else scans the text once more.
// Thread-safety: one owner.

struct NdjsonPlan {
  explicit NdjsonPlan(const FieldLimits& limits) : fields(limits) {}

  NdjsonSummary probe;  // of the head
  FieldCollector fields;
  JsonCapture sample;
  std::unique_ptr<NdjsonPass> pass;  // reports to the two above; null: the probe speaks against it
};

struct TablePlan {
  CsvGuess guess;
  std::unique_ptr<TablePass> pass;  // null: the guess speaks against it
};

// Stanzas or log lines.
struct CountPlan {
  Format format = Format::kLog;
  std::unique_ptr<CountPass> pass;
};

struct RecordPlan {
  std::unique_ptr<NdjsonPlan> ndjson;
  std::unique_ptr<TablePlan> table;
  std::unique_ptr<CountPlan> count;

  RecordPass* pass() const {
    if (ndjson && ndjson->pass) return ndjson->pass.get();
    if (table && table->pass) return table->pass.get();
    return count ? count->pass.get() : nullptr;
  }
};

struct Scan {
  const ByteSource& source;
  const Options& options;
  TextStreamOptions stream;  // how the text is read
  std::string_view head;     // the first decoded megabyte
  TextEnds head_ends = TextEnds::kHere;
  bool complete = true;  // false: --max-scan or a read error stopped the counting pass
  Description* out;
  RecordPlan* plan = nullptr;  // what was scanned while the text was counted

  TextEnds ends() const { return complete ? TextEnds::kHere : TextEnds::kLater; }
  FieldLimits limits() const { return {options.depth, options.sample_records}; }
  Exactness exactness() const { return complete ? Exactness::kExact : Exactness::kBound; }
};

enum class ReadFlow : std::uint8_t { kContinue, kStop };

// Hands the text to `take`, block by block, from decoded byte `skip` on.
Status ReadText(const Scan& scan, std::uint64_t skip,
                const std::function<ReadFlow(std::string_view)>& take);

struct StoredPlace {
  std::uint64_t offset = 0;  // stored bytes
  std::uint64_t line = 1;
};
// Where bytes of the decoded text are stored, by their offset in it: one more reading of the text,
// up to the last of them.
using Places = std::map<std::uint64_t, StoredPlace>;
Result<Places> FindPlaces(const Scan& scan, const std::set<std::uint64_t>& decoded_offsets);
Result<StoredPlace> FindPlace(const Scan& scan, std::uint64_t decoded_offset);

void AddNote(Description* out, std::string code, std::string text);
void AddNote(Description* out, std::string code, std::string text, const StoredPlace& place);

// Fields, their number and the main text field.
void SetFields(const Scan& scan, const FieldCollector& collector);
// The sample from the beginning of a record. `chars_behind`: code points of it that are not in
// `text`.
void SetSample(const Scan& scan, std::string_view text, std::uint64_t chars_behind);

// Whether the file's name says nothing about its format (no extension, .txt, .log and the like), so
// that the content alone decides.
bool IsLeftToContent(const Scan& scan);

// Guesses from the first bytes what the functions below will scan, so that the counting pass can
// scan it on the way.
RecordPlan PlanRecords(const Scan& scan);
std::unique_ptr<NdjsonPlan> PlanNdjson(const Scan& scan);  // null: no JSON lines at all
std::unique_ptr<TablePlan> PlanTable(const Scan& scan);    // null: nothing that is read as a table
std::unique_ptr<CountPlan> PlanCount(const Scan& scan);    // null: neither stanzas nor a log

// JSON of every kind: NDJSON, one document, values in a row, with comments.
Result<bool> DescribeJson(Scan* scan);
// As the format of JSON that the user forces, whatever the content is.
Status DescribeForcedJson(Scan* scan, Format format);

enum class TableDemand : std::uint8_t {
  kNamed,    // a file named .csv: any text is a table
  kCertain,  // only if the content proves it to be a table, whatever the name
  kSniffed,  // if it looks enough like a table; for texts without a telling name
};
Result<bool> DescribeTable(Scan* scan, TableDemand demand);
// Whether the rows alone would make it one.
bool LooksLikeTable(const Scan& scan);

// Tables of pipes in a text that is at hand: of any Markdown with kNamed, else only if they are
// most of the text.
Result<bool> DescribePipeTables(Scan* scan, TableDemand demand);
// A text that is Markdown: its tables, else its sections if there are two, else nothing.
Status DescribeMarkdown(Scan* scan);

// Stanzas, a log or items, if the text has that shape.
Result<bool> DescribeText(Scan* scan, Format format);
// The first format of items whose texts always hold records, if there is one.
Result<bool> DescribeItems(Scan* scan);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_SCAN_H_
