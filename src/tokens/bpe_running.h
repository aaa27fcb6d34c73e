// Running for byte-pair encodings: what is appended changes the pieces at the end only, so those
// before the last lasting border are counted once. Internal to `tokens`.
//
// An append costs what it and the open end are long; a run of letters or of white space that does
// not end is all open. Thread-safety: one owner; the BpeText outlives it.

#ifndef DOSSIER_TOKENS_BPE_RUNNING_H_
#define DOSSIER_TOKENS_BPE_RUNNING_H_

#include <string>

#include "tokens/bpe_text.h"
#include "tokens/counter.h"

namespace dossier::tokens {

class BpeRunning final : public Running {
 public:
  explicit BpeRunning(const BpeText& encoder) : encoder_(encoder) {}

  void Append(std::string_view text) override;
  Count Total() const override;
  Mark Here() const override;
  void Rollback(const Mark& mark) override;

 private:
  // Counts what is behind `settled_` and moves it forward.
  void Settle();

  const BpeText& encoder_;
  std::string text_;            // cleaned
  std::string open_;            // bytes of a code point that is not complete
  std::size_t settled_ = 0;     // the last border of pieces that nothing appended can move
  std::int64_t tokens_ = 0;     // before it
  std::int64_t open_tokens_ = 0;  // behind it
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_BPE_RUNNING_H_
