// Files and addresses that a person named, for one message: texts and images.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Attachments found,
//                            ReadAttachments({"notes.txt", "plan.png"}, {.network = …}, cancel));
//
// What a file is, its content tells. Texts come in any encoding that `inspect` knows; images are
// PNG, JPEG, GIF and WebP. An address is fetched because it was named, once, up to a size, and
// never another one that it leads to. Thread-safety: a function over files and the network.

#ifndef DOSSIER_CLI_WIRING_ATTACHMENTS_H_
#define DOSSIER_CLI_WIRING_ATTACHMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/result.h"
#include "chat/context/gather.h"

namespace dossier::cli {

inline constexpr std::uint64_t kMaxAttachment = 16 << 20;  // bytes of one file or address

struct Attachments {
  std::vector<chat::NamedText> texts;
  std::vector<assembly::Block> images;
  std::vector<std::string> warnings;

  bool empty() const { return texts.empty() && images.empty(); }
  void Add(Attachments more);
};

enum class Network { kAny, kNone };  // kNone: --offline

// A GET. Errors: kNetwork (a status but 200: a redirect names its goal; --offline), kTooLong,
// kTimeout, kCancelled, kUnavailable (libcurl).
Result<std::string> FetchAddress(const std::string& url, std::uint64_t most_bytes, Network network,
                                 const CancelToken& cancel);

// `places`: paths, addresses, and `-` for stdin. Errors: kNotFound, kTooLong, kInvalidArgument (a
// folder, a file that is neither text nor image), kIo, those of FetchAddress.
Result<Attachments> ReadAttachments(const std::vector<std::string>& places, Network network,
                                    const CancelToken& cancel);

// The files that a typed line names: `@PATH`, `@"PATH WITH SPACES"`, `@~/PATH`, `@https://…`, where
// there is such a file. An @ in front of anything else is text.
std::vector<std::string> MentionedFiles(std::string_view line);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_ATTACHMENTS_H_
