// The output of a block, kept within a limit: the first 80 % and the last 20 %.
//
//   OutputCapture capture;
//   capture.Begin(/*limit=*/10 << 20);
//   capture.Write("text");                       // any thread; never blocks on the host
//   std::string part = capture.TakeHead();       // what can be sent already
//   OutputCapture::Rest rest = capture.Finish();
//
// What is written while no block runs is kept apart, as late output of the block before.
// Thread-safety: all methods may be called from any thread.

#ifndef DOSSIER_WORKERS_PROCESS_OUTPUT_CAPTURE_H_
#define DOSSIER_WORKERS_PROCESS_OUTPUT_CAPTURE_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace dossier::worker {

class OutputCapture {
 public:
  struct Rest {
    std::string head, tail;     // not sent so far
    std::uint64_t head_at = 0;  // offset of `head` in all that was written
    std::uint64_t tail_at = 0;
    std::uint64_t total = 0, dropped = 0;  // bytes
    std::uint64_t characters = 0;          // of the total, as UTF-8
  };

  void Begin(std::uint64_t limit);
  void Write(std::string_view data);
  // Head bytes not taken so far and where they start; empty if there are none.
  std::string TakeHead(std::uint64_t* at);
  Rest Finish();
  // Written since the last Finish and before Begin; at most 64 KiB.
  std::string TakeLate();

 private:
  void WriteTail(std::string_view data);

  std::mutex mutex_;
  bool running_ = false;
  std::uint64_t head_limit_ = 0, tail_limit_ = 0;
  std::string head_;              // not taken yet
  std::uint64_t head_total_ = 0;  // bytes ever put into the head
  std::string tail_;              // a ring once it is full
  std::size_t tail_start_ = 0;
  std::uint64_t total_ = 0, characters_ = 0;
  std::string late_;
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_OUTPUT_CAPTURE_H_
