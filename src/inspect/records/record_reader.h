// Reads records of any format as typed JSON rows, for the sandbox's `records`.
//
//   DOSSIER_ASSIGN_OR_RETURN(RecordReader reader, RecordReader::Open(text, description));
//   std::uint64_t next = 0;
//   reader.ReadJson(0, 2, 1 << 20, &next);  // [{"name":"Ann","age":31},{"name":"Bo","age":null}]
//
// JSON objects are copied byte for byte; any other JSON value becomes the row {"value": …}. In CSV,
// deb822 and logs a value is a number or boolean if the description gives its field that type and
// the value parses as one; numbers with leading zeros or 16 or more digits stay strings; an empty
// cell of such a field is null; absent fields are left out. If the description saw numbers beside
// strings, 95 % of the first 1,000 records decide. Ownership: the reader refers to `text`, which
// must outlive it. Thread-safety: const methods may be called from many threads.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_READER_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"
#include "inspect/records/record_index.h"

namespace dossier::inspect {

// Converts one record's bytes to one JSON value. Used only by RecordReader. Thread-safety:
// immutable after construction.
class RecordJsonWriter {
 public:
  virtual ~RecordJsonWriter() = default;
  // Appends the JSON value of `record`.
  virtual void Append(std::string_view record, std::string* out) const = 0;
};

// Checks the first 1,000 records if a column may be numeric. `index` must be that of `text`.
std::unique_ptr<RecordJsonWriter> MakeRowWriter(std::string_view text,
                                                const Description& description,
                                                const RecordIndex& index);

// Returns the JSON number that `cell` means, or empty: spaces around it, a leading + and .5 are
// accepted; leading zeros and integers of 16 or more digits are not.
std::string NumberText(std::string_view cell);
// Appends `text` as a JSON string.
void AppendJsonString(std::string_view text, std::string* out);

class RecordReader {
 public:
  // A larger record is never converted to JSON, whatever the caller allows.
  static constexpr std::size_t kMaxRecordBytes = 64 << 20;

  // Reads the whole text once for the index. Errors: as BuildIndex.
  static Result<RecordReader> Open(std::string_view text, const Description& description,
                                   const CancelToken& cancel = {});
  RecordReader(RecordReader&&) noexcept;
  RecordReader& operator=(RecordReader&&) noexcept;
  ~RecordReader();

  std::uint64_t count() const { return index_.count(); }
  const RecordIndex& index() const { return index_; }

  // Returns a JSON array of the records from `first` on: at most `max_records`, and as many as fit
  // in `max_bytes`, but at least one. *next is the record after the last one returned; `first` ==
  // count() gives "[]". Errors: kInvalidArgument if `first` is beyond count(); kTooLong for a
  // record above kMaxRecordBytes, with its number and size.
  Result<std::string> ReadJson(std::uint64_t first, std::uint64_t max_records,
                               std::size_t max_bytes, std::uint64_t* next) const;

  // Returns the byte range of the records from `first` to `last` (exclusive), with everything
  // between them. Errors: kInvalidArgument unless first <= last <= count().
  Result<ByteRange> Span(std::uint64_t first, std::uint64_t last) const;

 private:
  RecordReader(std::string_view text, RecordIndex index, std::unique_ptr<RecordJsonWriter> writer);

  std::string_view text_;
  RecordIndex index_;
  std::unique_ptr<RecordJsonWriter> writer_;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_READER_H_
