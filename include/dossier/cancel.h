// Lets one thread ask running work to stop.
// [example]
//   #include <dossier/inspect.h>
//   dossier::CancelSource source;  // held by whoever may cancel
//   std::thread worker([token = source.token()] {
//     const auto about = dossier::Inspect("huge.csv", {.cancel = token});
//     if (!about) std::cerr << about.error().message << "\n";
//   });
//   source.Cancel("the user pressed stop");  // from any thread
//   worker.join();
// [/example]
//
// Thread-safety: all methods may be called from any thread. Tokens are cheap copies and may outlive
// their source.

#ifndef DOSSIER_CANCEL_H_
#define DOSSIER_CANCEL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace dossier {

class CancelToken {
 public:
  CancelToken() = default;  // a token that is never cancelled

  bool cancelled() const { return state_ && state_->cancelled.load(std::memory_order_acquire); }
  // The reason given to Cancel; empty while not cancelled.
  std::string reason() const;

  // Runs `callback` once on cancellation, in the cancelling thread, or immediately if already
  // cancelled. Returns an id for Forget, or 0 if this token can never be cancelled.
  std::uint64_t OnCancel(std::function<void()> callback) const;
  // Once it returns, the callback is not running and will never run. Must not be called from inside
  // that callback.
  void Forget(std::uint64_t id) const;

 private:
  friend class CancelSource;
  struct State {
    std::atomic<bool> cancelled{false};
    std::mutex mutex;
    std::string reason;
    std::uint64_t next_id = 1;
    std::map<std::uint64_t, std::function<void()>> callbacks;
    std::mutex running;  // held while callbacks run
  };
  explicit CancelToken(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class CancelSource {
 public:
  CancelSource() : state_(std::make_shared<CancelToken::State>()) {}
  // Makes a source that is also cancelled when `parent` is.
  explicit CancelSource(const CancelToken& parent);
  ~CancelSource();
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  CancelToken token() const { return CancelToken(state_); }
  // The first call wins; later ones change nothing.
  void Cancel(std::string reason);

 private:
  static void CancelState(const std::shared_ptr<CancelToken::State>& state, std::string reason);
  std::shared_ptr<CancelToken::State> state_;
  CancelToken parent_;
  std::uint64_t parent_id_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_CANCEL_H_
