#include "agents/engine/capped_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace dossier::agents {

Result<CappedFile> CappedFile::Create(const std::string& path, const SecretValues& secrets,
                                      std::uint64_t max_bytes) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  return CappedFile(path, std::move(fd), secrets, max_bytes);
}

Status CappedFile::Add(std::string_view bytes) {
  output_.bytes += bytes.size();
  const std::size_t kept = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  left_ -= kept;
  output_.dropped += bytes.size() - kept;
  if (kept == 0) return {};
  return Write(redact_.Add(filter_.Add(bytes.substr(0, kept))));
}

Result<CappedOutput> CappedFile::Finish() {
  // Where the file was cut the rest may be half a secret.
  const std::string rest = filter_.Finish();
  DOSSIER_RETURN_IF_ERROR(Write(redact_.Add(output_.dropped == 0 ? rest : "")));
  DOSSIER_RETURN_IF_ERROR(Write(redact_.Finish()));
  fd_.Reset();
  return output_;
}

Status CappedFile::Write(std::string_view text) {
  if (text.empty()) return {};
  if (Status written = WriteAll(fd_.get(), text); !written) {
    return MakeError(written.error().code, "{} bytes for {}: {}", text.size(), path_,
                     written.error().message);
  }
  return {};
}

}  // namespace dossier::agents
