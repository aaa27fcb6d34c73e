// Describes a source of bytes in one pass, from its encoding to the fields of its records.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto source, OpenFileSource("feed.ndjson"));
//   DOSSIER_ASSIGN_OR_RETURN(Description about, Describe(*source, {}, cancel));
//   std::string hint = RenderHint(about, {});
//
// Works as a stream: at most a few blocks are in memory, whatever the size of the source or of a
// line. Thread-safety: may be called from many threads; the result depends only on bytes and name.

#ifndef DOSSIER_INSPECT_DESCRIBE_DESCRIBE_H_
#define DOSSIER_INSPECT_DESCRIBE_DESCRIBE_H_

#include <string_view>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"
#include "inspect/description/options.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

// Errors: kCancelled, kInvalidArgument (an option out of range), kIo (nothing could be read).
// Malformed content is never an error but a Note; a read error in the middle gives lower bounds and
// `read_error`.
Result<Description> Describe(const ByteSource& source, const Options& options,
                             const CancelToken& cancel);

// The same for decoded text; `name` may be empty: then the text is not called a file. Never fails.
Description DescribeText(std::string_view utf8, std::string_view name, const Options& options);

// For callers that need text: kDamaged for a binary file, naming `shown`, its kind and how to get
// text from it.
Status RefuseBinary(const Description& description, std::string_view shown);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIBE_DESCRIBE_H_
