// Uses libarchive to read the content of compressed files, and to list tar archives.
//
//   DOSSIER_ASSIGN_OR_RETURN(Inside inside, OpenInside(*source, size, "gzip", limit, cancel));
//   inside.source->ReadAt(0, buffer);   // as if it were the file itself
//
// The library is loaded on first use, since it brings a dozen others that would slow every start.
// Only its readers for zip and tar and five filters are enabled, one at a time: nothing is guessed,
// and no program is ever started. Thread-safety: all functions may be called from any thread; each
// call has its own archive.

#ifndef DOSSIER_INSPECT_CONTAINERS_ARCHIVE_LIBRARY_H_
#define DOSSIER_INSPECT_CONTAINERS_ARCHIVE_LIBRARY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

// Returns true for "gzip", "zstd", "bzip2", "xz" and "lz4".
bool IsCompression(std::string_view kind);

struct Inside {
  std::unique_ptr<ByteSource> source;  // has the name of the compressed one but does not need it
                                       // any more
  std::uint64_t bytes = 0;             // that could be unpacked
  std::string why_cut;                 // empty: complete
  enum class Cut { kNone, kLimit, kDamage } cut = Cut::kNone;
};

// Unpacks up to `limit` bytes: 4 MiB into memory, the rest into an unnamed file. Also stops if the
// output is over 250 times the input, after the first 16 MiB. Errors: kCancelled, kUnavailable (the
// library), kTooLong (unpacking itself needs too much memory), kIo.
Result<Inside> OpenInside(const ByteSource& source, std::uint64_t size, std::string_view kind,
                          std::uint64_t limit, const CancelToken& cancel);

struct TarEntry {
  std::string path;
  std::uint64_t bytes = 0;
  enum class Kind { kFile, kFolder, kOther } kind = Kind::kFile;
};
// Reads the headers and skips contents. Errors: as above; `take` has received the entries before
// the error.
Status ListTar(const ByteSource& source, std::uint64_t size, const CancelToken& cancel,
               const std::function<void(const TarEntry&)>& take);

// Returns the content of one member of a zip archive, at most `most` bytes. Errors: as above;
// kNotFound.
Result<std::string> ReadZipMember(const ByteSource& source, std::uint64_t size,
                                  std::string_view path, std::size_t most,
                                  const CancelToken& cancel);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_ARCHIVE_LIBRARY_H_
