// Checks every line of an NDJSON text; keeps only counts and the first faults.
//
//   NdjsonScanner scanner;
//   scanner.Feed("{\"a\":1}\n\n{\"a\":");
//   scanner.Feed("2}\nbroken\n");
//   scanner.Finish().records == 2 && scanner.Finish().malformed == 1;
//
// The input may be split anywhere. Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_JSON_NDJSON_SCANNER_H_
#define DOSSIER_INSPECT_JSON_NDJSON_SCANNER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "inspect/description/options.h"
#include "inspect/json/json_machine.h"

namespace dossier::inspect {

struct JsonLineFault {
  std::uint64_t offset = 0;  // decoded bytes: start of the line
  JsonFault fault = JsonFault::kNone;
};

struct NdjsonSummary {
  static constexpr std::uint64_t kHeadLines = 100;  // number of non-blank lines that decide
  std::uint64_t records = 0;                        // valid lines
  std::uint64_t malformed = 0;                      // non-blank lines that are not a single value
  std::uint64_t non_object = 0;                     // records that are not objects
  std::uint64_t non_finite = 0;                     // numbers in records: NaN, Infinity, -Infinity
  std::uint64_t head_lines = 0;                     // non-blank lines seen, at most kHeadLines
  std::uint64_t head_valid = 0;                     // number of valid ones
  bool first_two_contain = false;                   // there are two, and both start with { or [
  std::vector<JsonLineFault> faults;                // the first 10
};

class NdjsonScanner {
 public:
  using Summary = NdjsonSummary;

  NdjsonScanner() : machine_(JsonLineEnds::kEndValue) {}

  // Receives the tokens of the first `records` lines. Events of a malformed line may have been sent
  // before the fault is found; OnRecordEnd reports it.
  class RecordEvents : public JsonEvents {
   public:
    virtual void OnRecordBegin() = 0;
    virtual void OnRecordEnd(bool valid) = 0;
  };
  void SetEvents(RecordEvents* events, int event_depth, std::uint64_t records);
  // Captures the text of the first valid line.
  void Capture(JsonCapture* capture) { capture_ = capture; }

  void Feed(std::string_view text);
  // Ends the input; may be called again. With kLater more text follows, so the last line is only
  // judged if it has ended.
  const NdjsonSummary& Finish(TextEnds ends = TextEnds::kHere);
  // True if fewer than half of the first 100 lines are valid, so reading on is useless.
  bool hopeless() const {
    return summary_.head_lines == NdjsonSummary::kHeadLines &&
           summary_.malformed * 2 > NdjsonSummary::kHeadLines;
  }
  const NdjsonSummary& summary() const { return summary_; }
  // Returns true if the last byte was a line end, or only blanks followed one.
  bool at_record_start() const { return state_ == State::kLineStart; }

 private:
  enum class State : std::uint8_t { kLineStart, kValue, kAfterValue, kSkip };

  void BeginLine(char first);
  void EndLine(bool valid);
  const char* InLineStart(const char* at, const char* end);
  const char* InValue(const char* at, const char* end);
  const char* InRest(const char* at, const char* end);
  void Break(JsonFault fault);

  JsonMachine machine_;
  State state_ = State::kLineStart;
  NdjsonSummary summary_;
  RecordEvents* events_ = nullptr;
  int event_depth_ = 0;
  std::uint64_t event_records_ = 0;
  JsonCapture* capture_ = nullptr;
  const char* feed_start_ = nullptr;
  std::uint64_t fed_ = 0;  // bytes before this Feed
  std::uint64_t line_offset_ = 0;
  std::uint64_t containers_ = 0;  // of the first two non-blank lines
  bool finished_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_NDJSON_SCANNER_H_
