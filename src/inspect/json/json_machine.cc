#include "inspect/json/json_machine.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/text/ascii.h"
#include "base/text/utf8.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxToken = 64 << 10;

constexpr std::string_view kFaultTexts[] = {
    "no fault",
    "unexpected end",
    "a value is missing",
    "a name in quotes is missing",
    "a colon is missing",
    "a comma or the end of the list or object is missing",
    "a backslash with an unknown letter",
    "an unescaped control character in a string",
    "not a number",
    "neither true, false nor null",
    "nested deeper than 1,024 levels",
    "something follows the value",
};

bool EndsString(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

// Returns the first byte that a string cannot simply contain. SSE2 is part of x86-64, so no choice
// at run time is needed.
const char* SkipPlain(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1F);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i stops =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    if (mask != 0) return at + std::countr_zero(mask);
    at += 16;
  }
#endif
  while (at < end && !EndsString(*at)) ++at;
  return at;
}

}  // namespace

std::string_view FaultText(JsonFault fault) { return kFaultTexts[static_cast<std::size_t>(fault)]; }

void JsonMachine::Reset() {
  state_ = State::kValue;
  fault_ = JsonFault::kNone;
  started_ = false;
  depth_ = 0;
  non_finite_ = 0;
  token_.clear();
  capturing_ = false;
}

std::uint64_t JsonMachine::counted() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

bool JsonMachine::InToken() const {
  switch (state_) {
    case State::kValue:
    case State::kFirstElement:
    case State::kFirstKey:
    case State::kKey:
    case State::kColon:
    case State::kNext:
    case State::kDone:
      return false;
    default:
      return true;
  }
}

void JsonMachine::UncountOpen() {
  if (count_depth_ == 0 || depth_ < count_depth_) return;
  if (depth_ == count_depth_ && !InToken()) return;
  --counts_[static_cast<std::size_t>(counted_last_)];
}

JsonOutcome JsonMachine::Feed(const char** at, const char* end) {
  capture_from_ = *at;
  const JsonOutcome outcome = Run(at, end);
  if (capturing_) KeepCapture(capture_from_, *at);
  return outcome;
}

JsonOutcome JsonMachine::Run(const char** position, const char* end) {
  const char* at = *position;
  while (at < end && state_ != State::kDone) {
    switch (state_) {
      case State::kString:
        at = InString(at, end);
        break;
      case State::kEscape:
      case State::kHex:
        at = InEscape(at);
        break;
      case State::kLiteral:
        at = InLiteral(at);
        break;
      case State::kValue:
      case State::kFirstElement:
      case State::kFirstKey:
      case State::kKey:
      case State::kColon:
      case State::kNext:
        at = BetweenTokens(at);
        break;
      default:
        at = InNumber(at, end);
        break;
    }
    if (fault_ != JsonFault::kNone) {
      *position = at;
      return JsonOutcome::kFault;
    }
    EndCapture(at);  // a scalar may have ended
  }
  *position = at;
  return state_ == State::kDone ? JsonOutcome::kDone : JsonOutcome::kMore;
}

const char* JsonMachine::BetweenTokens(const char* at) {
  const char c = *at;
  if (!IsJsonSpace(c)) {
    if (TakeSign(c, at)) ++at;
    EndCapture(at);
    return at;
  }
  if (line_ends_ == JsonLineEnds::kEndValue && IsLineEnd(c)) {
    Fail(JsonFault::kUnexpectedEnd);
    return at;
  }
  if (capturing_) ++capture_->spaces;
  return at + 1;
}

// Takes a token's first byte, or a one-sign token. Fails and returns false if none may be here.
bool JsonMachine::TakeSign(char c, const char* at) {
  switch (state_) {
    case State::kColon:
      if (c != ':') return Fail(JsonFault::kNoColon);
      state_ = State::kValue;
      return true;
    case State::kNext:
      return AfterValue(c);
    case State::kKey:
    case State::kFirstKey:
      if (c == '"') {
        BeginString(/*key=*/true);
        return true;
      }
      if (c != '}' || state_ != State::kFirstKey) return Fail(JsonFault::kNoKey);
      Close(JsonKind::kObject);
      return true;
    default:
      if (c != ']' || state_ != State::kFirstElement) return BeginValue(c, at);
      Close(JsonKind::kArray);
      return true;
  }
}

// Keeps the captured text up to `at` if it is complete.
void JsonMachine::EndCapture(const char* at) {
  if (!capturing_ || !capture_->complete) return;
  KeepCapture(capture_from_, at);
  capturing_ = false;
}

bool JsonMachine::BeginValue(char c, const char* at) {
  JsonKind kind;
  switch (c) {
    case '{':
      kind = JsonKind::kObject;
      break;
    case '[':
      kind = JsonKind::kArray;
      break;
    case '"':
      kind = JsonKind::kString;
      break;
    case 't':
    case 'f':
      kind = JsonKind::kBoolean;
      break;
    case 'n':
      kind = JsonKind::kNull;
      break;
    case 'N':
    case 'I':
      kind = JsonKind::kNumber;
      break;
    default:
      if (c != '-' && !IsDigit(c)) return Fail(JsonFault::kNoValue);
      kind = JsonKind::kNumber;
  }
  if (!started_) {
    started_ = true;
    root_kind_ = kind;
  }
  if (depth_ == count_depth_ && depth_ > 0) {
    ++counts_[static_cast<std::size_t>(kind)];
    counted_last_ = kind;
  }
  if (capture_ && !capturing_ && !capture_->complete && depth_ == capture_depth_) StartCapture(at);
  if (kind == JsonKind::kObject || kind == JsonKind::kArray) return Open(kind);
  if (kind == JsonKind::kString) {
    BeginString(/*key=*/false);
    return true;
  }
  scalar_kind_ = kind;
  if (Reporting()) {
    token_.assign(1, c);
    token_bytes_ = 1;
  }
  if (kind == JsonKind::kNumber) {
    if (c > '9') {
      BeginLiteral(kind, c == 'N' ? "aN" : "nfinity");
    } else {
      state_ = c == '-' ? State::kMinus : c == '0' ? State::kZero : State::kInteger;
    }
    return true;
  }
  BeginLiteral(kind, c == 't' ? "rue" : c == 'f' ? "alse" : "ull");
  return true;
}

void JsonMachine::BeginLiteral(JsonKind kind, std::string_view rest) {
  literal_left_ = rest;
  state_ = State::kLiteral;
  if (kind == JsonKind::kNumber) ++non_finite_;
}

bool JsonMachine::Open(JsonKind kind) {
  if (depth_ == kMaxDepth) return Fail(JsonFault::kTooDeep);
  if (Reporting()) events_->OnBegin(kind, depth_);
  const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
  std::uint64_t& word = levels_[static_cast<std::size_t>(depth_ / 64)];
  word = kind == JsonKind::kObject ? word | bit : word & ~bit;
  ++depth_;
  state_ = kind == JsonKind::kObject ? State::kFirstKey : State::kFirstElement;
  return true;
}

void JsonMachine::Close(JsonKind kind) {
  if (depth_ == count_depth_ && depth_ > 1) count_depth_ = 0;  // only for that container
  --depth_;
  if (Reporting()) events_->OnEnd(kind, depth_);
  if (capturing_ && depth_ == capture_depth_) capture_->complete = true;
  state_ = depth_ == 0 ? State::kDone : State::kNext;
}

bool JsonMachine::AfterValue(char c) {
  const bool object = InObject();
  if (c == ',') {
    state_ = object ? State::kKey : State::kValue;
    return true;
  }
  if (c != (object ? '}' : ']')) return Fail(JsonFault::kNoComma);
  Close(object ? JsonKind::kObject : JsonKind::kArray);
  return true;
}

void JsonMachine::BeginString(bool key) {
  string_is_key_ = key;
  scalar_kind_ = JsonKind::kString;
  state_ = State::kString;
  token_.clear();
  token_bytes_ = 0;
}

const char* JsonMachine::InString(const char* at, const char* end) {
  const char* stop = SkipPlain(at, end);
  if (Reporting()) KeepToken(at, stop);
  if (stop == end) return stop;
  if (*stop == '"') {
    EndString();
    return stop + 1;
  }
  if (*stop != '\\') {
    Fail(JsonFault::kControl);
    return stop;
  }
  if (Reporting()) KeepToken(stop, stop + 1);
  state_ = State::kEscape;
  return stop + 1;
}

const char* JsonMachine::InEscape(const char* at) {
  const char c = *at;
  if (Reporting()) KeepToken(at, at + 1);
  if (state_ == State::kHex) {
    if (!IsHexDigit(c)) {
      Fail(JsonFault::kBadEscape);
      return at;
    }
    if (--hex_left_ == 0) state_ = State::kString;
    return at + 1;
  }
  if (c == 'u') {
    hex_left_ = 4;
    state_ = State::kHex;
    return at + 1;
  }
  if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
    Fail(JsonFault::kBadEscape);
    return at;
  }
  state_ = State::kString;
  return at + 1;
}

void JsonMachine::EndString() {
  if (!string_is_key_) {
    EndScalar();
    return;
  }
  state_ = State::kColon;
  if (Reporting()) events_->OnKey(token_, depth_);
}

void JsonMachine::EndScalar() {
  state_ = depth_ == 0 ? State::kDone : State::kNext;
  if (Reporting()) events_->OnScalar(scalar_kind_, token_, token_bytes_, depth_);
  if (capturing_ && depth_ == capture_depth_) capture_->complete = true;
}

const char* JsonMachine::InNumber(const char* at, const char* end) {
  const char* const from = at;
  for (; at < end; ++at) {
    const char c = *at;
    const bool digit = IsDigit(c);
    State next;
    switch (state_) {
      case State::kMinus:
        next = c == '0' ? State::kZero : digit ? State::kInteger : State::kDone;
        break;
      case State::kZero:
      case State::kInteger:
        next = digit && state_ == State::kInteger ? State::kInteger
               : c == '.'                         ? State::kPoint
               : c == 'e' || c == 'E'             ? State::kExponent
                                                  : State::kDone;
        break;
      case State::kPoint:
      case State::kFraction:
        next = digit                                                  ? State::kFraction
               : state_ == State::kFraction && (c == 'e' || c == 'E') ? State::kExponent
                                                                      : State::kDone;
        break;
      case State::kExponent:
        next = digit                  ? State::kExponentDigits
               : c == '+' || c == '-' ? State::kExponentSign
                                      : State::kDone;
        break;
      default:
        next = digit ? State::kExponentDigits : State::kDone;
    }
    if (next == State::kDone) break;
    state_ = next;
  }
  if (Reporting()) KeepToken(from, at);
  if (at == end) return at;
  const bool complete = state_ == State::kZero || state_ == State::kInteger ||
                        state_ == State::kFraction || state_ == State::kExponentDigits;
  if (state_ == State::kMinus && *at == 'I') {
    BeginLiteral(JsonKind::kNumber, "Infinity");
  } else if (!complete) {
    Fail(JsonFault::kBadNumber);
  } else if (state_ == State::kZero && IsDigit(*at)) {
    Fail(JsonFault::kBadNumber);  // a leading zero
  } else {
    EndScalar();
  }
  return at;
}

const char* JsonMachine::InLiteral(const char* at) {
  if (*at != literal_left_.front()) {
    Fail(scalar_kind_ == JsonKind::kNumber ? JsonFault::kBadNumber : JsonFault::kBadLiteral);
    return at;
  }
  if (Reporting()) KeepToken(at, at + 1);
  literal_left_.remove_prefix(1);
  if (literal_left_.empty()) EndScalar();
  return at + 1;
}

JsonOutcome JsonMachine::Finish() {
  if (state_ == State::kDone) return JsonOutcome::kDone;
  const bool number = state_ == State::kZero || state_ == State::kInteger ||
                      state_ == State::kFraction || state_ == State::kExponentDigits;
  if (!number || depth_ > 0) {
    Fail(JsonFault::kUnexpectedEnd);
    return JsonOutcome::kFault;
  }
  EndScalar();
  capturing_ = false;
  return JsonOutcome::kDone;
}

void JsonMachine::KeepToken(const char* from, const char* to) {
  const auto bytes = static_cast<std::size_t>(to - from);
  token_bytes_ += bytes;
  token_.append(from, std::min(bytes, kMaxToken - std::min(kMaxToken, token_.size())));
}

void JsonMachine::StartCapture(const char* at) {
  *capture_ = JsonCapture{};
  capturing_ = true;
  capture_from_ = at;
}

void JsonMachine::KeepCapture(const char* from, const char* to) {
  const std::string_view part(from, static_cast<std::size_t>(to - from));
  const std::size_t room =
      JsonCapture::kMaxBytes - std::min(JsonCapture::kMaxBytes, capture_->text.size());
  capture_->bytes += part.size();
  // Continuation bytes belong to a code point that was counted with its first byte.
  capture_->chars += static_cast<std::uint64_t>(std::count_if(part.begin(), part.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
  capture_->text += part.substr(0, utf8::FloorBoundary(part, std::min(room, part.size())));
}

}  // namespace dossier::inspect
