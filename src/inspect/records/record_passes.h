// Scans the records of NDJSON, tables, stanzas and logs in parts.
//
// Thread-safety: as PartedPass; the events and the capture of NDJSON belong to the first records,
// so only one thread at a time uses them.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "inspect/formats/csv_scanner.h"
#include "inspect/json/ndjson_scanner.h"
#include "inspect/json/text_records.h"
#include "inspect/text/record_lines.h"
#include "inspect/text/text_stream.h"

namespace dossier::inspect {

// Scans records while the counting pass has the text in cache, on the same threads.
//
//   TakeCensus(source, {.records = &pass});   // starts a part for each chunk, feeds it, joins it
//   NdjsonSummary found = *pass.Take(TextEnds::kHere);
//
// A chunk may begin inside a record. A part has the records that begin in its chunk or right after
// it, but not one that begins exactly with the chunk (it belongs to the previous part; the first
// part has it). So a part reads on after its chunk to the end of its last record. Offsets are those
// of the decoded text, which must be stored as it is (UTF-8 without invalid parts).

// The results of one thread for its chunk. Thread-safety: one owner.
class RecordPart {
 public:
  virtual ~RecordPart() = default;
  // Takes the bytes of the chunk, in order.
  virtual void Feed(std::string_view block) = 0;
  // At the end of the chunk: returns true if its last record has not ended.
  virtual bool open() const = 0;
  // Takes bytes after the chunk while it is open; ignores bytes after the record.
  virtual void FeedTail(std::string_view block) = 0;
  // The text ends: no more bytes follow the chunk.
  virtual void EndText() = 0;
};

class RecordPass {
 public:
  virtual ~RecordPass() = default;
  // Starts the part for the chunk [from, to). May be called from many threads.
  virtual std::unique_ptr<RecordPart> Start(std::uint64_t from, std::uint64_t to) const = 0;
  // Adds the parts in the order of their chunks; one caller at a time. A part that guessed the
  // preceding state of the text wrongly is read again here.
  virtual void Join(std::unique_ptr<RecordPart> part) = 0;
};

// A RecordPass for any scanner that knows where a record ends.
//
//   PartedPass<TableRecords> pass(source, stream, TableRecords(options));
//
// `Records` says how records are scanned:
//   using Scanner = …;             // with Feed, Finish(TextEnds), at_record_start(), Summary
//   Scanner First() const;         // from the start of the text
//   Scanner Later() const;         // from the start of a later record
//   // From anywhere: finds the end of the record that `block` cuts; may guess what stood before
//   it. Scanner Finder(std::string_view block) const; void Add(const Scanner::Summary& part,
//   std::uint64_t offset, Scanner::Summary* sum) const;
// Records end with LF or CR.
//
// A guess is checked when the previous part has ended: a part is right if its first record begins
// where the last record of the previous part ends. So the result never depends on a guess.

namespace internal {

inline constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

// Feeds `block` up to the first line end that ends a record, and returns that length; feeds
// everything and returns npos if there is none.
template <typename Scanner>
std::size_t FeedToRecordEnd(Scanner* scanner, std::string_view block) {
  for (std::size_t from = 0;;) {
    const std::size_t end = from < block.size() ? from + NextLine(block, from).text.size() : from;
    scanner->Feed(block.substr(from, end + 1 - from));
    if (end >= block.size()) return std::string_view::npos;
    from = end + 1;
    if (scanner->at_record_start()) return from;
  }
}

}  // namespace internal

template <typename Records>
class PartedPass final : public RecordPass {
 public:
  using Scanner = typename Records::Scanner;
  using Summary = typename Scanner::Summary;

  // `source` must outlive the pass. `stream` tells how the whole text is read.
  PartedPass(const ByteSource& source, TextStreamOptions stream, Records records)
      : source_(source), stream_(std::move(stream)), records_(std::move(records)) {}

  std::unique_ptr<RecordPart> Start(std::uint64_t from, std::uint64_t to) const override {
    return std::make_unique<Part>(records_, from, to);
  }

  void Join(std::unique_ptr<RecordPart> part) override {
    auto& joined = static_cast<Part&>(*part);
    if (failed_ || text_ended_) return;
    if (joined.begin == next_ && joined.end != internal::kNowhere) {
      Append(std::move(*joined.scanner), joined.begin, joined.end);
      text_ended_ = joined.text_ended;
    } else if (next_ <= joined.to) {
      ReadAgain(joined.to);
    }
  }

  // After the last Join: returns the sum over the text; nullopt if reading failed.
  std::optional<Summary> Take(TextEnds ends) {
    if (failed_ || !last_) return std::nullopt;
    AddLast(ends);
    return std::move(sum_);
  }

  const Records& records() const { return records_; }
  // Number of parts that were read again.
  std::uint64_t wrong_guesses() const { return wrong_guesses_; }

 private:
  struct Part final : RecordPart {
    Part(const Records& how, std::uint64_t from, std::uint64_t chunk_end)
        : records(how), to(chunk_end), fed(from) {
      if (from > 0) return;
      begin = 0;
      scanner.emplace(records.First());
    }

    void Feed(std::string_view block) override {
      if (!scanner) {
        if (!finder) finder.emplace(records.Finder(block));
        const std::size_t taken = internal::FeedToRecordEnd(&*finder, block);
        if (taken == std::string_view::npos) {
          fed += block.size();
          return;
        }
        fed += taken;
        block.remove_prefix(taken);
        begin = fed;
        scanner.emplace(records.Later());
      }
      scanner->Feed(block);
      fed += block.size();
    }

    bool open() const override { return scanner && end == internal::kNowhere; }

    void FeedTail(std::string_view block) override {
      const std::size_t taken = internal::FeedToRecordEnd(&*scanner, block);
      fed += std::min(taken, block.size());
      if (taken != std::string_view::npos) end = fed;
    }

    void EndText() override {
      end = fed;
      text_ended = true;
    }

    const Records& records;
    const std::uint64_t to;
    std::uint64_t fed;                         // after the last byte consumed
    std::uint64_t begin = internal::kNowhere;  // of the first record
    std::uint64_t end = internal::kNowhere;    // of the last one
    bool text_ended = false;                   // at `end`, inside a record or after one
    std::optional<Scanner> finder;
    std::optional<Scanner> scanner;  // starts at `begin`; none: no record begins in the chunk
  };

  void Append(Scanner scanner, std::uint64_t begin, std::uint64_t end) {
    AddLast(TextEnds::kLater);
    last_.emplace(std::move(scanner));
    last_begin_ = begin;
    next_ = end;
  }

  // Only the very last scanner may hold an unfinished record.
  void AddLast(TextEnds ends) {
    if (!last_) return;
    const Summary& part = last_->Finish(ends);
    if (last_begin_ == 0) {
      sum_ = part;
    } else {
      records_.Add(part, last_begin_, &sum_);
    }
    last_.reset();
  }

  // Reads from the record at `next_` to the end of the one that `to` cuts.
  void ReadAgain(std::uint64_t to) {
    ++wrong_guesses_;
    TextStreamOptions options = stream_;
    options.start += next_;
    TextStream stream(source_, options);
    Scanner scanner = next_ == 0 ? records_.First() : records_.Later();
    for (std::uint64_t at = next_;;) {
      const auto block = stream.Next();
      if (!block) {
        failed_ = true;
        return;
      }
      if (block->empty()) {
        Append(std::move(scanner), next_, at);
        text_ended_ = true;
        return;
      }
      const auto inside =
          static_cast<std::size_t>(std::min<std::uint64_t>(to - std::min(to, at), block->size()));
      scanner.Feed(block->substr(0, inside));
      const std::size_t taken = inside < block->size()
                                    ? internal::FeedToRecordEnd(&scanner, block->substr(inside))
                                    : std::string_view::npos;
      if (taken != std::string_view::npos) {
        return Append(std::move(scanner), next_, at + inside + taken);
      }
      at += block->size();
    }
  }

  const ByteSource& source_;
  const TextStreamOptions stream_;
  const Records records_;
  Summary sum_;
  std::optional<Scanner> last_;
  std::uint64_t last_begin_ = 0;
  std::uint64_t next_ = 0;  // start of the record after the last joined part
  std::uint64_t wrong_guesses_ = 0;
  bool text_ended_ = false;
  bool failed_ = false;
};

class NdjsonRecords {
 public:
  using Scanner = NdjsonScanner;

  // `first` is a scanner for the start of the text, with its events. The records it reports must
  // end in the first part.
  explicit NdjsonRecords(const NdjsonScanner& first) : first_(first) {}

  NdjsonScanner First() const { return first_; }
  NdjsonScanner Later() const { return NdjsonScanner(); }
  // A cut line is at worst malformed: its end is found anyway.
  NdjsonScanner Finder(std::string_view) const { return NdjsonScanner(); }
  void Add(const NdjsonSummary& part, std::uint64_t offset, NdjsonSummary* sum) const;

 private:
  NdjsonScanner first_;
};

class TableRecords {
 public:
  using Scanner = CsvScanner;

  // Skipped rows must begin in the first part.
  explicit TableRecords(const CsvScanOptions& options) : options_(options) {}

  const CsvScanOptions& options() const { return options_; }
  CsvScanner First() const { return CsvScanner(options_); }
  CsvScanner Later() const;
  // Decides if the block starts inside quotes: the state with more rows of the right length wins.
  CsvScanner Finder(std::string_view block) const;
  void Add(const CsvSummary& part, std::uint64_t offset, CsvSummary* sum) const;

 private:
  CsvScanner FinderFrom(CsvStart start) const;

  CsvScanOptions options_;
};

struct CountSummary {
  std::uint64_t records = 0;
};

// Adapts a counter to the scanner interface. Thread-safety: one owner.
class CountScanner {
 public:
  using Summary = CountSummary;

  explicit CountScanner(std::unique_ptr<RecordCounter> counter) : counter_(std::move(counter)) {}

  void Feed(std::string_view block) { counter_->Feed(block); }
  bool at_record_start() const { return counter_->at_record_start(); }
  const CountSummary& Finish(TextEnds) {
    summary_.records = counter_->Finish();
    return summary_;
  }

 private:
  std::unique_ptr<RecordCounter> counter_;
  CountSummary summary_;
};

class CountedRecords {
 public:
  using Scanner = CountScanner;
  using MakeCounter = std::function<std::unique_ptr<RecordCounter>(CountFrom)>;

  explicit CountedRecords(MakeCounter make) : make_(std::move(make)) {}

  CountScanner First() const { return CountScanner(make_(CountFrom::kRecord)); }
  CountScanner Later() const { return First(); }
  // The rest of a cut line may look like another kind of line.
  CountScanner Finder(std::string_view) const { return CountScanner(make_(CountFrom::kAnywhere)); }
  void Add(const CountSummary& part, std::uint64_t, CountSummary* sum) const {
    sum->records += part.records;
  }

 private:
  MakeCounter make_;
};

using NdjsonPass = PartedPass<NdjsonRecords>;
using TablePass = PartedPass<TableRecords>;
using CountPass = PartedPass<CountedRecords>;

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_PASSES_H_
