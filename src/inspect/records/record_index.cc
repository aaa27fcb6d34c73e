#include "inspect/records/record_index.h"

#include "base/text/text.h"

namespace dossier::inspect {

Result<ByteRange> RecordIndex::Locate(std::uint64_t record) const {
  if (record >= count_) {
    return MakeError(ErrorCode::kInvalidArgument, "record {} is not there: there are {} records",
                     GroupDigits(record), GroupDigits(count_));
  }
  std::size_t position = entries_[record / kStride];
  ByteRange range;
  for (std::uint64_t skip = record % kStride + 1; skip > 0; --skip) {
    if (!splitter_->Next(&position, &range)) {
      return MakeError(ErrorCode::kDamaged, "record {} is no longer where it was",
                       GroupDigits(record));
    }
  }
  return range;
}

Result<RecordIndex> BuildIndex(std::string_view text, const Description& description,
                               const CancelToken& cancel) {
  RecordIndex index;
  DOSSIER_ASSIGN_OR_RETURN(index.splitter_, MakeSplitter(text, description));
  std::size_t position = index.splitter_->start();
  for (ByteRange range; index.splitter_->Next(&position, &range); ++index.count_) {
    if (index.count_ % RecordIndex::kStride != 0) continue;
    if (cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "stopped while looking for the records of {}",
                       description.name);
    }
    index.entries_.push_back(range.begin);
  }
  index.entries_.shrink_to_fit();
  return index;
}

}  // namespace dossier::inspect
