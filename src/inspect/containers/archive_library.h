// libarchive: the bytes inside compressed files, and what tar archives hold.
//
//   DOSSIER_ASSIGN_OR_RETURN(Inside inside, OpenInside(*source, size, "gzip", limit, cancel));
//   inside.source->ReadAt(0, buffer);   // as if it were the file itself
//
// The library is loaded when it is first needed, since it brings a dozen others that would slow
// every start. Of it the readers of zip and tar and five filters are switched on, each by itself:
// nothing is guessed, and no program is ever started.
// Thread-safety: all functions from any thread; each call has an archive of its own.

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

// "gzip", "zstd", "bzip2", "xz" or "lz4".
bool IsCompression(std::string_view kind);

struct Inside {
  std::unique_ptr<ByteSource> source;  // has the name of the compressed one; needs it no longer
  std::uint64_t bytes = 0;             // that could be unpacked
  std::string why_cut;                 // empty: these are all
  enum class Cut { kNone, kLimit, kDamage } cut = Cut::kNone;
};

// Unpacks up to `limit` bytes, into memory and behind 4 MiB of that into a nameless file. Stops as
// well where output is over 250 times input, after the first 16 MiB.
// Errors: kCancelled, kUnavailable (the library), kTooLong
// (unpacking alone takes too much memory), kIo.
Result<Inside> OpenInside(const ByteSource& source, std::uint64_t size, std::string_view kind,
                          std::uint64_t limit, const CancelToken& cancel);

struct TarEntry {
  std::string path;
  std::uint64_t bytes = 0;
  enum class Kind { kFile, kFolder, kOther } kind = Kind::kFile;
};
// Goes through the headers; contents are passed over. Errors: as above; entries up to there have
// been given.
Status ListTar(const ByteSource& source, std::uint64_t size, const CancelToken& cancel,
               const std::function<void(const TarEntry&)>& take);

// The content of one member of a zip archive, at most `most` bytes of it.
// Errors: as above; kNotFound.
Result<std::string> ReadZipMember(const ByteSource& source, std::uint64_t size,
                                  std::string_view path, std::size_t most,
                                  const CancelToken& cancel);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_ARCHIVE_LIBRARY_H_
