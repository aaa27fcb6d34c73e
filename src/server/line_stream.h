// Messages as lines between two programs: one JSON value a line, over a pipe or a socket.
//
//   LineReader reader(STDIN_FILENO, cancel);
//   LineWriter writer(STDOUT_FILENO);
//   while (true) {
//     auto line = reader.Next();                       // kTooLong: that line was passed over
//     if (line && !*line) break;                       // the end of input
//     …
//     writer.Write(ToJson(answer));                    // whole lines, whoever else writes
//   }
//
// Thread-safety: one thread reads; Write from any thread, a line at a time. Ownership: the
// descriptors stay the caller's.

#ifndef DOSSIER_SERVER_LINE_STREAM_H_
#define DOSSIER_SERVER_LINE_STREAM_H_

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::server {

inline constexpr std::size_t kLongestLine = 64u << 20;  // bytes

class LineReader {
 public:
  LineReader(int fd, CancelToken cancel, std::size_t longest = kLongestLine)
      : fd_(fd), stop_(cancel), cancel_(std::move(cancel)), longest_(longest) {}

  // The next line without its end, also one that the end of input cut; nothing behind the last.
  // Errors: kTooLong, where reading goes on behind that line; kCancelled; kIo.
  Result<std::optional<std::string>> Next();

 private:
  Result<bool> Fill();  // false: the end of input

  const int fd_;
  const CancelFd stop_;
  const CancelToken cancel_;
  const std::size_t longest_;
  std::string buffer_;
  std::size_t seen_ = 0;  // of buffer_, without an end of line
  bool ended_ = false, passing_over_ = false;
};

class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // Errors: kIo (nobody reads any more), kTooLong: nothing was written then.
  Status Write(std::string line);

 private:
  const int fd_;
  std::mutex mutex_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_LINE_STREAM_H_
