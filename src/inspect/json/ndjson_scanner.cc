#include "inspect/json/ndjson_scanner.h"

#include <algorithm>
#include <cstring>

#include "base/text/ascii.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxFaults = 10;

const char* FindLineEnd(const char* at, const char* end) {
  const auto length = static_cast<std::size_t>(end - at);
  const void* lf = std::memchr(at, '\n', length);
  const char* const stop = lf ? static_cast<const char*>(lf) : end;
  const void* cr = std::memchr(at, '\r', static_cast<std::size_t>(stop - at));
  return cr ? static_cast<const char*>(cr) : stop;
}

}  // namespace

void NdjsonScanner::SetEvents(RecordEvents* events, int event_depth, std::uint64_t records) {
  events_ = events;
  event_depth_ = event_depth;
  event_records_ = records;
}

void NdjsonScanner::Feed(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  feed_start_ = at;
  while (at < end) {
    switch (state_) {
      case State::kLineStart:
        at = InLineStart(at, end);
        break;
      case State::kValue:
        at = InValue(at, end);
        break;
      case State::kAfterValue:
      case State::kSkip:
        at = InRest(at, end);
        break;
    }
  }
  fed_ += text.size();
}

const char* NdjsonScanner::InLineStart(const char* at, const char* end) {
  while (at < end) {
    const char c = *at;
    if (IsLineEnd(c)) {
      ++at;
      line_offset_ = fed_ + static_cast<std::uint64_t>(at - feed_start_);
      continue;
    }
    if (!IsBlank(c)) {
      BeginLine(c);
      return at;
    }
    ++at;
  }
  return at;
}

void NdjsonScanner::BeginLine(char first) {
  if (summary_.head_lines < 2) {
    if (first == '{' || first == '[') ++containers_;
    summary_.first_two_contain = containers_ == 2;
  }
  if (summary_.head_lines < NdjsonSummary::kHeadLines) ++summary_.head_lines;
  machine_.Reset();
  const bool reported = events_ && summary_.records < event_records_;
  machine_.SetEvents(reported ? events_ : nullptr, event_depth_);
  if (reported) events_->OnRecordBegin();
  if (capture_ && summary_.records == 0) {
    *capture_ = JsonCapture{};
    machine_.CaptureAt(0, capture_);
  } else {
    machine_.CaptureAt(0, nullptr);
  }
  state_ = State::kValue;
}

const char* NdjsonScanner::InValue(const char* at, const char* end) {
  const JsonOutcome outcome = machine_.Feed(&at, end);
  if (outcome == JsonOutcome::kDone) state_ = State::kAfterValue;
  if (outcome == JsonOutcome::kFault) Break(machine_.fault());
  return at;
}

// After a value or a fault: skips to the end of the line.
const char* NdjsonScanner::InRest(const char* at, const char* end) {
  if (state_ == State::kSkip) {
    at = FindLineEnd(at, end);
    if (at < end) state_ = State::kLineStart;
    return at;
  }
  while (at < end && IsBlank(*at)) ++at;
  if (at == end) return at;
  if (!IsLineEnd(*at)) {
    Break(JsonFault::kTrailing);
    return at;
  }
  EndLine(/*valid=*/true);
  state_ = State::kLineStart;
  return at;
}

void NdjsonScanner::Break(JsonFault fault) {
  if (summary_.faults.size() < kMaxFaults) summary_.faults.push_back({line_offset_, fault});
  EndLine(/*valid=*/false);
  state_ = State::kSkip;
}

void NdjsonScanner::EndLine(bool valid) {
  if (events_ && summary_.records < event_records_) events_->OnRecordEnd(valid);
  if (!valid) {
    ++summary_.malformed;
    return;
  }
  ++summary_.records;
  summary_.non_finite += machine_.non_finite();
  if (machine_.kind() != JsonKind::kObject) ++summary_.non_object;
  // The head ends with the 100th non-blank line.
  if (summary_.records + summary_.malformed <= NdjsonSummary::kHeadLines) ++summary_.head_valid;
}

const NdjsonSummary& NdjsonScanner::Finish(TextEnds ends) {
  if (finished_) return summary_;
  finished_ = true;
  if (ends == TextEnds::kLater) {
    // The open line was counted when it began; nothing else about it is known.
    const bool counted_last = summary_.head_lines > std::min(summary_.records + summary_.malformed,
                                                             NdjsonSummary::kHeadLines);
    if (counted_last) --summary_.head_lines;
    return summary_;
  }
  if (state_ == State::kAfterValue) EndLine(/*valid=*/true);
  if (state_ == State::kValue) {
    if (machine_.Finish() == JsonOutcome::kDone) {
      EndLine(/*valid=*/true);
    } else {
      Break(machine_.fault());
    }
  }
  return summary_;
}

}  // namespace dossier::inspect
