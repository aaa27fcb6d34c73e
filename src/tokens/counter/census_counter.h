// Base class of counters whose result depends only on how many bytes and code points a text has.
//
//   class ByteCounter final : public CensusCounter {
//     std::int64_t TokensOf(const utf8::Census& census) const override { return census.bytes; }
//   };
//
// Internal to `tokens`. Thread-safety: as Counter.

#ifndef DOSSIER_TOKENS_COUNTER_CENSUS_COUNTER_H_
#define DOSSIER_TOKENS_COUNTER_CENSUS_COUNTER_H_

#include <optional>
#include <string>
#include <utility>

#include "base/text/utf8.h"
#include "tokens/counter/counter.h"

namespace dossier::tokens {

class CensusCounter : public Counter {
 public:
  // `margin` unset: the count is exact.
  CensusCounter(std::string name, std::optional<double> margin)
      : name_(std::move(name)), margin_(margin) {}

  Count CountText(std::string_view text) const final { return FromCensus(utf8::Count(text)); }
  std::unique_ptr<Running> Start() const final;
  std::string name() const final { return name_; }
  bool exact() const final { return !margin_; }
  double margin() const final { return margin_.value_or(0); }

  // A longer text must not give fewer tokens.
  virtual std::int64_t TokensOf(const utf8::Census& census) const = 0;

  Count FromCensus(const utf8::Census& census) const {
    return {.tokens = TokensOf(census), .exact = exact(), .margin = margin()};
  }

 private:
  const std::string name_;
  const std::optional<double> margin_;
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_CENSUS_COUNTER_H_
