// Messages of the bridge: JSON with the fields of their type, and raw bytes, carried by frames.
//
//   Message call{.type = MessageType::kCall, .id = 7, .block = 3,
//                .json = {{"method", "llm"}, {"args", JsonObject{}}, {"thread", 1}}, .raw = text};
//   MessageDecoder decoder(Side::kWorker);      // reads what a worker sends
//   decoder.Feed(bytes);
//   DOSSIER_ASSIGN_OR_RETURN(std::optional<Message> message, decoder.Next());
//
// The decoder is strict: types of the wrong side, unknown or missing fields, fields of the wrong
// kind, invalid UTF-8, an id that does not grow are kProtocol. Nothing in a message is believed
// beyond its shape; names, offsets and sizes are the receiver's to check. Frames of different ids
// may interleave. Thread-safety: none; one owner.

#ifndef DOSSIER_SANDBOX_SESSION_MESSAGE_H_
#define DOSSIER_SANDBOX_SESSION_MESSAGE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"
#include "sandbox/session/frame.h"

namespace dossier::sandbox {

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
};

std::string_view MessageTypeName(MessageType type);

// Exit statuses of a worker: it read broken bytes; it had no memory left to go on.
inline constexpr int kBrokenBridgeExit = 70;
inline constexpr int kOutOfMemoryExit = 71;

// The level of the log message with which a worker says that it made a `context` str.
inline constexpr std::string_view kContextTextLevel = "context_text";

enum class Side { kHost, kWorker };  // who sends

// Bytes of one message.
inline constexpr std::uint64_t kMaxToHost = 64ull << 20;
inline constexpr std::uint64_t kMaxToWorker = 256ull << 20;
inline constexpr std::uint32_t kMaxJson = 8u << 20;

struct Message {
  MessageType type = MessageType::kPing;
  // Even from the host, odd from the worker, growing; an answer has its request's. Control messages
  // (cancel, interrupt, ping, pong, credit, close, log) overtake others and have none: 0.
  std::uint64_t id = 0;
  std::uint32_t block = 0;
  JsonObject json;
  std::string raw;
  // Above 0: a call of so many bytes, over the limit and thrown away; json and raw are empty.
  std::uint64_t too_large = 0;
  // Of one that was read: the bytes of JSON and raw together, as the sender counts its credit.
  std::uint64_t wire_bytes = 0;
};

// True if a message of this type begins something, so that its id must be new.
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
  // The next whole message; empty while bytes are missing. Errors: kProtocol, for ever after.
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

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_MESSAGE_H_
