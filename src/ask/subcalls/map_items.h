// The texts of one call of map_llm, and the turn that calls with many of them take.
//
//   LargeTurn turn;                                    // of all calls of a session
//   MapItems items(turn, cancel);
//   DOSSIER_RETURN_IF_ERROR(items.AddView(line));      // it lies in a document
//   DOSSIER_RETURN_IF_ERROR(items.Add(std::move(text)));
//   Label(items.texts());
//
// A few bytes of code name all lines of a document, and code may have hundreds of calls open. So
// nothing is copied that can be shown where it lies, and of the calls that hold more than a little
// one is at work and the others wait for it.
//
// Thread-safety: LargeTurn from any thread; MapItems has one owner.

#ifndef DOSSIER_ASK_SUBCALLS_MAP_ITEMS_H_
#define DOSSIER_ASK_SUBCALLS_MAP_ITEMS_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::ask {

class LargeTurn {
 public:
  // Waits until nobody has it. Errors: kCancelled.
  Status Take(const CancelToken& cancel);
  void GiveBack();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  enum class State { kFree, kTaken } state_ = State::kFree;  // guarded by mutex_
};

class MapItems {
 public:
  // `turn` must outlive it.
  MapItems(LargeTurn& turn, CancelToken cancel) : turn_(turn), cancel_(std::move(cancel)) {}
  ~MapItems();
  MapItems(const MapItems&) = delete;
  MapItems& operator=(const MapItems&) = delete;

  // Before `bytes` are copied or made: waits for the turn if that is much. Errors: kTooLong,
  // kCancelled.
  Status Expect(std::uint64_t bytes);
  // Errors: as Expect; kTooLong: there are too many.
  Status Add(std::string text);
  Status AddView(std::string_view text);

  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  LargeTurn& turn_;
  const CancelToken cancel_;
  enum class Size { kSmall, kLarge } size_ = Size::kSmall;
  std::vector<std::string_view> texts_;
  std::deque<std::string> copies_;  // what views lie in must not move
  std::uint64_t bytes_ = 0;         // of all texts
  std::uint64_t held_ = 0;          // that they take here
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_MAP_ITEMS_H_
