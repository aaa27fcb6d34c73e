#include "sandbox/session/message.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/files/file.h"
#include "base/random.h"
#include "sandbox/session/session_socket.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::FailsWith;

Message Call(std::uint64_t id, std::string raw) {
  Message call{.type = MessageType::kCall, .id = id, .block = 3, .raw = std::move(raw)};
  call.json = {{"method", "llm"}, {"args", JsonObject{{"model", nullptr}}}, {"thread", 0}};
  return call;
}

Result<std::vector<Message>> DecodeAll(MessageDecoder& decoder) {
  std::vector<Message> messages;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(auto message, decoder.Next());
    if (!message) return messages;
    messages.push_back(std::move(*message));
  }
}

Result<std::vector<Message>> Decode(Side sender, std::string_view bytes) {
  MessageDecoder decoder(sender);
  decoder.Feed(bytes);
  return DecodeAll(decoder);
}

std::string RawFrame(FrameHeader header, std::string_view payload) {
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  const auto bytes = EncodeHeader(header);
  return std::string(bytes.data(), bytes.size()) + std::string(payload);
}

TEST(MessageTest, EveryMessageSplitAtEveryByteIsTheSame) {  // SBX-92, SBX-A7
  std::string stream = MessageWriter::Encode(Call(1, "Summarise:\n"));
  stream += MessageWriter::Encode({.type = MessageType::kOutput,
                                   .id = 3,
                                   .block = 3,
                                   .json = {{"late", 0}, {"at", 0}},
                                   .raw = "x"});
  stream += MessageWriter::Encode({.type = MessageType::kCancel, .json = {{"id", 1}}});
  stream += MessageWriter::Encode({.type = MessageType::kPong});
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    MessageDecoder decoder(Side::kWorker);
    decoder.Feed(std::string_view(stream).substr(0, cut));
    auto first = DecodeAll(decoder);
    ASSERT_TRUE(first);
    decoder.Feed(std::string_view(stream).substr(cut));
    auto second = DecodeAll(decoder);
    ASSERT_TRUE(second);
    EXPECT_EQ(first->size() + second->size(), 4u) << "cut at " << cut;
  }
}

TEST(MessageTest, ALongMessageComesInFramesThatMayInterleave) {  // section 5
  Random random(/*seed=*/3);
  const std::string text = random.Bytes((2u << 20) + 17);
  const std::string one = MessageWriter::Encode(Call(1, text));
  const std::string two = MessageWriter::Encode(Call(3, "small"));
  const std::size_t frame = kFrameHeaderBytes + kMaxFramePayload;
  auto messages = Decode(Side::kWorker, one.substr(0, frame) + two + one.substr(frame));
  ASSERT_TRUE(messages) << messages.error().message;
  ASSERT_EQ(messages->size(), 2u);
  EXPECT_EQ((*messages)[0].raw, "small");
  EXPECT_EQ((*messages)[1].id, 1u);
  EXPECT_TRUE((*messages)[1].raw == text);
}

TEST(MessageTest, EachViolationIsRefused) {  // SBX-92
  const auto frame = [](MessageType type, std::uint64_t id, std::string_view json) {
    return RawFrame({.type = static_cast<std::uint8_t>(type),
                     .id = id,
                     .json_bytes = static_cast<std::uint32_t>(json.size())},
                    json);
  };
  constexpr std::string_view kCall = R"({"method":"llm","args":{},"thread":0})";
  struct Case {
    Side sender;
    std::string bytes;
    std::string_view message;
  };
  const Case cases[] = {
      {Side::kWorker, frame(MessageType::kRun, 1, R"({"code":"","replay":false})"), "wrong side"},
      {Side::kHost, frame(MessageType::kCall, 2, kCall), "wrong side"},
      {Side::kWorker, frame(MessageType::kCall, 2, kCall), "with the id 2"},
      {Side::kWorker, frame(MessageType::kCall, 1, kCall) + frame(MessageType::kCall, 1, kCall),
       "with the id 1 after 1"},
      {Side::kWorker, frame(MessageType::kCall, 1, R"({"method":"llm","args":{}})"),
       "without the field thread"},
      {Side::kWorker, frame(MessageType::kCall, 1, R"({"method":1,"args":{},"thread":0})"),
       "wrong kind of value in method"},
      {Side::kWorker, frame(MessageType::kCall, 1, R"({"method":"","args":{},"thread":0,"x":1})"),
       "unknown field"},
      {Side::kWorker, frame(MessageType::kCall, 1, R"([1])"), "no object"},
      {Side::kWorker,
       frame(MessageType::kCall, 1, "{\"method\":\"\xff\",\"args\":{},\"thread\":0}"), "not JSON"},
      {Side::kWorker, frame(MessageType::kCall, 1, "{"), "call"},
      {Side::kWorker, frame(MessageType::kCancel, 5, R"({"id":1})"), "with an id"},
      {Side::kWorker, RawFrame({.type = 11, .id = 1, .json_bytes = 100}, kCall), "promises 100"},
      {Side::kWorker, RawFrame({.type = 11, .id = 1, .json_bytes = kMaxJson + 1}, kCall),
       "the limit is 8388608"},
      {Side::kWorker,
       RawFrame({.type = 11, .flags = kFlagMore, .id = 1}, "a") +
           RawFrame({.type = 7, .id = 1}, "b"),
       "two messages under the id 1"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Decode(c.sender, c.bytes), FailsWith(ErrorCode::kProtocol, std::string(c.message)));
  }
}

TEST(MessageTest, JsonNestedBeyondTheLimitIsRefused) {  // SBX-90
  std::string json = R"({"method":"llm","thread":0,"args":{"a":)";
  for (int i = 0; i < 70; ++i) json += '[';
  for (int i = 0; i < 70; ++i) json += ']';
  json += "}}";
  const std::string bytes =
      RawFrame({.type = 11, .id = 1, .json_bytes = static_cast<std::uint32_t>(json.size())}, json);
  EXPECT_THAT(Decode(Side::kWorker, bytes), FailsWith(ErrorCode::kProtocol, "not JSON"));
}

TEST(MessageTest, ACallOverTheLimitIsOneRefusedRequest) {  // SBX-90
  MessageDecoder decoder(Side::kWorker);
  const std::string piece(kMaxFramePayload, 'x');
  constexpr int kFrames = 66;
  for (int i = 0; i < kFrames; ++i) {
    decoder.Feed(RawFrame(
        {.type = 11, .flags = i + 1 < kFrames ? kFlagMore : std::uint16_t{0}, .id = 1}, piece));
    auto message = decoder.Next();
    ASSERT_TRUE(message) << message.error().message;
    if (i + 1 < kFrames) continue;
    ASSERT_TRUE(*message);
    EXPECT_EQ((*message)->too_large, std::uint64_t{kFrames} * kMaxFramePayload);
  }
  decoder.Feed(MessageWriter::Encode(Call(3, "next")));
  auto next = decoder.Next();
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->raw, "next");
}

TEST(MessageTest, AnyBytesAreHandledWithinBounds) {  // SBX-A7
  Random random(/*seed=*/5);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = MessageWriter::Encode(Call(1, random.Bytes(30))) +
                        MessageWriter::Encode(Call(3, random.Bytes(30)));
    for (int change = 0; change < 3; ++change) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    }
    const auto messages = Decode(Side::kWorker, bytes);
    if (messages) {
      EXPECT_LE(messages->size(), 2u);
    }
  }
}

TEST(MessageWriterTest, WritesThroughASmallSocketAndLetsUrgentMessagesPass) {  // SBX-92
  auto pair = MakeSocketPair();
  ASSERT_TRUE(pair);
  const int small = 4096;
  setsockopt(pair->ours.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
  ASSERT_TRUE(SetNonBlocking(pair->ours.get()));
  ASSERT_TRUE(SetNonBlocking(pair->theirs.get()));
  const std::string text(3u << 20, 'a');
  MessageWriter writer;
  writer.Push(Call(1, text));
  ASSERT_TRUE(writer.Flush(pair->ours.get()));
  ASSERT_FALSE(writer.empty());
  writer.Push({.type = MessageType::kCancel, .json = {{"id", 1}}}, Urgency::kUrgent);
  MessageDecoder decoder(Side::kWorker);
  std::vector<Message> messages;
  while (messages.size() < 2) {
    ASSERT_TRUE(writer.Flush(pair->ours.get()));
    ASSERT_TRUE(ReadSome(pair->theirs.get(), decoder));
    auto read = DecodeAll(decoder);
    ASSERT_TRUE(read) << read.error().message;
    for (Message& message : *read) messages.push_back(std::move(message));
  }
  EXPECT_EQ(messages[0].type, MessageType::kCancel);
  EXPECT_TRUE(messages[1].raw == text);
  EXPECT_TRUE(writer.empty());
  EXPECT_EQ(writer.pending_bytes(), 0u);
}

}  // namespace

namespace {

using ::dossier::testing::FailsWith;

std::string Encoded(const FrameHeader& header, std::string_view payload) {
  const auto bytes = EncodeHeader(header);
  return std::string(bytes.data(), bytes.size()) + std::string(payload);
}

FrameHeader Header(std::uint8_t type, std::uint64_t id, std::size_t payload) {
  return {.payload_bytes = static_cast<std::uint32_t>(payload), .type = type, .id = id};
}

TEST(FrameTest, TheHeaderHasTheLayoutOfTheSpecification) {  // SBX section 5
  const auto bytes = EncodeHeader({.payload_bytes = 0x01020304,
                                   .type = 11,
                                   .flags = kFlagMore,
                                   .id = 0x1122334455667788,
                                   .block = 3,
                                   .json_bytes = 9});
  const unsigned char expected[] = {4,    3,    2,    1,    1, 11, 1, 0, 0x88, 0x77, 0x66, 0x55,
                                    0x44, 0x33, 0x22, 0x11, 3, 0,  0, 0, 9,    0,    0,    0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(static_cast<unsigned char>(bytes[i]), expected[i]) << "byte " << i;
  }
}

TEST(FrameTest, AStreamSplitAtEveryByteGivesTheSameFrames) {  // SBX-92, SBX-A7
  const std::string stream = Encoded(Header(6, 2, 5), "hello") + Encoded(Header(16, 0, 0), "") +
                             Encoded(Header(12, 7, 3), "\xff\n\x01");
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameDecoder decoder;
    std::string seen;
    for (const std::string_view piece :
         {std::string_view(stream).substr(0, cut), std::string_view(stream).substr(cut)}) {
      decoder.Feed(piece);
      while (true) {
        auto frame = decoder.Next();
        ASSERT_TRUE(frame);
        if (!*frame) break;
        seen += fmt::format("{}:{};", (*frame)->header.type, (*frame)->payload.size());
      }
    }
    ASSERT_EQ(seen, "6:5;16:0;12:3;") << "cut at " << cut;
    EXPECT_TRUE(decoder.at_boundary());
  }
}

TEST(FrameTest, EachBrokenHeaderIsRefusedForEver) {  // SBX-92
  struct Case {
    std::size_t byte;
    char value;
    std::string_view message;
  };
  constexpr Case kCases[] = {{4, 2, "version 2"},      {5, 0, "frame type 0"},
                             {5, 26, "frame type 26"}, {6, 4, "flags 0x4"},
                             {7, 1, "flags 0x100"},    {2, 0x11, "the limit is 1048576"}};
  for (const Case& c : kCases) {
    std::string bytes = Encoded(Header(6, 2, 0), "");
    bytes[c.byte] = c.value;
    FrameDecoder decoder;
    decoder.Feed(bytes);
    EXPECT_THAT(decoder.Next(), FailsWith(ErrorCode::kProtocol, std::string(c.message)));
    decoder.Feed(Encoded(Header(6, 4, 0), ""));
    EXPECT_THAT(decoder.Next(), FailsWith(ErrorCode::kProtocol, std::string(c.message)));
  }
}

TEST(FrameTest, AnyBytesEndInFramesOrAnErrorWithinBounds) {  // SBX-A7
  Random random(/*seed=*/11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = Encoded(Header(11, 1, 40), random.Bytes(40)) + random.Bytes(60);
    bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    FrameDecoder decoder;
    std::size_t payload = 0;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t step = std::min<std::size_t>(random.Below(30) + 1, bytes.size() - at);
      decoder.Feed(std::string_view(bytes).substr(at, step));
      at += step;
      while (true) {
        auto frame = decoder.Next();
        if (!frame || !*frame) break;
        payload += (*frame)->payload.size();
      }
    }
    EXPECT_LE(payload, bytes.size());
  }
}

}  // namespace

}  // namespace dossier::sandbox
