// Scans records in the same pass that counts bytes and lines, on the same threads, while the text
// is in the processor's cache.
//
//   TakeCensus(source, {.records = &pass});   // starts a part for each chunk, feeds it, joins it
//   NdjsonSummary found = *pass.Take(TextEnds::kHere);
//
// A chunk may begin anywhere in a record. A part holds the records that begin in its chunk, or
// right behind it, but not where the chunk begins (those are the part's in front); the first part
// holds that one too. So a part reads on behind its chunk, to the end of its last record.
// Offsets are of the decoded text, which must be stored as such (UTF-8 without invalid parts).

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_PASS_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_PASS_H_

#include <cstdint>
#include <memory>
#include <string_view>

namespace dossier::inspect {

// Thread-safety: one owner.
class RecordPart {
 public:
  virtual ~RecordPart() = default;
  // The bytes of the chunk, in order.
  virtual void Feed(std::string_view block) = 0;
  // The chunk has ended: whether its last record has not.
  virtual bool open() const = 0;
  // The bytes behind the chunk, as long as it is open. What is behind the record is not taken.
  virtual void FeedTail(std::string_view block) = 0;
  // There are no more bytes behind the chunk: the text ends.
  virtual void EndText() = 0;
};

class RecordPass {
 public:
  virtual ~RecordPass() = default;
  // The part of the chunk [from, to). May be called from many threads.
  virtual std::unique_ptr<RecordPart> Start(std::uint64_t from, std::uint64_t to) const = 0;
  // Takes the parts in the order of their chunks; one caller at a time. A part whose guess at the
  // state of the text in front of it was wrong is read again here.
  virtual void Join(std::unique_ptr<RecordPart> part) = 0;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_PASS_H_
