// Texts that hold records without being JSON or CSV: deb822 stanzas and log lines.
//
//   ShapeScan scan = DetectLog(head);                 // head: the first complete lines
//   if (scan.fits) auto counter = MakeLogCounter(scan.shape);
//   counter->Feed(block); … std::uint64_t records = counter->Finish();
//
// Each format is a row of kTextFormats (describe/scan_text.cc); stanzas are implemented in
// formats/deb822.cc, logs in formats/log_shape.cc and records/record_log.cc. It lies in this
// sub-room because the collector of fields takes a TextRecord.
// Thread-safety: pure functions; a counter has one owner.

#ifndef DOSSIER_INSPECT_JSON_TEXT_RECORDS_H_
#define DOSSIER_INSPECT_JSON_TEXT_RECORDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::inspect {

struct ShapeScan {
  bool fits = false;
  std::string shape;                     // of a log: an id that MakeLogCounter takes
  std::vector<std::string> field_names;  // in the order of the shape
};

// `head`: the first lines of a text, at most 100 of them or 64 KiB; the last may be cut.
// Of stanzas the shape is the name of a StanzaStyle.
ShapeScan DetectDeb822(std::string_view head);
ShapeScan DetectLog(std::string_view head);

// Counts records in a stream of UTF-8; any split of the input gives the same count.
class RecordCounter {
 public:
  virtual ~RecordCounter() = default;
  virtual void Feed(std::string_view bytes) = 0;
  // Between two records, at the start of a line: the rest of the text counts alike without what
  // was fed so far. Always true between lines where each line counts by itself.
  virtual bool at_record_start() const = 0;
  // Ends the stream. Call once.
  virtual std::uint64_t Finish() = 0;
};

// Where a counter begins: in front of a record, or anywhere, perhaps in the middle of one, which it
// then does not count.
enum class CountFrom : std::uint8_t { kRecord, kAnywhere };
std::unique_ptr<RecordCounter> MakeDeb822Counter(CountFrom from = CountFrom::kRecord);
std::unique_ptr<RecordCounter> MakeStanzaCounter(std::string_view style, CountFrom from);
std::unique_ptr<RecordCounter> MakeLogCounter(std::string_view shape,
                                              CountFrom from = CountFrom::kRecord);

// One record: names and values in the order of the text. A name may come twice: here it is one
// field with several values, and the reader of records keeps the last.
using TextRecord = std::vector<std::pair<std::string, std::string>>;

// The first `limit` records of `head`. A record that `head` cuts off counts if it is the only one.
std::vector<TextRecord> ParseDeb822Head(std::string_view head, std::string_view style,
                                        std::size_t limit);
std::vector<TextRecord> ParseLogHead(std::string_view head, std::string_view shape,
                                     std::size_t limit);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_TEXT_RECORDS_H_
