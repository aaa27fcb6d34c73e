// Parses one JSON value byte by byte, as in RFC 8259, without a tree, recursion or a copy of the
// text. NaN, Infinity and -Infinity are numbers too, because Python's json writes and reads them.
//
//   JsonMachine machine;
//   const char* at = text.data();
//   if (machine.Feed(&at, text.data() + text.size()) == JsonOutcome::kDone) Use(at);  // behind it
//
// The input may be split anywhere. At most 1,024 nesting levels, one bit each. Thread-safety: one
// owner.

#ifndef DOSSIER_INSPECT_JSON_JSON_MACHINE_H_
#define DOSSIER_INSPECT_JSON_JSON_MACHINE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dossier::inspect {

enum class JsonKind : std::uint8_t { kObject, kArray, kString, kNumber, kBoolean, kNull };

enum class JsonFault : std::uint8_t {
  kNone,
  kUnexpectedEnd,
  kNoValue,  // a byte that cannot begin a value
  kNoKey,    // an object member without a quoted name
  kNoColon,
  kNoComma,  // neither a comma nor the end of the container
  kBadEscape,
  kControl,  // an unescaped control character in a string
  kBadNumber,
  kBadLiteral,  // not true, false or null
  kTooDeep,
  kTrailing,  // text after the value
};
// Returns a sentence without a full stop: "unexpected end", "a name in quotes is missing".
std::string_view FaultText(JsonFault fault);

enum class JsonOutcome : std::uint8_t { kMore, kDone, kFault };

// Line ends between tokens are white space, or end the text (NDJSON).
enum class JsonLineEnds : std::uint8_t { kSpace, kEndValue };

// Receives the tokens in containers that are at most `event_depth` levels deep. `raw` is the text
// between the quotes, or the number or literal; of a string over 64 KiB only its beginning.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  // `depth`: number of containers around the container or token; 0 at the root.
  virtual void OnBegin(JsonKind container, int depth) = 0;
  virtual void OnEnd(JsonKind container, int depth) = 0;
  virtual void OnKey(std::string_view raw, int depth) = 0;
  virtual void OnScalar(JsonKind kind, std::string_view raw, std::uint64_t raw_bytes,
                        int depth) = 0;
};

// The text of one value as in the input.
struct JsonCapture {
  static constexpr std::size_t kMaxBytes = 64 << 10;
  std::string text;          // at most kMaxBytes
  std::uint64_t bytes = 0;   // of the whole value
  std::uint64_t chars = 0;   // in code points
  std::uint64_t spaces = 0;  // white space between tokens
  bool complete = false;
};

class JsonMachine {
 public:
  static constexpr int kMaxDepth = 1024;

  explicit JsonMachine(JsonLineEnds line_ends = JsonLineEnds::kSpace) : line_ends_(line_ends) {}

  // Prepares for the next value; options and events are kept.
  void Reset();

  // Consumes bytes from `*at`, which moves after the value (kDone), to the offending byte (kFault),
  // or to `end` (kMore). White space before the value is skipped.
  JsonOutcome Feed(const char** at, const char* end);
  // Ends the input: kDone if that completes the value (a number), else kFault.
  JsonOutcome Finish();

  JsonFault fault() const { return fault_; }
  bool started() const { return started_; }
  JsonKind kind() const { return root_kind_; }  // of the value; valid only if started
  int depth() const { return depth_; }

  // `events` may be null; it must outlive the machine.
  void SetEvents(JsonEvents* events, int event_depth) {
    events_ = events;
    event_depth_ = events ? event_depth : -1;
  }
  // Counts the values directly in the container at `depth` by kind (1: elements of a root array); 0
  // stops counting. If called from OnBegin, it starts with that container.
  void CountAt(int depth) { count_depth_ = depth; }
  std::uint64_t counted() const;
  // Undoes the count of a value that has begun but not ended.
  void UncountOpen();
  // Returns how many numbers of the value are NaN, Infinity or -Infinity.
  std::uint64_t non_finite() const { return non_finite_; }
  std::uint64_t counted(JsonKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

  // Copies the next value that begins inside `depth` containers to `capture`.
  void CaptureAt(int depth, JsonCapture* capture) {
    capture_ = capture;
    capture_depth_ = depth;
    capturing_ = false;
  }

 private:
  enum class State : std::uint8_t {
    kValue,
    kFirstElement,  // after `[`
    kFirstKey,      // after `{`
    kKey,           // after a comma in an object
    kColon,
    kNext,  // after a value in a container
    kString,
    kEscape,
    kHex,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kLiteral,
    kDone,
  };

  JsonOutcome Run(const char** at, const char* end);
  const char* BetweenTokens(const char* at);
  bool TakeSign(char c, const char* at);
  void EndCapture(const char* at);
  bool BeginValue(char c, const char* at);
  bool Open(JsonKind kind);
  void Close(JsonKind kind);
  void BeginString(bool key);
  const char* InString(const char* at, const char* end);
  const char* InEscape(const char* at);
  const char* InNumber(const char* at, const char* end);
  const char* InLiteral(const char* at);
  void BeginLiteral(JsonKind kind, std::string_view rest);
  bool AfterValue(char c);
  void EndString();
  void EndScalar();
  void KeepToken(const char* from, const char* to);
  void StartCapture(const char* at);
  void KeepCapture(const char* from, const char* to);
  bool Fail(JsonFault fault) {
    fault_ = fault;
    return false;
  }
  bool InObject() const {
    const int level = depth_ - 1;
    return (levels_[static_cast<std::size_t>(level / 64)] >> (level % 64) & 1) != 0;
  }
  bool InToken() const;
  bool Reporting() const { return depth_ <= event_depth_; }

  const JsonLineEnds line_ends_;
  State state_ = State::kValue;
  JsonFault fault_ = JsonFault::kNone;
  JsonKind root_kind_ = JsonKind::kNull;
  JsonKind scalar_kind_ = JsonKind::kNull;
  bool started_ = false;
  bool string_is_key_ = false;
  std::uint8_t hex_left_ = 0;
  int depth_ = 0;
  std::string_view literal_left_;
  std::array<std::uint64_t, kMaxDepth / 64> levels_{};  // 1: an object

  JsonEvents* events_ = nullptr;
  int event_depth_ = -1;
  std::string token_;
  std::uint64_t token_bytes_ = 0;

  std::uint64_t non_finite_ = 0;
  int count_depth_ = 0;
  std::array<std::uint64_t, 6> counts_{};
  JsonKind counted_last_ = JsonKind::kNull;

  JsonCapture* capture_ = nullptr;
  int capture_depth_ = 0;
  bool capturing_ = false;
  const char* capture_from_ = nullptr;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_JSON_MACHINE_H_
