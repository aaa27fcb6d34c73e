#include "server/line_stream.h"

#include "base/files/file.h"

namespace dossier::server {

Status LineWriter::Write(std::string line) {
  if (line.size() > kLongestLine) {
    return MakeError(ErrorCode::kTooLong, "a message of {} bytes is longer than {}", line.size(),
                     kLongestLine);
  }
  line += '\n';
  const std::lock_guard lock(mutex_);
  return WriteAll(fd_, line);
}

}  // namespace dossier::server
