#include "sandbox/session/frame.h"

#include <cstring>

namespace dossier::sandbox {
namespace {

template <typename T>
void Put(char* out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    out[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

template <typename T>
T Take(const char* in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(static_cast<unsigned char>(in[i])) << (8 * i)));
  }
  return value;
}

}  // namespace

std::array<char, kFrameHeaderBytes> EncodeHeader(const FrameHeader& header) {
  std::array<char, kFrameHeaderBytes> out{};
  Put<std::uint32_t>(&out[0], header.payload_bytes);
  out[4] = static_cast<char>(kProtocolVersion);
  out[5] = static_cast<char>(header.type);
  Put<std::uint16_t>(&out[6], header.flags);
  Put<std::uint64_t>(&out[8], header.id);
  Put<std::uint32_t>(&out[16], header.block);
  Put<std::uint32_t>(&out[20], header.json_bytes);
  return out;
}

Result<FrameHeader> DecodeHeader(std::span<const char, kFrameHeaderBytes> bytes) {
  FrameHeader header;
  header.payload_bytes = Take<std::uint32_t>(&bytes[0]);
  const auto version = static_cast<std::uint8_t>(bytes[4]);
  header.type = static_cast<std::uint8_t>(bytes[5]);
  header.flags = Take<std::uint16_t>(&bytes[6]);
  header.id = Take<std::uint64_t>(&bytes[8]);
  header.block = Take<std::uint32_t>(&bytes[16]);
  header.json_bytes = Take<std::uint32_t>(&bytes[20]);
  if (version != kProtocolVersion) {
    return MakeError(ErrorCode::kProtocol, "bridge: frame of version {}; ours is {}", version,
                     kProtocolVersion);
  }
  if (header.type == 0 || header.type > kLastFrameType) {
    return MakeError(ErrorCode::kProtocol, "bridge: unknown frame type {}", header.type);
  }
  if (header.flags & ~(kFlagMore | kFlagDescriptors)) {
    return MakeError(ErrorCode::kProtocol, "bridge: unknown frame flags {:#x}", header.flags);
  }
  if (header.payload_bytes > kMaxFramePayload) {
    return MakeError(ErrorCode::kProtocol, "bridge: a frame of {} bytes; the limit is {}",
                     header.payload_bytes, kMaxFramePayload);
  }
  return header;
}

std::span<char> FrameDecoder::Space(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < bytes && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < bytes) buffer_.resize(end_ + bytes);
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void FrameDecoder::Feed(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(Space(bytes.size()).data(), bytes.data(), bytes.size());
  Commit(bytes.size());
}

Result<std::optional<Frame>> FrameDecoder::Next() {
  if (broken_) return tl::unexpected(*broken_);
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  const char* start = buffer_.data() + begin_;
  auto header = DecodeHeader(std::span<const char, kFrameHeaderBytes>(start, kFrameHeaderBytes));
  if (!header) {
    broken_ = header.error();
    return tl::unexpected(*broken_);
  }
  if (end_ - begin_ - kFrameHeaderBytes < header->payload_bytes) return std::nullopt;
  begin_ += kFrameHeaderBytes + header->payload_bytes;
  return Frame{*header, {start + kFrameHeaderBytes, header->payload_bytes}};
}

}  // namespace dossier::sandbox
