#include "sandbox/session/message_writer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace dossier::sandbox {
namespace {

// Adds the part of `piece` that lies in [from, to) of a stream in which it starts at `at`.
int AddPiece(iovec* out, std::string_view piece, std::uint64_t at, std::uint64_t from,
             std::uint64_t to) {
  const std::uint64_t begin = std::max(from, at);
  const std::uint64_t end = std::min(to, at + piece.size());
  if (begin >= end) return 0;
  out->iov_base = const_cast<char*>(piece.data() + (begin - at));
  out->iov_len = end - begin;
  return 1;
}

}  // namespace

void MessageWriter::Push(Message message, Urgency urgency) {
  std::string json;
  if (!message.json.empty()) json = boost::json::serialize(message.json);
  PushSerialized(std::move(message), std::move(json), urgency);
}

void MessageWriter::PushSerialized(Message message, std::string json, Urgency urgency) {
  Item item;
  item.json = std::move(json);
  item.message = std::move(message);
  pending_bytes_ += item.total();
  item.urgent = urgency == Urgency::kUrgent;
  if (!item.urgent) return queue_.push_back(std::move(item));
  auto at = queue_.begin() + (in_frame_ ? 1 : 0);
  while (at != queue_.end() && at->urgent) ++at;
  queue_.insert(at, std::move(item));
}

FrameHeader MessageWriter::HeaderOf(const Item& item) {
  const std::uint64_t left = item.total() - item.sent;
  FrameHeader header;
  header.payload_bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kMaxFramePayload));
  header.type = static_cast<std::uint8_t>(item.message.type);
  header.flags = left > kMaxFramePayload ? kFlagMore : 0;
  header.id = item.message.id;
  header.block = item.message.block;
  header.json_bytes = item.sent == 0 ? static_cast<std::uint32_t>(item.json.size()) : 0;
  return header;
}

void MessageWriter::BeginFrame() {
  const FrameHeader header = HeaderOf(queue_.front());
  header_ = EncodeHeader(header);
  frame_bytes_ = kFrameHeaderBytes + header.payload_bytes;
  frame_sent_ = 0;
  in_frame_ = true;
}

void MessageWriter::FinishFrame() {
  Item& item = queue_.front();
  item.sent += frame_bytes_ - kFrameHeaderBytes;
  in_frame_ = false;
  if (item.sent < item.total()) {
    const auto first_normal = std::find_if(queue_.begin() + 1, queue_.end(),
                                           [](const Item& other) { return !other.urgent; });
    std::rotate(queue_.begin(), queue_.begin() + 1, first_normal);  // behind the urgent ones
    return;
  }
  pending_bytes_ -= item.total();
  queue_.pop_front();
}

Status MessageWriter::Flush(int fd) {
  while (!queue_.empty()) {
    if (!in_frame_) BeginFrame();
    const Item& item = queue_.front();
    iovec pieces[3];
    const std::uint64_t payload = frame_bytes_ - kFrameHeaderBytes;
    int count = AddPiece(pieces, {header_.data(), header_.size()}, 0, frame_sent_, frame_bytes_);
    const std::uint64_t from =
        item.sent + (frame_sent_ > kFrameHeaderBytes ? frame_sent_ - kFrameHeaderBytes : 0);
    const std::uint64_t to = item.sent + payload;
    count += AddPiece(pieces + count, item.json, 0, from, to);
    count += AddPiece(pieces + count, item.message.raw, item.json.size(), from, to);
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = static_cast<std::size_t>(count);
    const ssize_t written = sendmsg(fd, &message, MSG_NOSIGNAL);
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
      return tl::unexpected(Error{ErrorCode::kDied, ErrnoError(errno, "bridge: write").message});
    }
    frame_sent_ += static_cast<std::uint64_t>(written);
    if (frame_sent_ == frame_bytes_) FinishFrame();
  }
  return {};
}

std::string MessageWriter::Encode(const Message& message, std::uint16_t extra_flags) {
  Item item{.message = message};
  if (!message.json.empty()) item.json = boost::json::serialize(message.json);
  const std::string payload = item.json + message.raw;
  std::string out;
  do {
    FrameHeader header = HeaderOf(item);
    header.flags |= extra_flags;
    const auto bytes = EncodeHeader(header);
    out.append(bytes.data(), bytes.size());
    out.append(payload, item.sent, header.payload_bytes);
    item.sent += header.payload_bytes;
  } while (item.sent < item.total());
  return out;
}

}  // namespace dossier::sandbox
