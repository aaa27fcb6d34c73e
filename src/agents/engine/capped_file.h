// A program's output on its way into a file: at most so many bytes, no secrets.
//
//   DOSSIER_ASSIGN_OR_RETURN(CappedFile file, CappedFile::Create(path, secrets));
//   DOSSIER_RETURN_IF_ERROR(file.Add(bytes));        // as it comes from the pipe
//   DOSSIER_ASSIGN_OR_RETURN(CappedOutput output, file.Finish());
//
// Memory: at most 64 KiB and the longest secret, however much comes. Thread-safety: one owner.

#ifndef DOSSIER_AGENTS_ENGINE_CAPPED_FILE_H_
#define DOSSIER_AGENTS_ENGINE_CAPPED_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "agents/git/secret_values.h"
#include "base/files/file.h"
#include "base/result.h"
#include "base/text/redact.h"

namespace dossier::agents {

inline constexpr std::uint64_t kMaxEngineOutput = 16u << 20;  // bytes of each stream

struct CappedOutput {
  std::uint64_t bytes = 0;    // written by the program
  std::uint64_t dropped = 0;  // of these, not kept
};

class CappedFile {
 public:
  // Mode 0600; an existing file is emptied. `secrets` must outlive it. Errors: kIo, kPermission
  // with the path.
  static Result<CappedFile> Create(const std::string& path, const SecretValues& secrets,
                                   std::uint64_t max_bytes = kMaxEngineOutput);

  // Errors: kIo with the path (the disk is full).
  Status Add(std::string_view bytes);
  Result<CappedOutput> Finish();

 private:
  CappedFile(std::string path, UniqueFd fd, const SecretValues& secrets, std::uint64_t max_bytes)
      : path_(std::move(path)), fd_(std::move(fd)), filter_(secrets), left_(max_bytes) {}

  Status Write(std::string_view text);

  std::string path_;
  UniqueFd fd_;
  SecretFilter filter_;
  std::uint64_t left_;
  RedactStream redact_;
  CappedOutput output_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_ENGINE_CAPPED_FILE_H_
