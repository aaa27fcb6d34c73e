// Turns messages into frames and writes them to a descriptor that does not block.
//
//   MessageWriter writer;
//   writer.Push(std::move(message));
//   DOSSIER_RETURN_IF_ERROR(writer.Flush(fd));   // as much as the socket takes now
//   if (!writer.empty()) /* poll for POLLOUT */;
//
// Messages leave in order; an urgent one goes before those not yet begun and, between two frames,
// into the middle of one that is. Texts are written from where they lie, without a copy.
// Thread-safety: none; one owner.

#ifndef DOSSIER_SANDBOX_SESSION_MESSAGE_WRITER_H_
#define DOSSIER_SANDBOX_SESSION_MESSAGE_WRITER_H_

#include <array>
#include <deque>
#include <string>

#include "base/result.h"
#include "sandbox/session/message.h"

namespace dossier::sandbox {

enum class Urgency { kNormal, kUrgent };

class MessageWriter {
 public:
  void Push(Message message, Urgency urgency = Urgency::kNormal);
  // The same for a message whose JSON the caller has serialized, to know its size.
  void PushSerialized(Message message, std::string json, Urgency urgency = Urgency::kNormal);
  bool empty() const { return queue_.empty(); }
  std::uint64_t pending_bytes() const { return pending_bytes_; }
  // Errors: kDied if the other side has closed.
  Status Flush(int fd);
  // All frames at once, for sockets that need descriptors attached, and for tests.
  static std::string Encode(const Message& message, std::uint16_t extra_flags = 0);

 private:
  struct Item {
    Message message;
    std::string json;
    bool urgent = false;
    std::uint64_t sent = 0;  // payload bytes whose frames are complete
    std::uint64_t total() const { return json.size() + message.raw.size(); }
  };

  static FrameHeader HeaderOf(const Item& item);
  void BeginFrame();
  void FinishFrame();

  std::deque<Item> queue_;
  std::uint64_t pending_bytes_ = 0;
  bool in_frame_ = false;  // the frame below is partly written; it belongs to queue_.front()
  std::array<char, kFrameHeaderBytes> header_{};
  std::uint64_t frame_bytes_ = 0, frame_sent_ = 0;  // header included
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_MESSAGE_WRITER_H_
