// Reads lines from a descriptor: a pipe, a socket, or a terminal that we do not treat as one.
//
//   DescriptorLines lines(STDIN_FILENO, cancel);
//   while (true) {
//     auto line = lines.Next();                        // kTooLong: that line was passed over
//     if (!line || !*line) break;                      // an error, or the end of input
//   }
//
// Ownership: the descriptor stays the caller's. Thread-safety: one owner; a cancelled token ends
// the wait at once.

#ifndef DOSSIER_BASE_FILES_DESCRIPTOR_LINES_H_
#define DOSSIER_BASE_FILES_DESCRIPTOR_LINES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier {

class DescriptorLines {
 public:
  // `longest` in bytes. `advice` is appended to the error for a longer line: "; send it as a file".
  DescriptorLines(int fd, CancelToken cancel, std::size_t longest, std::string advice = "")
      : fd_(fd),
        stop_(cancel),
        cancel_(std::move(cancel)),
        longest_(longest),
        advice_(std::move(advice)) {}

  // Returns the next line without its end, also one cut off by the end of input; nothing after the
  // last. Errors: kTooLong, after which reading continues behind that line; kCancelled; kIo.
  Result<std::optional<std::string>> Next();

 private:
  Result<bool> Fill();  // false: the end of input

  const int fd_;
  const CancelFd stop_;
  const CancelToken cancel_;
  const std::size_t longest_;
  const std::string advice_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the bytes of buffer_ that no call has returned
  std::size_t seen_ = 0;   // bytes of buffer_ searched, without a line end
  bool ended_ = false, passing_over_ = false;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_DESCRIPTOR_LINES_H_
