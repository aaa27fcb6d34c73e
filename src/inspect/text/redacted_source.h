// A source with keys and passwords replaced, for readers who must not see them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t secrets, CountSecrets(*source, cancel));
//   if (secrets > 0) source = RedactedSource(std::move(source), cancel);
//   source->ReadAt(0, buffer);   // "password = \"[redacted:password]\"" …
//
// UTF-16 and UTF-32 are converted to UTF-8, since the detector reads text; other bytes stay.
// Thread-safety: as ByteSource.

#ifndef DOSSIER_INSPECT_TEXT_REDACTED_SOURCE_H_
#define DOSSIER_INSPECT_TEXT_REDACTED_SOURCE_H_

#include <cstdint>
#include <limits>
#include <memory>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

// Returns how many secrets base/text/redact.h finds in the whole source, or in about its first
// `max_scan` bytes of text. Errors: kIo, kCancelled.
Result<std::uint64_t> CountSecrets(
    const ByteSource& source, const CancelToken& cancel,
    std::uint64_t max_scan = std::numeric_limits<std::uint64_t>::max());

// Reads `source` again, with "[redacted:KIND]" in place of each secret. Its size is not known.
std::unique_ptr<ByteSource> RedactedSource(std::unique_ptr<ByteSource> source,
                                           const CancelToken& cancel);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_REDACTED_SOURCE_H_
