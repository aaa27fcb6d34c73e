// What somebody named by a path or a web address: read, or fetched, once; and whether it is an
// image.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string bytes,
//                            ReadNamedPlace("https://example.org/plan.png", 16 << 20,
//                                           Network::kAny, cancel));
//
// An address is fetched because it was named, up to a size, and never another one that it leads to.
// Thread-safety: functions over files and the network; they block the thread that calls.

#ifndef DOSSIER_BASE_NET_NAMED_PLACE_H_
#define DOSSIER_BASE_NET_NAMED_PLACE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier {

enum class Network : std::uint8_t { kAny, kNone };  // kNone: --offline

// A GET. Errors: kNetwork (a status but 200: a redirect names its goal; --offline), kTooLong,
// kTimeout, kCancelled, kUnavailable (libcurl).
Result<std::string> FetchAddress(const std::string& url, std::uint64_t most_bytes, Network network,
                                 const CancelToken& cancel);

// The bytes of a regular file, or of an address. Errors: kNotFound, with what lies near; kTooLong,
// kInvalidArgument (a folder, a pipe, a device), kIo, kPermission; those of FetchAddress.
Result<std::string> ReadNamedPlace(const std::string& place, std::uint64_t most_bytes,
                                   Network network, const CancelToken& cancel);

// The media type of an image that providers take (PNG, JPEG, GIF, WebP), as its first bytes prove
// it: "image/png". Empty for anything else; the rest of the bytes may be damaged.
std::string_view ImageType(std::string_view bytes);

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_NAMED_PLACE_H_
