#include "model/dialects/dialect.h"

#include <algorithm>

#include "base/text/text.h"
#include "model/catalog/catalog.h"
#include "model/dialects/anthropic_wire.h"
#include "model/dialects/gemini_wire.h"
#include "model/dialects/openai_wire.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

template <typename Stream>
std::unique_ptr<ReplyStream> MakeStream() {
  return std::make_unique<Stream>();
}

// One segment of a path: model names may hold slashes and worse.
std::string EscapeSegment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

constexpr Dialect kDialects[] = {
    {.name = "openai",
     .version = "",  // base addresses hold it, by custom
     .target = [](const Request&, Streaming) { return std::string("/chat/completions"); },
     .headers =
         [](std::string_view key) {
           std::vector<std::string> headers;
           if (!key.empty()) headers.push_back(fmt::format("Authorization: Bearer {}", key));
           return headers;
         },
     .build = BuildOpenAiBody,
     .parse = ParseOpenAiReply,
     .read_usage = ReadOpenAiUsage,
     .stream = MakeStream<OpenAiStream>},
    {.name = "anthropic",
     .version = "/v1",
     .target = [](const Request&, Streaming) { return std::string("/messages"); },
     .headers =
         [](std::string_view key) {
           std::vector<std::string> headers = {"anthropic-version: 2023-06-01"};
           if (!key.empty()) headers.push_back(fmt::format("x-api-key: {}", key));
           return headers;
         },
     .build = BuildAnthropicBody,
     .parse = ParseAnthropicReply,
     .read_usage = ReadAnthropicUsage,
     .stream = MakeStream<AnthropicStream>},
    {.name = "gemini",
     .version = "/v1beta",
     .target =
         [](const Request& request, Streaming stream) {
           return fmt::format(
               "/models/{}:{}", EscapeSegment(request.model),
               stream == Streaming::kYes ? "streamGenerateContent?alt=sse" : "generateContent");
         },
     .headers =
         [](std::string_view key) {
           std::vector<std::string> headers;
           if (!key.empty()) headers.push_back(fmt::format("x-goog-api-key: {}", key));
           return headers;
         },
     .build = BuildGeminiBody,
     .parse = ParseGeminiReply,
     .read_usage = ReadGeminiUsage,
     .stream = MakeStream<GeminiStream>},
};

static_assert(std::ranges::equal(kDialects, kDialectNames, {}, &Dialect::name),
              "each name of kDialectNames has its row, in that order");

// "v1", "v1beta": the last segment of an address that names the version itself.
bool EndsWithVersion(std::string_view base_url) {
  const std::string_view last = base_url.substr(base_url.rfind('/') + 1);
  return last.size() >= 2 && last[0] == 'v' &&
         std::isdigit(static_cast<unsigned char>(last[1])) != 0;
}

}  // namespace

const Dialect* FindDialect(std::string_view name) {
  for (const Dialect& dialect : kDialects) {
    if (dialect.name == name) return &dialect;
  }
  return nullptr;
}

std::string AddressOf(const Dialect& dialect, std::string_view base_url, const Request& request,
                      Streaming stream) {
  while (!base_url.empty() && base_url.back() == '/') base_url.remove_suffix(1);
  return fmt::format("{}{}{}", base_url, EndsWithVersion(base_url) ? "" : dialect.version,
                     dialect.target(request, stream));
}

Result<std::size_t> ReplyStream::ToolCallAt(std::int64_t index) {
  if (index < 0 || index >= static_cast<std::int64_t>(kMostToolCalls)) {
    return MalformedReply("a tool call with an impossible index");
  }
  const auto place = static_cast<std::size_t>(index);
  if (place >= reply_.tool_calls.size()) {
    reply_.tool_calls.resize(place + 1);
    arguments_.resize(place + 1);
  }
  return place;
}

Reply ReplyStream::Take() {
  Reply reply = std::move(reply_);
  if (!finished_) {
    reply.finish = Finish::kCut;
    reply.usage.estimated = true;  // what was said before the end is a part
  }
  if (!reply.provider_data.is_object()) reply.provider_data = JsonObject();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].empty() && !reply.tool_calls[i].arguments.is_null()) continue;
    reply.tool_calls[i].arguments =
        ParseArguments(arguments_[i], reply.tool_calls[i].name, reply.warnings);
  }
  Complete(reply);
  return reply;
}

}  // namespace dossier::model
