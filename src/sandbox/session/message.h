// Messages of the bridge: JSON with the fields of their type, and raw bytes, sent in frames.
//
//   Message call{.type = MessageType::kCall, .id = 7, .block = 3,
//                .json = {{"method", "llm"}, {"args", JsonObject{}}, {"thread", 1}}, .raw = text};
//   MessageDecoder decoder(Side::kWorker);      // reads what a worker sends
//   decoder.Feed(bytes);
//   DOSSIER_ASSIGN_OR_RETURN(std::optional<Message> message, decoder.Next());
//
// The decoder is strict: types of the wrong side, unknown or missing fields, fields of the wrong
// kind, invalid UTF-8 and ids that do not grow are kProtocol errors. Only the form of a message is
// checked; the receiver must check names, offsets and sizes. Frames of different ids may
// interleave. Thread-safety: one owner.

#ifndef DOSSIER_SANDBOX_SESSION_MESSAGE_H_
#define DOSSIER_SANDBOX_SESSION_MESSAGE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::sandbox {

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
// Header, little-endian: u32 payload bytes, u8 version, u8 type, u16 flags, u64 id, u32 block, u32
// bytes of JSON at the start of the message. A frame that breaks a rule is a kProtocol error, and
// the decoder stays unusable, because the stream cannot be resynchronised after it. Thread-safety:
// one owner.

inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::uint32_t kMaxFramePayload = 1u << 20;  // bytes
inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::uint16_t kFlagMore = 1;         // more frames of this message follow
inline constexpr std::uint16_t kFlagDescriptors = 2;  // descriptors are attached
inline constexpr std::uint8_t kLastFrameType = 25;

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
// Errors: kProtocol if version, type, flags or size is out of range.
Result<FrameHeader> DecodeHeader(std::span<const char, kFrameHeaderBytes> bytes);

struct Frame {
  FrameHeader header;
  std::string_view payload;
};

class FrameDecoder {
 public:
  // Returns at least `bytes` of space to read into; Commit tells how many were filled.
  std::span<char> Space(std::size_t bytes);
  void Commit(std::size_t bytes) { end_ += bytes; }
  void Feed(std::string_view bytes);
  // The next whole frame; nullopt while bytes are missing. Errors: kProtocol, for good.
  Result<std::optional<Frame>> Next();
  // True between frames: the stream may end here.
  bool at_boundary() const { return begin_ == end_; }

 private:
  // Space is not initialised before a read fills it: a worker never uses most of it.
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // unread bytes of buffer_
  std::optional<Error> broken_;
};

enum class MessageType : std::uint8_t {
  kHello = 1,       // worker
  kOpen = 2,        // host
  kOpened = 3,      // worker
  kCheck = 4,       // host
  kChecked = 5,     // worker
  kRun = 6,         // host
  kOutput = 7,      // worker
  kDone = 8,        // worker
  kGet = 9,         // host
  kValue = 10,      // worker
  kCall = 11,       // worker
  kReply = 12,      // host
  kItem = 13,       // host
  kCancel = 14,     // both
  kInterrupt = 15,  // host
  kPing = 16,       // host
  kPong = 17,       // worker
  kCredit = 18,     // both
  kReset = 19,      // host
  kClose = 20,      // host
  kLog = 21,        // worker
  kFork = 22,       // host to zygote
  kForked = 23,     // zygote
  kExited = 24,     // zygote: a worker it forked has ended
  kAnswer = 25,     // worker: a beginning of an answer that `done` does not hold whole
};

std::string_view MessageTypeName(MessageType type);

// Exit statuses of a worker: it read malformed bytes; it ran out of memory.
inline constexpr int kBrokenBridgeExit = 70;
inline constexpr int kOutOfMemoryExit = 71;

// The level of the log message that a worker sends when it has made a `context` str.
inline constexpr std::string_view kContextTextLevel = "context_text";

enum class Side { kHost, kWorker };  // the sender

// Maximum bytes of one message.
inline constexpr std::uint64_t kMaxToHost = 64ull << 20;
inline constexpr std::uint64_t kMaxToWorker = 256ull << 20;
inline constexpr std::uint32_t kMaxJson = 8u << 20;
inline constexpr std::uint64_t kMaxAnswer = 1ull << 30;  // the text of an answer, in pieces

struct Message {
  MessageType type = MessageType::kPing;
  // Even from the host, odd from the worker, increasing; an answer has its request's id. Control
  // messages (cancel, interrupt, ping, pong, credit, close, log) overtake others and have id 0.
  std::uint64_t id = 0;
  std::uint32_t block = 0;
  JsonObject json;
  std::string raw;
  // Above 0: the size of a call that was over the limit and discarded; json and raw are empty.
  std::uint64_t too_large = 0;
  // For a received message: the bytes of JSON and raw together, as the sender counts its credit.
  std::uint64_t wire_bytes = 0;
};

// Returns true if a message of this type starts an exchange, so that its id must be new.
bool IsRequest(MessageType type);

// Checks the fields of `json` against the table of message types. Errors: kProtocol naming the
// field.
Status CheckFields(MessageType type, const JsonObject& json);

class MessageDecoder {
 public:
  explicit MessageDecoder(Side sender)
      : sender_(sender), limit_(sender == Side::kWorker ? kMaxToHost : kMaxToWorker) {}

  FrameDecoder& frames() { return frames_; }
  void Feed(std::string_view bytes) { frames_.Feed(bytes); }
  // The next whole message; nullopt while bytes are missing. Errors: kProtocol, for good.
  Result<std::optional<Message>> Next();

 private:
  struct Partial {
    FrameHeader first;
    std::string bytes;
    std::uint64_t total = 0;
  };

  Result<std::optional<Message>> Add(const Frame& frame);
  Status CheckFirst(const FrameHeader& header);
  Result<Message> Finish(Partial partial);

  Side sender_;
  std::uint64_t limit_;
  FrameDecoder frames_;
  std::map<std::uint64_t, Partial> partials_;
  std::uint64_t partial_bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::optional<Error> broken_;
};

// Splits messages into frames and writes them to a non-blocking descriptor.
//
//   MessageWriter writer;
//   writer.Push(std::move(message));
//   DOSSIER_RETURN_IF_ERROR(writer.Flush(fd));   // as much as the socket takes now
//   if (!writer.empty()) /* poll for POLLOUT */;
//
// Messages are sent in order; an urgent one overtakes those not yet started and may, between two
// frames, interrupt one that is. Texts are written in place, without a copy. Thread-safety: one
// owner.

enum class Urgency { kNormal, kUrgent };

class MessageWriter {
 public:
  void Push(Message message, Urgency urgency = Urgency::kNormal);
  // The same for a message whose JSON the caller has already serialized to know its size.
  void PushSerialized(Message message, std::string json, Urgency urgency = Urgency::kNormal);
  bool empty() const { return queue_.empty(); }
  std::uint64_t pending_bytes() const { return pending_bytes_; }
  // Errors: kDied if the other side has closed.
  Status Flush(int fd);
  // Returns all frames at once, for sockets that need descriptors attached, and for tests.
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

#endif  // DOSSIER_SANDBOX_SESSION_MESSAGE_H_
