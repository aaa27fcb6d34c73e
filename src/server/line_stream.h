// Line-based messages between two programs: one JSON value per line, over a pipe or a socket.
//
//   DescriptorLines reader(STDIN_FILENO, cancel, kLongestLine, std::string(kLongLineAdvice));
//   LineWriter writer(STDOUT_FILENO);
//   while (true) {
//     auto line = reader.Next();
//     if (!line || !*line) break;
//     …
//     writer.Write(ToJson(answer));                    // whole lines, with any number of writers
//   }
//
// Thread-safety: Write from any thread; lines are not mixed. Ownership: the descriptor stays the
// caller's.

#ifndef DOSSIER_SERVER_LINE_STREAM_H_
#define DOSSIER_SERVER_LINE_STREAM_H_

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "base/files/descriptor_lines.h"
#include "base/result.h"

namespace dossier::server {

inline constexpr std::size_t kLongestLine = 64u << 20;  // bytes
inline constexpr std::string_view kLongLineAdvice = ": send large text as a path";

class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // Errors: kIo (nobody reads any more), kTooLong (nothing was written).
  Status Write(std::string line);

 private:
  const int fd_;
  std::mutex mutex_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_LINE_STREAM_H_
