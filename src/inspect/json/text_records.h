// Texts that contain records but are not JSON or CSV: deb822 stanzas and log lines.
//
//   ShapeScan scan = DetectLog(head);                 // head: the first complete lines
//   if (scan.fits) auto counter = MakeLogCounter(scan.shape);
//   counter->Feed(block); … std::uint64_t records = counter->Finish();
//
// Each format is a row of kTextFormats (describe/scan_text.cc); stanzas are implemented in
// formats/deb822.cc, logs in formats/log_shape.cc and records/record_log.cc. This header is in this
// folder because the field collector takes a TextRecord. Thread-safety: pure functions; a counter
// has one owner.

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
  std::string shape;                     // for a log: an id that MakeLogCounter takes
  std::vector<std::string> field_names;  // in the order of the shape
};

// `head`: the first lines of a text, at most 100 lines or 64 KiB; the last may be cut. The shape of
// stanzas is the name of a StanzaStyle.
ShapeScan DetectDeb822(std::string_view head);
ShapeScan DetectLog(std::string_view head);

// Counts records in a stream of UTF-8; the count does not depend on how the input is split.
class RecordCounter {
 public:
  virtual ~RecordCounter() = default;
  virtual void Feed(std::string_view bytes) = 0;
  // True between two records at the start of a line: the rest of the text has the same count
  // without the input so far. If each line counts by itself, this is true between all lines.
  virtual bool at_record_start() const = 0;
  // Ends the stream. Call once.
  virtual std::uint64_t Finish() = 0;
};

// The start of a counter: before a record, or anywhere, perhaps inside a record, which it then
// skips.
enum class CountFrom : std::uint8_t { kRecord, kAnywhere };
std::unique_ptr<RecordCounter> MakeDeb822Counter(CountFrom from = CountFrom::kRecord);
std::unique_ptr<RecordCounter> MakeStanzaCounter(std::string_view style, CountFrom from);
std::unique_ptr<RecordCounter> MakeLogCounter(std::string_view shape,
                                              CountFrom from = CountFrom::kRecord);

// A record: names and values in text order. A name may occur twice: here it is one field with
// several values, while the record reader keeps the last.
using TextRecord = std::vector<std::pair<std::string, std::string>>;

// Returns the first `limit` records of `head`; one that `head` cuts off only if it is the only one.
std::vector<TextRecord> ParseDeb822Head(std::string_view head, std::string_view style,
                                        std::size_t limit);
std::vector<TextRecord> ParseLogHead(std::string_view head, std::string_view shape,
                                     std::size_t limit);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_TEXT_RECORDS_H_
