// Counts the tokens of a text.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto opened, tokens::Open("o200k_base", DefaultDataPaths()));
//   const tokens::Count count = opened.counter->CountText(prompt);
//   std::string_view head = text.substr(0, opened.counter->LongestPrefix(text, 1000).bytes);
//
// The count of a whole is never the sum of its parts' counts. Running counts a growing text, Ranges
// parts of a fixed text; both equal CountText of the same bytes:
//
//   auto running = counter->Start();
//   running->Append(line);                        // costs what the line is long
//   auto ranges = counter->Prepare(text);
//   ranges->CountRange(100, 200);                 // as CountText(text.substr(100, 100))
//
// Texts that are joined repeatedly, such as the sections of a prompt, are measured once:
//
//   const std::vector<Measured> measured = counter->Measure({{rules, notes}});
//   running->AppendMeasured(rules, measured[0]);  // costs what the joint is long
//   running->Append("\n\n");
//   running->AppendMeasured(notes, measured[1]);
//
// Text is UTF-8; invalid parts count as U+FFFD, as they will be sent. Names of special tokens are
// plain text. Every counter offers all of this, including estimators.
//
// Thread-safety: counters are immutable, for many threads; a Running or Ranges has one owner at a
// time. Ownership: a counter must outlive its Runnings and Ranges, a text its Ranges.

#ifndef DOSSIER_TOKENS_COUNTER_COUNTER_H_
#define DOSSIER_TOKENS_COUNTER_COUNTER_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::tokens {

struct Count {
  std::int64_t tokens = 0;
  bool exact = false;
  double margin = 0;  // share by which the true count may be higher; 0 if exact

  // The count to use for budgets.
  std::int64_t upper() const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * (1.0 + margin)));
  }
};

// A token's number in its vocabulary.
using TokenId = std::uint32_t;

// A part of a text, with its count.
struct CountedPart {
  std::size_t bytes = 0;
  std::int64_t tokens = 0;
};

// The result of measuring a text once, for appending it cheaply after other texts.
struct Measured {
  std::int64_t tokens = 0;  // of the text alone, as CountText
  // For Running::AppendMeasured, in tokens of the vocabulary; empty: a join counts it again.
  std::vector<CountedPart> first;  // piece borders near the start, in order
  CountedPart lasting;             // up to the last border that appended text cannot move
  std::int64_t open = 0;           // tokens after that
};

// Counts a growing text.
class Running {
 public:
  // A place to roll back to, valid for one Running only.
  struct Mark {
    std::size_t bytes = 0;    // of the text
    std::size_t settled = 0;  // bytes whose tokens later text cannot change
    std::int64_t tokens = 0;  // of those
    std::string open;         // bytes of an incomplete code point
  };

  virtual ~Running() = default;
  // `text` may begin or end inside a code point.
  virtual void Append(std::string_view text) = 0;
  // As Append; `measured` must be from Measure of the same counter for `text`.
  virtual void AppendMeasured(std::string_view text, const Measured& measured);
  virtual Count Total() const = 0;
  virtual Mark Here() const = 0;
  // Discards what was appended after `mark`, and the marks made since.
  virtual void Rollback(const Mark& mark) = 0;
};

// Counts parts of a text.
class Ranges {
 public:
  virtual ~Ranges() = default;
  // Counts the bytes [begin, end), both at code point borders, begin <= end <= the text's size.
  virtual Count CountRange(std::size_t begin, std::size_t end) const = 0;
};

class Counter {
 public:
  virtual ~Counter() = default;
  virtual Count CountText(std::string_view utf8) const = 0;
  virtual std::string name() const = 0;  // "o200k_base", "chars", "estimate"
  virtual bool exact() const = 0;
  virtual double margin() const = 0;

  // Returns the tokens. Errors: kUnavailable if the counter has no vocabulary.
  virtual Result<std::vector<TokenId>> Encode(std::string_view utf8) const;

  // Return the longest start / end of `utf8` with at most `limit` (0 or more) tokens that does not
  // cut a code point. If a longer part may have fewer tokens than a shorter one, a few tokens
  // around the limit are searched for the longest.
  virtual CountedPart LongestPrefix(std::string_view utf8, std::int64_t limit) const;
  virtual CountedPart LongestSuffix(std::string_view utf8, std::int64_t limit) const;

  // Measures many texts at once: short texts share the overhead.
  virtual std::vector<Measured> Measure(std::span<const std::string_view> texts) const;
  virtual std::unique_ptr<Running> Start() const;
  virtual std::unique_ptr<Ranges> Prepare(std::string_view utf8) const;
};

struct Ratio {
  double bytes_per_token;  // for ASCII text; > 0
  double margin;           // 0 to 1
};

// Counts ASCII by the ratio, and every other code point as one token.
Result<std::shared_ptr<const Counter>> MakeEstimator(Ratio ratio);
// Counts one token per code point, exactly: for tests and character budgets.
std::shared_ptr<const Counter> MakeCharCounter();
std::shared_ptr<const Counter> MakeByteCounter();

// An estimator used if the vocabulary `name` is missing: bytes divided by the ratio.
std::shared_ptr<const Counter> MakeStandIn(std::string name, Ratio ratio);
// Multiplies the counts of `counter` by `ratio`, rounded up: for models with a similar vocabulary.
// Errors: kInvalidArgument (a ratio not above 0, a margin not 0 to 1).
Result<std::shared_ptr<const Counter>> MakeScaled(std::shared_ptr<const Counter> counter,
                                                  double ratio, double margin);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_COUNTER_H_
