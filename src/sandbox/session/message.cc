#include "sandbox/session/message.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

namespace dossier::sandbox {
namespace {

constexpr std::size_t kMaxPartials = 512;  // above the 256 requests that may be open at once

enum class Kind { kInt, kString, kText, kBool, kObject, kArray, kAny };  // text: string or blob

struct Field {
  std::string_view name;
  Kind kind;
  enum class Presence { kRequired, kOptional } presence = Presence::kRequired;
};
constexpr auto kOptional = Field::Presence::kOptional;

constexpr Field kHello[] = {{"protocol", Kind::kInt},
                            {"worker", Kind::kString},
                            {"version", Kind::kString},
                            {"language", Kind::kString},
                            {"language_version", Kind::kString},
                            {"features", Kind::kArray},
                            {"error", Kind::kString, kOptional}};
constexpr Field kOpen[] = {{"dialect", Kind::kString},  {"seed", Kind::kAny},
                           {"limits", Kind::kObject},   {"names", Kind::kArray},
                           {"tools", Kind::kArray},     {"contexts", Kind::kArray},
                           {"features", Kind::kObject}, {"context_string_max", Kind::kInt}};
constexpr Field kOpened[] = {{"ms", Kind::kInt}, {"rss", Kind::kInt}, {"report", Kind::kObject}};
constexpr Field kCheck[] = {{"code", Kind::kText}};
constexpr Field kChecked[] = {{"ok", Kind::kBool},
                              {"error", Kind::kAny, kOptional},
                              {"incomplete", Kind::kBool, kOptional},
                              {"has_effect", Kind::kBool, kOptional},
                              {"computes", Kind::kBool, kOptional},
                              {"assigns", Kind::kArray, kOptional},
                              {"names", Kind::kArray, kOptional}};
constexpr Field kRun[] = {{"code", Kind::kText}, {"replay", Kind::kBool}};
constexpr Field kOutput[] = {{"late", Kind::kInt}, {"at", Kind::kInt}};
constexpr Field kDone[] = {{"status", Kind::kString},
                           {"error", Kind::kAny, kOptional},
                           {"last", Kind::kText, kOptional},
                           {"vars", Kind::kArray, kOptional},
                           {"usage", Kind::kObject},
                           {"out_bytes", Kind::kInt},
                           {"out_chars", Kind::kInt, kOptional},
                           {"dropped", Kind::kInt},
                           {"answer", Kind::kAny, kOptional},
                           {"draft", Kind::kAny, kOptional},
                           {"notes", Kind::kArray, kOptional},
                           {"refused", Kind::kText, kOptional},
                           {"assigned", Kind::kArray, kOptional},
                           {"touches_data", Kind::kBool, kOptional},
                           {"typed", Kind::kArray, kOptional},
                           {"searched", Kind::kArray, kOptional},
                           {"days", Kind::kArray, kOptional},
                           {"read", Kind::kArray, kOptional},
                           {"unmatched", Kind::kArray, kOptional},
                           {"settled", Kind::kArray, kOptional},
                           {"proves_nothing", Kind::kBool, kOptional},
                           {"gaps", Kind::kArray, kOptional}};
constexpr Field kGet[] = {{"name", Kind::kString}, {"max", Kind::kInt}};
constexpr Field kValue[] = {{"found", Kind::kBool}, {"nearest", Kind::kArray, kOptional}};
constexpr Field kCall[] = {
    {"method", Kind::kString}, {"args", Kind::kObject}, {"thread", Kind::kInt}};
constexpr Field kReply[] = {
    {"ok", Kind::kBool}, {"value", Kind::kAny, kOptional}, {"error", Kind::kObject, kOptional}};
constexpr Field kItem[] = {{"index", Kind::kInt},
                           {"ok", Kind::kBool},
                           {"value", Kind::kAny, kOptional},
                           {"error", Kind::kObject, kOptional}};
constexpr Field kCancel[] = {{"id", Kind::kInt}};
constexpr Field kInterrupt[] = {{"reason", Kind::kString}};
constexpr Field kCredit[] = {{"requests", Kind::kInt}, {"bytes", Kind::kInt}};
constexpr Field kReset[] = {{"keep", Kind::kArray}};
constexpr Field kClose[] = {{"grace_ms", Kind::kInt}};
constexpr Field kLog[] = {{"level", Kind::kString}, {"text", Kind::kText}};
constexpr Field kFork[] = {{"kind", Kind::kString}};  // session, spare, zygote
constexpr Field kForked[] = {
    {"pid", Kind::kInt}, {"ms", Kind::kInt}, {"error", Kind::kString, kOptional}};
constexpr Field kExited[] = {{"pid", Kind::kInt}, {"status", Kind::kInt}};

enum class From { kHost, kWorker, kBoth };

struct Row {
  std::string_view name;
  From from;
  std::span<const Field> fields;
  enum class Id { kNew, kOfRequest, kNone } id;
};

constexpr std::array<Row, kLastFrameType + 1> kRows = {{
    {"", From::kBoth, {}, Row::Id::kNone},
    {"hello", From::kWorker, kHello, Row::Id::kNew},
    {"open", From::kHost, kOpen, Row::Id::kNew},
    {"opened", From::kWorker, kOpened, Row::Id::kOfRequest},
    {"check", From::kHost, kCheck, Row::Id::kNew},
    {"checked", From::kWorker, kChecked, Row::Id::kOfRequest},
    {"run", From::kHost, kRun, Row::Id::kNew},
    {"output", From::kWorker, kOutput, Row::Id::kNew},
    {"done", From::kWorker, kDone, Row::Id::kOfRequest},
    {"get", From::kHost, kGet, Row::Id::kNew},
    {"value", From::kWorker, kValue, Row::Id::kOfRequest},
    {"call", From::kWorker, kCall, Row::Id::kNew},
    {"reply", From::kHost, kReply, Row::Id::kOfRequest},
    {"item", From::kHost, kItem, Row::Id::kOfRequest},
    {"cancel", From::kBoth, kCancel, Row::Id::kNone},
    {"interrupt", From::kHost, kInterrupt, Row::Id::kNone},
    {"ping", From::kHost, {}, Row::Id::kNone},
    {"pong", From::kWorker, {}, Row::Id::kNone},
    {"credit", From::kBoth, kCredit, Row::Id::kNone},
    {"reset", From::kHost, kReset, Row::Id::kNew},
    {"close", From::kHost, kClose, Row::Id::kNone},
    {"log", From::kWorker, kLog, Row::Id::kNone},
    {"fork", From::kHost, kFork, Row::Id::kNew},
    {"forked", From::kWorker, kForked, Row::Id::kOfRequest},
    {"exited", From::kWorker, kExited, Row::Id::kNew},
    {"answer", From::kWorker, {}, Row::Id::kNew},
}};

const Row& RowOf(MessageType type) { return kRows[static_cast<std::size_t>(type)]; }

bool IsKind(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::kInt:
      return value.is_int64() && value.get_int64() >= 0;
    case Kind::kString:
      return value.is_string();
    case Kind::kText:
      return value.is_string() || value.is_object();
    case Kind::kBool:
      return value.is_bool();
    case Kind::kObject:
      return value.is_object();
    case Kind::kArray:
      return value.is_array();
    case Kind::kAny:
      return true;
  }
  return false;
}

}  // namespace

std::string_view MessageTypeName(MessageType type) { return RowOf(type).name; }

bool IsRequest(MessageType type) { return RowOf(type).id == Row::Id::kNew; }

Status CheckFields(MessageType type, const JsonObject& json) {
  const Row& row = RowOf(type);
  std::size_t known = 0;
  for (const Field& field : row.fields) {
    const Json* value = json.if_contains(field.name);
    if (!value) {
      if (field.presence == kOptional) continue;
      return MakeError(ErrorCode::kProtocol, "bridge: {} without the field {}", row.name,
                       field.name);
    }
    ++known;
    if (!IsKind(*value, field.kind)) {
      return MakeError(ErrorCode::kProtocol, "bridge: {} with a wrong kind of value in {}",
                       row.name, field.name);
    }
  }
  if (known == json.size()) return {};
  for (const auto& [key, value] : json) {
    const auto same = [&key = key](const Field& field) { return field.name == key; };
    if (std::find_if(row.fields.begin(), row.fields.end(), same) == row.fields.end()) {
      return MakeError(ErrorCode::kProtocol, "bridge: {} with an unknown field", row.name);
    }
  }
  return {};
}

Result<std::optional<Message>> MessageDecoder::Next() {
  if (broken_) return tl::unexpected(*broken_);
  while (true) {
    Result<std::optional<Frame>> frame = frames_.Next();
    if (!frame) {
      broken_ = frame.error();
      return tl::unexpected(*broken_);
    }
    if (!*frame) return std::nullopt;
    Result<std::optional<Message>> message = Add(**frame);
    if (!message) broken_ = message.error();
    if (!message || *message) return message;
  }
}

Status MessageDecoder::CheckFirst(const FrameHeader& header) {
  const Row& row = kRows[header.type];
  const From own = sender_ == Side::kHost ? From::kHost : From::kWorker;
  if (row.from != From::kBoth && row.from != own) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} from the wrong side", row.name);
  }
  if (header.json_bytes > kMaxJson) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} with {} bytes of JSON; the limit is {}",
                     row.name, header.json_bytes, kMaxJson);
  }
  if (partials_.size() >= kMaxPartials) {
    return MakeError(ErrorCode::kProtocol, "bridge: more than {} messages begun", kMaxPartials);
  }
  if (row.id == Row::Id::kNone && (header.id != 0 || header.more())) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} with an id or of several frames", row.name);
  }
  if (row.id != Row::Id::kNew) return {};
  const bool even = header.id % 2 == 0;
  if (even != (sender_ == Side::kHost) || header.id <= last_id_) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} with the id {} after {}", row.name,
                     header.id, last_id_);
  }
  last_id_ = header.id;
  return {};
}

Result<std::optional<Message>> MessageDecoder::Add(const Frame& frame) {
  const FrameHeader& header = frame.header;
  auto found = partials_.find(header.id);
  if (found == partials_.end()) {
    DOSSIER_RETURN_IF_ERROR(CheckFirst(header));
    found = partials_.emplace(header.id, Partial{.first = header}).first;
  } else if (found->second.first.type != header.type || found->second.first.block != header.block ||
             header.json_bytes != 0) {
    return MakeError(ErrorCode::kProtocol, "bridge: frames of two messages under the id {}",
                     header.id);
  }
  Partial& partial = found->second;
  partial.total += frame.payload.size();
  if (partial.total > limit_ && header.type != static_cast<std::uint8_t>(MessageType::kCall)) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} of more than {} bytes",
                     kRows[header.type].name, limit_);
  }
  if (partial.total <= limit_) {
    partial.bytes.append(frame.payload);
    partial_bytes_ += frame.payload.size();
  } else {
    partial_bytes_ -= partial.bytes.size();
    partial.bytes = std::string();
  }
  if (partial_bytes_ > 2 * limit_) {
    return MakeError(ErrorCode::kProtocol, "bridge: more than {} bytes of unfinished messages",
                     2 * limit_);
  }
  if (header.more()) return std::nullopt;
  partial_bytes_ -= partial.bytes.size();
  auto node = partials_.extract(found);
  DOSSIER_ASSIGN_OR_RETURN(Message message, Finish(std::move(node.mapped())));
  return message;
}

Result<Message> MessageDecoder::Finish(Partial partial) {
  Message message{.type = static_cast<MessageType>(partial.first.type),
                  .id = partial.first.id,
                  .block = partial.first.block,
                  .wire_bytes = partial.total};
  if (partial.total > limit_) {
    message.too_large = partial.total;
    return message;
  }
  const std::size_t json_bytes = partial.first.json_bytes;
  if (json_bytes > partial.bytes.size()) {
    return MakeError(ErrorCode::kProtocol, "bridge: {} promises {} bytes of JSON and has {}",
                     MessageTypeName(message.type), json_bytes, partial.bytes.size());
  }
  if (json_bytes > 0) {
    auto json = ParseJson(std::string_view(partial.bytes).substr(0, json_bytes));
    if (!json || !json->is_object()) {
      return MakeError(ErrorCode::kProtocol, "bridge: {}: {}", MessageTypeName(message.type),
                       json ? "its JSON is no object" : json.error().message);
    }
    message.json = std::move(json->get_object());
  }
  DOSSIER_RETURN_IF_ERROR(CheckFields(message.type, message.json));
  if (json_bytes == 0) {
    message.raw = std::move(partial.bytes);
  } else {
    message.raw = partial.bytes.substr(json_bytes);
  }
  return message;
}

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
  if (capacity_ - end_ < bytes && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity_ - end_ < bytes) {
    capacity_ = std::max(end_ + bytes, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    if (end_ > 0) std::memcpy(larger.get(), buffer_.get(), end_);
    buffer_ = std::move(larger);
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void FrameDecoder::Feed(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(Space(bytes.size()).data(), bytes.data(), bytes.size());
  Commit(bytes.size());
}

Result<std::optional<Frame>> FrameDecoder::Next() {
  if (broken_) return tl::unexpected(*broken_);
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  const char* start = buffer_.get() + begin_;
  auto header = DecodeHeader(std::span<const char, kFrameHeaderBytes>(start, kFrameHeaderBytes));
  if (!header) {
    broken_ = header.error();
    return tl::unexpected(*broken_);
  }
  if (end_ - begin_ - kFrameHeaderBytes < header->payload_bytes) return std::nullopt;
  begin_ += kFrameHeaderBytes + header->payload_bytes;
  return Frame{*header, {start + kFrameHeaderBytes, header->payload_bytes}};
}

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
