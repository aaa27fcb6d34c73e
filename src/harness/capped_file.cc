#include "harness/capped_file.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/redact.h"

namespace dossier::harness {
namespace {

constexpr std::size_t kBlock = 64 << 10;  // bytes: a longer line is looked at in parts

}  // namespace

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
  pending_ += filter_.Add(bytes.substr(0, kept));
  return pending_.size() < kBlock ? Status() : Write(Whole::kNo);
}

Result<CappedOutput> CappedFile::Finish() {
  // Where the file was cut the rest may be half a secret.
  const std::string rest = filter_.Finish();
  if (output_.dropped == 0) pending_ += rest;
  DOSSIER_RETURN_IF_ERROR(Write(Whole::kYes));
  fd_.Reset();
  return output_;
}

Status CappedFile::Write(Whole whole) {
  const std::size_t line = pending_.rfind('\n');
  const std::size_t end =
      whole == Whole::kYes || line == std::string::npos ? pending_.size() : line + 1;
  if (Status written = WriteAll(fd_.get(), Redact(std::string_view(pending_).substr(0, end)));
      !written) {
    return MakeError(written.error().code, "{} bytes for {}: {}", end, path_,
                     written.error().message);
  }
  pending_.erase(0, end);
  return {};
}

}  // namespace dossier::harness
