// The state that the parts of Describe share while they examine the text of one source.
//
//   Scan scan{…};
//   DOSSIER_ASSIGN_OR_RETURN(bool taken, DescribeJson(&scan));
//   if (!taken) DOSSIER_ASSIGN_OR_RETURN(taken, DescribeTable(&scan, …));
//
// Each Describe… function examines the text in its own way; if the text is of its kind, it fills
// `scan->out` and returns true. Errors: kCancelled, and kIo, which ends the scan with lower bounds.
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

// The scan of records that the head of a text suggests; it can run within the counting pass.
//
//   RecordPlan plan = PlanRecords(scan);                  // looks at scan.head
//   TakeCensus(source, {.records = plan.pass()});
//   scan.plan = &plan;                                    // Describe… takes what it wants from it
//
// A wrong plan costs time but never changes the result: whoever uses the scan checks that it is the
// needed one, and otherwise scans the text again. Thread-safety: one owner.

struct NdjsonPlan {
  explicit NdjsonPlan(const FieldLimits& limits) : fields(limits) {}

  NdjsonSummary probe;  // result for the head
  FieldCollector fields;
  JsonCapture sample;
  std::unique_ptr<NdjsonPass> pass;  // reports to the two above; null: the probe rules NDJSON out
};

struct TablePlan {
  CsvGuess guess;
  std::unique_ptr<TablePass> pass;  // null: the guess rules a table out
};

// A plan for stanzas or log lines.
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
  RecordPlan* plan = nullptr;  // scans made during the counting pass

  TextEnds ends() const { return complete ? TextEnds::kHere : TextEnds::kLater; }
  FieldLimits limits() const { return {options.depth, options.sample_records}; }
  Exactness exactness() const { return complete ? Exactness::kExact : Exactness::kBound; }
};

enum class ReadFlow : std::uint8_t { kContinue, kStop };

// Passes the text to `take`, block by block, from decoded byte `skip` on.
Status ReadText(const Scan& scan, std::uint64_t skip,
                const std::function<ReadFlow(std::string_view)>& take);

struct StoredPlace {
  std::uint64_t offset = 0;  // stored bytes
  std::uint64_t line = 1;
};
// The stored places of bytes of the decoded text, by their decoded offset. Finding them reads the
// text again, up to the last of them.
using Places = std::map<std::uint64_t, StoredPlace>;
Result<Places> FindPlaces(const Scan& scan, const std::set<std::uint64_t>& decoded_offsets);
Result<StoredPlace> FindPlace(const Scan& scan, std::uint64_t decoded_offset);

void AddNote(Description* out, std::string code, std::string text);
void AddNote(Description* out, std::string code, std::string text, const StoredPlace& place);

// Sets the fields, their number and the main text field.
void SetFields(const Scan& scan, const FieldCollector& collector);
// Sets the sample from the beginning of a record. `chars_behind`: its code points that are not in
// `text`.
void SetSample(const Scan& scan, std::string_view text, std::uint64_t chars_behind);

// Returns true if the file's name says nothing about its format (no extension, .txt, .log and the
// like), so that the content alone decides.
bool IsLeftToContent(const Scan& scan);

// Guesses from the first bytes what the functions below will scan, so that the counting pass can do
// it at the same time.
RecordPlan PlanRecords(const Scan& scan);
std::unique_ptr<NdjsonPlan> PlanNdjson(const Scan& scan);  // null: no JSON lines
std::unique_ptr<TablePlan> PlanTable(const Scan& scan);    // null: not a table
std::unique_ptr<CountPlan> PlanCount(const Scan& scan);    // null: neither stanzas nor a log

// Handles all kinds of JSON: NDJSON, one document, several values, with comments.
Result<bool> DescribeJson(Scan* scan);
// Treats the content as the JSON format that the user forces.
Status DescribeForcedJson(Scan* scan, Format format);

enum class TableDemand : std::uint8_t {
  kNamed,    // a file named .csv: any text is a table
  kCertain,  // only if the content proves a table, whatever the name
  kSniffed,  // if it looks enough like a table; if the name says nothing
};
Result<bool> DescribeTable(Scan* scan, TableDemand demand);
// Returns true if the rows alone would make it a table.
bool LooksLikeTable(const Scan& scan);

// Tables of pipes in the text: in any Markdown with kNamed, otherwise only if they are most of the
// text.
Result<bool> DescribePipeTables(Scan* scan, TableDemand demand);
// Markdown: its tables, else its sections if there are at least two, else nothing.
Status DescribeMarkdown(Scan* scan);

// Stanzas, a log or items, if the text has that form.
Result<bool> DescribeText(Scan* scan, Format format);
// Tries the formats of items whose texts always contain records; the first match is used.
Result<bool> DescribeItems(Scan* scan);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_SCAN_H_
