#include "inspect/records/record_reader.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/records/record_row.h"

namespace dossier::inspect {

RecordReader::RecordReader(std::string_view text, RecordIndex index,
                           std::unique_ptr<RowWriter> writer)
    : text_(text), index_(std::move(index)), writer_(std::move(writer)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

Result<RecordReader> RecordReader::Open(std::string_view text, const Description& description,
                                        const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(RecordIndex index, BuildIndex(text, description, cancel));
  auto writer = MakeRowWriter(text, description, index);
  return RecordReader(text, std::move(index), std::move(writer));
}

Result<std::string> RecordReader::ReadJson(std::uint64_t first, std::uint64_t max_records,
                                           std::size_t max_bytes, std::uint64_t* next) const {
  *next = first;
  if (first > count()) {
    return MakeError(ErrorCode::kInvalidArgument, "record {} is not there: there are {} records",
                     GroupDigits(first), GroupDigits(count()));
  }
  std::string out = "[";
  if (first < count() && max_records > 0) {
    DOSSIER_ASSIGN_OR_RETURN(ByteRange range, index_.Locate(first));
    std::size_t position = range.begin;
    while (*next - first < max_records && index_.Next(&position, &range)) {
      if (range.size() > kMaxRecordBytes) {
        if (*next > first) break;
        return MakeError(
            ErrorCode::kTooLong, "record {} has {} bytes; at most {} can be read as one row",
            GroupDigits(first), GroupDigits(range.size()), GroupDigits(kMaxRecordBytes));
      }
      const std::size_t before = out.size();
      if (*next > first) out.push_back(',');
      writer_->Append(Slice(text_, range), &out);
      if (*next > first && out.size() + 1 > max_bytes) {
        out.resize(before);
        break;
      }
      ++*next;
    }
  }
  out.push_back(']');
  return utf8::IsValid(out) ? out : utf8::Sanitize(out);
}

Result<ByteRange> RecordReader::Span(std::uint64_t first, std::uint64_t last) const {
  if (first > last || last > count()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "records {} to {} are not there: there are {} records", GroupDigits(first),
                     GroupDigits(last), GroupDigits(count()));
  }
  if (first == last) {
    if (first == count()) return ByteRange{text_.size(), text_.size()};
    DOSSIER_ASSIGN_OR_RETURN(const ByteRange at, index_.Locate(first));
    return ByteRange{at.begin, at.begin};
  }
  DOSSIER_ASSIGN_OR_RETURN(const ByteRange begin, index_.Locate(first));
  DOSSIER_ASSIGN_OR_RETURN(const ByteRange end, index_.Locate(last - 1));
  return ByteRange{begin.begin, end.end};
}

}  // namespace dossier::inspect
