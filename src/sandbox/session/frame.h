// Frames of the bridge between the host and a worker: a 24-byte header and up to 1 MiB of payload.
//
//   FrameDecoder decoder;
//   decoder.Feed(bytes);                       // any piece of the stream, split at any byte
//   while (true) {
//     DOSSIER_ASSIGN_OR_RETURN(std::optional<Frame> frame, decoder.Next());
//     if (!frame) break;                       // more bytes are needed
//     Use(frame->header, frame->payload);      // valid until the next Feed or Space
//   }
//
// Header, little-endian: u32 payload bytes, u8 version, u8 type, u16 flags, u64 id, u32 block,
// u32 bytes of JSON at the start of the message. A frame that breaks a rule is kProtocol, and the
// decoder stays broken: a stream cannot be picked up again behind it.
// Thread-safety: none; one owner.

#ifndef DOSSIER_SANDBOX_SESSION_FRAME_H_
#define DOSSIER_SANDBOX_SESSION_FRAME_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::sandbox {

inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::uint32_t kMaxFramePayload = 1u << 20;  // bytes
inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::uint16_t kFlagMore = 1;         // more frames of this message follow
inline constexpr std::uint16_t kFlagDescriptors = 2;  // descriptors are attached
inline constexpr std::uint8_t kLastFrameType = 24;

struct FrameHeader {
  std::uint32_t payload_bytes = 0;
  std::uint8_t type = 0;  // 1 to kLastFrameType
  std::uint16_t flags = 0;
  std::uint64_t id = 0;
  std::uint32_t block = 0;
  std::uint32_t json_bytes = 0;

  bool more() const { return (flags & kFlagMore) != 0; }
};

std::array<char, kFrameHeaderBytes> EncodeHeader(const FrameHeader& header);
// Errors: kProtocol: version, type, flags or size out of range.
Result<FrameHeader> DecodeHeader(std::span<const char, kFrameHeaderBytes> bytes);

struct Frame {
  FrameHeader header;
  std::string_view payload;
};

class FrameDecoder {
 public:
  // At least `bytes` of room to read into; Commit says how many were filled.
  std::span<char> Space(std::size_t bytes);
  void Commit(std::size_t bytes) { end_ += bytes; }
  void Feed(std::string_view bytes);
  // The next whole frame; empty while bytes are missing. Errors: kProtocol, for ever after.
  Result<std::optional<Frame>> Next();
  // True between frames: the stream may end here.
  bool at_boundary() const { return begin_ == end_; }

 private:
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes of buffer_
  std::optional<Error> broken_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_FRAME_H_
