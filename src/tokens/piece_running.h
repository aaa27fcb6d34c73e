// Running for encodings that work piece by piece: what is appended changes the pieces at the end
// only, so those before the last lasting border are counted once. Internal to `tokens`.
//
//   PieceRunning running([&](std::string_view tail, Place place) { … return Tail{…}; });
//
// An append costs what it and the open end are long; a run of letters or of white space that does
// not end is all open. Thread-safety: one owner; what the function refers to outlives it.

#ifndef DOSSIER_TOKENS_PIECE_RUNNING_H_
#define DOSSIER_TOKENS_PIECE_RUNNING_H_

#include <functional>
#include <string>

#include "tokens/counter.h"

namespace dossier::tokens {

// Where a part of a text starts: with the text, or at a lasting border behind its start.
enum class Place : std::uint8_t { kStart, kBorder };

// The count of an end of a text.
struct Tail {
  std::int64_t tokens = 0;
  Cut lasting;  // up to the last border that nothing appended can move; of 0 bytes: there is none
};

class PieceRunning final : public Running {
 public:
  // Counts valid UTF-8.
  using CountTail = std::function<Tail(std::string_view tail, Place place)>;

  explicit PieceRunning(CountTail count_tail) : count_tail_(std::move(count_tail)) {}

  void Append(std::string_view text) override;
  Count Total() const override;
  Mark Here() const override;
  void Rollback(const Mark& mark) override;

 private:
  // Counts what is behind `settled_` and moves it forward.
  void Settle();
  Tail CountOpen(std::string_view tail) const {
    return count_tail_(tail, settled_ == 0 ? Place::kStart : Place::kBorder);
  }

  const CountTail count_tail_;
  std::string text_;              // cleaned
  std::string open_;              // bytes of a code point that is not complete
  std::size_t settled_ = 0;       // the last border of pieces that nothing appended can move
  std::int64_t tokens_ = 0;       // before it
  std::int64_t open_tokens_ = 0;  // behind it
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_PIECE_RUNNING_H_
