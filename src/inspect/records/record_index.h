// Locates record i of a text: a sparse index, built in one pass, with 8 bytes per 1,024 records.
//
//   DOSSIER_ASSIGN_OR_RETURN(RecordIndex index, BuildIndex(text, description));
//   DOSSIER_ASSIGN_OR_RETURN(ByteRange range, index.Locate(index.count() - 1));
//   Use(Slice(text, range));
//
// Formats: NDJSON, JSON arrays and sequences, the features and cells of geojson and notebooks, the
// list of records in an object (Description::records_in), CSV and TSV, deb822, logs. Malformed
// records are skipped. Ownership: the index refers to `text`, which must outlive it. Thread-safety:
// const methods may be called from many threads.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_INDEX_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_INDEX_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"
#include "inspect/description/record_range.h"

namespace dossier::inspect {

// Iterates over the records of one text.
class RecordSplitter {
 public:
  virtual ~RecordSplitter() = default;
  // Returns where iteration starts.
  virtual std::size_t start() const = 0;
  // Finds the record at or after *position, which is start(), the value from the last Next, or the
  // beginning of any record. Returns false if there is none.
  virtual bool Next(std::size_t* position, ByteRange* record) const = 0;
};

// Errors: kInvalidArgument if texts of this description have no records.
Result<std::unique_ptr<RecordSplitter>> MakeSplitter(std::string_view text,
                                                     const Description& description);

class RecordIndex {
 public:
  static constexpr std::uint64_t kStride = 1024;

  std::uint64_t count() const { return count_; }
  // Returns the byte range of a record, without line end or separator. Reads at most kStride
  // records. Errors: kInvalidArgument if `record` is not below count().
  Result<ByteRange> Locate(std::uint64_t record) const;
  // Continues after a record: as RecordSplitter::Next.
  bool Next(std::size_t* position, ByteRange* record) const {
    return splitter_->Next(position, record);
  }
  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(entries_[0]); }

 private:
  friend Result<RecordIndex> BuildIndex(std::string_view text, const Description& description,
                                        const CancelToken& cancel);

  std::unique_ptr<RecordSplitter> splitter_;
  std::vector<std::uint64_t> entries_;  // start of records 0, kStride, 2 kStride…
  std::uint64_t count_ = 0;
};

// `text` is the decoded UTF-8 text. Errors: as MakeSplitter; kCancelled.
Result<RecordIndex> BuildIndex(std::string_view text, const Description& description,
                               const CancelToken& cancel = {});

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_INDEX_H_
