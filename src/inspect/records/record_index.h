// Where record i of a text is: a sparse index, built in one pass, of 8 bytes per 1,024 records.
//
//   DOSSIER_ASSIGN_OR_RETURN(RecordIndex index, BuildIndex(text, description));
//   DOSSIER_ASSIGN_OR_RETURN(ByteRange range, index.Locate(index.count() - 1));
//   Use(Slice(text, range));
//
// Formats: NDJSON, JSON arrays and sequences, the features and cells of geojson and notebooks,
// the one list of records in an object (Description::records_in), CSV
// and TSV, deb822, logs. Records that are malformed are no records. Ownership: the index looks into
// `text`, which must outlive it.
// Thread-safety: const methods may be called from many threads.

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

// Walks the records of one text.
class RecordSplitter {
 public:
  virtual ~RecordSplitter() = default;
  // Where the walk starts.
  virtual std::size_t start() const = 0;
  // The record at or behind *position, which is start(), what Next left there, or the beginning of
  // any record. False when there is none.
  virtual bool Next(std::size_t* position, ByteRange* record) const = 0;
};

// Errors: kInvalidArgument if texts of this description hold no records.
Result<std::unique_ptr<RecordSplitter>> MakeSplitter(std::string_view text,
                                                     const Description& description);

class RecordIndex {
 public:
  static constexpr std::uint64_t kStride = 1024;

  std::uint64_t count() const { return count_; }
  // The bytes of a record, without line end or separator. Reads at most kStride records.
  // Errors: kInvalidArgument if `record` is not below count().
  Result<ByteRange> Locate(std::uint64_t record) const;
  // Walks on from a record: as RecordSplitter::Next.
  bool Next(std::size_t* position, ByteRange* record) const {
    return splitter_->Next(position, record);
  }
  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(entries_[0]); }

 private:
  friend Result<RecordIndex> BuildIndex(std::string_view text, const Description& description,
                                        const CancelToken& cancel);

  std::unique_ptr<RecordSplitter> splitter_;
  std::vector<std::uint64_t> entries_;  // where records 0, kStride, 2 kStride… begin
  std::uint64_t count_ = 0;
};

// `text` is the decoded text in UTF-8. Errors: as MakeSplitter; kCancelled.
Result<RecordIndex> BuildIndex(std::string_view text, const Description& description,
                               const CancelToken& cancel = {});

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_INDEX_H_
