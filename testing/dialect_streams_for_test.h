// Recorded forms of replies, and ways to read them as the client does: by events, split anywhere.
//
//   Streamed streamed = ReadStream("anthropic", kAnthropicEvents, /*split=*/17);

#ifndef DOSSIER_TESTING_DIALECT_STREAMS_FOR_TEST_H_
#define DOSSIER_TESTING_DIALECT_STREAMS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/net/sse.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "model/dialects/dialect.h"

namespace dossier::model {

inline constexpr std::string_view kAnthropicReply =
    R"({"id":"msg_1","type":"message","role":"assistant","model":"claude-x-2026","content":[)"
    R"({"type":"thinking","thinking":"Let me see","signature":"sig=="},)"
    R"({"type":"redacted_thinking","data":"opaque"},)"
    R"({"type":"text","text":"I look: naïve 😀."},)"
    R"({"type":"tool_use","id":"toolu_1","name":"look","input":{"at":[1,2]}}],)"
    R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,)"
    R"("cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"cache_creation":)"
    R"({"ephemeral_5m_input_tokens":50,"ephemeral_1h_input_tokens":150},"output_tokens":33}})";

inline constexpr std::string_view kAnthropicEvents =
    "event: message_start\n"
    R"(data: {"type":"message_start","message":{"id":"msg_1","model":"claude-x-2026","content":[],)"
    R"("usage":{"input_tokens":10,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,)"
    R"("cache_creation":{"ephemeral_5m_input_tokens":50,"ephemeral_1h_input_tokens":150},)"
    R"("output_tokens":1}}})"
    "\n\n"
    R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking",)"
    R"("thinking":"","signature":""}})"
    "\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta",)"
    R"("thinking":"Let me "}})"
    "\n\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta",)"
    R"("thinking":"see"}})"
    "\n\n"
    R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta",)"
    R"("signature":"sig=="}})"
    "\n\n"
    R"(data: {"type":"content_block_stop","index":0})"
    "\n\n"
    R"(data: {"type":"content_block_start","index":1,"content_block":)"
    R"({"type":"redacted_thinking","data":"opaque"}})"
    "\n\n"
    R"(data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}})"
    "\r\n\r\n"
    R"(data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta",)"
    R"("text":"I look: "}})"
    "\n\n"
    R"(data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta",)"
    R"("text":"naïve \ud83d\ude00."}})"
    "\n\n"
    R"(data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use",)"
    R"("id":"toolu_1","name":"look","input":{}}})"
    "\n\n"
    R"(data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta",)"
    R"("partial_json":"{\"at\":"}})"
    "\n\n"
    R"(data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta",)"
    R"("partial_json":"[1,2]}"}})"
    "\n\n"
    R"(data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":)"
    R"({"output_tokens":33}})"
    "\n\n"
    R"(data: {"type":"message_stop"})"
    "\n\n";

inline constexpr std::string_view kGeminiReply =
    R"({"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see","thought":true},)"
    R"({"text":"I look: naïve 😀."},{"functionCall":{"id":"f1","name":"look","args":{"at":[1,2]}},)"
    R"("thoughtSignature":"sig=="}]},"finishReason":"STOP","index":0}],"usageMetadata":)"
    R"({"promptTokenCount":1210,"cachedContentTokenCount":1000,"candidatesTokenCount":20,)"
    R"("thoughtsTokenCount":13,"totalTokenCount":1243},"modelVersion":"gemini-x-2026",)"
    R"("responseId":"r1"})";

inline constexpr std::string_view kGeminiEvents =
    R"(data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Let me ","thought":true}]},)"
    R"("index":0}],"usageMetadata":{"promptTokenCount":1210},"modelVersion":"gemini-x-2026"})"
    "\r\n\r\n"
    R"(data: {"candidates":[{"content":{"parts":[{"text":"see","thought":true},)"
    R"({"text":"I look: "}]}}],"usageMetadata":{"promptTokenCount":1210,)"
    R"("candidatesTokenCount":4,"thoughtsTokenCount":13}})"
    "\r\n\r\n"
    R"(data: {"candidates":[{"content":{"parts":[{"text":"naïve 😀."}]}}]})"
    "\r\n\r\n"
    R"(data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"f1","name":"look",)"
    R"("args":{"at":[1,2]}},"thoughtSignature":"sig=="}]},"finishReason":"STOP"}],)"
    R"("usageMetadata":{"promptTokenCount":1210,"cachedContentTokenCount":1000,)"
    R"("candidatesTokenCount":20,"thoughtsTokenCount":13},"responseId":"r1"})"
    "\r\n\r\n";

struct Streamed {
  Reply reply;
  std::string text;  // what the sink would have been given
  bool finished = false;
};

// Reads `events` in two pieces, the second from `split` on.
inline Streamed ReadStream(std::string_view dialect, std::string_view events, std::size_t split) {
  SseParser parser(kMaxReplyBytes);
  const auto stream = FindDialect(dialect)->stream();
  Streamed read;
  const auto take = [&](const SseEvent& event) {
    if (const auto text = stream->Add(event.data)) read.text += *text;
  };
  EXPECT_TRUE(parser.Feed(events.substr(0, split), take));
  EXPECT_TRUE(parser.Feed(events.substr(split), take));
  EXPECT_TRUE(parser.Finish(take));
  read.finished = stream->finished();
  read.reply = stream->Take();
  return read;
}

// Damages events and a whole reply in many ways: nothing crashes, text stays valid UTF-8.
inline void MutateStream(std::string_view dialect, std::string_view events,
                         std::string_view reply) {
  Random random(23);
  const auto damage = [&](std::string text) {
    for (std::uint64_t i = random.Below(5); i > 0; --i) {
      const std::size_t at = random.Below(text.size());
      switch (random.Below(3)) {
        case 0:
          text[at] = "{}[]\",:0-\\ue\xFF"[random.Below(13)];
          break;
        case 1:
          text.erase(at, random.Below(30));
          break;
        default:
          text.insert(at, events.substr(random.Below(events.size()), random.Below(90)));
      }
      if (text.empty()) text = "{";
    }
    return text;
  };
  for (int round = 0; round < 5'000; ++round) {
    const std::string text = damage(std::string(events));
    const Streamed streamed = ReadStream(dialect, text, random.Below(text.size()));
    ASSERT_TRUE(utf8::IsValid(streamed.reply.text));
    ASSERT_EQ(streamed.reply.text, streamed.text);
    (void)FindDialect(dialect)->parse(damage(std::string(reply))).has_value();
  }
}

}  // namespace dossier::model

#endif  // DOSSIER_TESTING_DIALECT_STREAMS_FOR_TEST_H_
