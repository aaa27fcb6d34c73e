// Sources of bytes: a file, memory or a stream, all readable at any offset.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto source, OpenFileSource("feed.ndjson"));
//   DOSSIER_ASSIGN_OR_RETURN(std::size_t got, source->ReadAt(0, std::span(buffer)));
//
// A stream is stored while it is read (the first 4 MiB in memory, the rest in an unlinked temporary
// file), so that it can be read twice like a file. Thread-safety: ReadAt may be called from many
// threads.

#ifndef DOSSIER_INSPECT_TEXT_BYTE_SOURCE_H_
#define DOSSIER_INSPECT_TEXT_BYTE_SOURCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::inspect {

// Shows whether a file was changed while it was read.
struct SourceState {
  std::uint64_t size = 0, inode = 0, device = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const SourceState&) const = default;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // As given by the user: a path, "-", or the name of a text. Empty: unnamed.
  virtual const std::string& name() const = 0;
  // Returns the bytes, if the system knows them reliably (not for a stream or /proc).
  virtual std::optional<std::uint64_t> size() const = 0;
  // Fills `out` from `offset`, completely unless the end is reached; returns 0 only at the end.
  // Errors: kIo, with the offset.
  virtual Result<std::size_t> ReadAt(std::uint64_t offset, std::span<char> out) const = 0;
  // Returns all bytes of a source in memory, without a copy.
  virtual std::optional<std::string_view> bytes() const { return std::nullopt; }
  virtual SourceState state() const { return {}; }
};

// Errors: kNotFound with the nearest names in the folder, kPermission, kIsDevice, kIo. A message
// starts with `path`.
Result<std::unique_ptr<ByteSource>> OpenFileSource(const std::string& path);
// Makes a source of an open regular file under a given name. `path` is where it was opened; state()
// uses it to detect that another file replaced it.
std::unique_ptr<ByteSource> FileSourceOf(UniqueFd fd, std::string name, std::string path);
// `text` must outlive the source.
std::unique_ptr<ByteSource> MemorySource(std::string_view text, std::string name);
// Reads from the open descriptor `fd`, which the caller keeps; `name` may be empty.
std::unique_ptr<ByteSource> StreamSource(int fd, std::string name);
// Fills `out` with the next bytes, `at` bytes from the start; returns 0 at the end. Errors: kIo,
// with the name of the input.
using ReadMore = std::function<Result<std::size_t>(std::uint64_t at, std::span<char> out)>;
// The same for bytes that are produced while they are read, such as those of a compressed file.
std::unique_ptr<ByteSource> StreamSource(ReadMore read_more, std::string name);
std::unique_ptr<ByteSource> StdinSource(std::string name);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_BYTE_SOURCE_H_
