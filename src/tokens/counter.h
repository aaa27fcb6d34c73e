// How many tokens a text costs.
//
//   auto counter = tokens::MakeEstimator({.bytes_per_token = 3.3, .margin = 0.15});
//   tokens::Count count = counter->CountText(prompt);
//   budget -= count.upper();
//
// Exact counters (cl100k, o200k, GGUF) come behind the same interface; so does the local server's
// own /tokenize (model/local_tokenizer.h).
//
// Thread-safety: counters are immutable and may be used from many threads.

#ifndef DOSSIER_TOKENS_COUNTER_H_
#define DOSSIER_TOKENS_COUNTER_H_

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::tokens {

struct Count {
  std::int64_t tokens = 0;
  bool exact = false;
  double margin = 0;  // share by which the true count may be higher; 0 if exact

  // The count to budget with.
  std::int64_t upper() const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * (1.0 + margin)));
  }
};

class Counter {
 public:
  virtual ~Counter() = default;
  virtual Count CountText(std::string_view utf8) const = 0;
  virtual std::string name() const = 0;  // "o200k_base", "chars", "estimate"
  virtual bool exact() const = 0;
  virtual double margin() const = 0;
};

struct Ratio {
  double bytes_per_token;  // of ASCII text; > 0
  double margin;           // 0 to 1
};

// ASCII by the ratio, every other code point as one token. See ASM-54, ASM-61.
Result<std::shared_ptr<const Counter>> MakeEstimator(Ratio ratio);
// One token a code point, exact: for tests and character budgets (ASM-55).
std::shared_ptr<const Counter> MakeCharCounter();
std::shared_ptr<const Counter> MakeByteCounter();

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_H_
