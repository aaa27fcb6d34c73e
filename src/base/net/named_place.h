// Reads a file or fetches a web address that the user named, and recognises images.
//
//   DOSSIER_ASSIGN_OR_RETURN(const std::string bytes,
//                            ReadNamedPlace("https://example.org/plan.png", 16 << 20,
//                                           Network::kAny, cancel));
//
// An address is fetched because it was named, up to a size limit; redirects are never followed.
// Thread-safety: functions over files and the network; they block the calling thread.

#ifndef DOSSIER_BASE_NET_NAMED_PLACE_H_
#define DOSSIER_BASE_NET_NAMED_PLACE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier {

enum class Network : std::uint8_t { kAny, kNone };  // kNone: --offline

// Sends a GET. Errors: kNetwork (a status other than 200, with a redirect's target; --offline),
// kTooLong, kTimeout, kCancelled, kUnavailable (libcurl).
Result<std::string> FetchAddress(const std::string& url, std::uint64_t most_bytes, Network network,
                                 const CancelToken& cancel);

// Returns the bytes of a regular file, or of an address. Errors: kNotFound, with similar names;
// kTooLong, kInvalidArgument (a folder, a pipe, a device), kIo, kPermission; those of FetchAddress.
Result<std::string> ReadNamedPlace(const std::string& place, std::uint64_t most_bytes,
                                   Network network, const CancelToken& cancel);

// Returns the media type of an image that providers accept (PNG, JPEG, GIF, WebP) by its first
// bytes: "image/png". Empty for anything else; the other bytes are not checked.
std::string_view ImageType(std::string_view bytes);

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_NAMED_PLACE_H_
