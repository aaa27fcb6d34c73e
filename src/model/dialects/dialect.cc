#include "model/dialects/dialect.h"

#include <algorithm>

#include "base/text/text.h"
#include "model/catalog/catalog.h"
#include "model/dialects/wire.h"

namespace dossier::model {
namespace {

// In the order of kDialectNames.
constexpr const WireDialect* kDialects[] = {&kOpenAiDialect, &kAnthropicDialect, &kGeminiDialect};
static_assert(std::size(kDialects) == kDialectNames.size(), "each name has its row");

// "v1", "v1beta": the last segment of an address that names the version itself.
bool EndsWithVersion(std::string_view base_url) {
  const std::string_view last = base_url.substr(base_url.rfind('/') + 1);
  return last.size() >= 2 && last[0] == 'v' &&
         std::isdigit(static_cast<unsigned char>(last[1])) != 0;
}

}  // namespace

const WireDialect* FindDialect(std::string_view name) {
  for (const WireDialect* dialect : kDialects) {
    if (dialect->name == name) return dialect;
  }
  return nullptr;
}

const WireDialect& DialectOf(std::string_view name) {
  const WireDialect* dialect = FindDialect(name);
  return dialect ? *dialect : kOpenAiDialect;
}

std::string AddressOf(const WireDialect& dialect, std::string_view base_url, const Request& request,
                      Streaming stream) {
  while (!base_url.empty() && base_url.back() == '/') base_url.remove_suffix(1);
  return fmt::format("{}{}{}", base_url, EndsWithVersion(base_url) ? "" : dialect.version,
                     dialect.target(request, stream));
}

Result<std::size_t> ReplyStream::ToolCallAt(std::int64_t index, std::string_view id) {
  if (index < 0 || index >= static_cast<std::int64_t>(kMostToolCalls)) {
    return MalformedReply("a tool call with an impossible index");
  }
  const auto behind = std::upper_bound(indexes_.begin(), indexes_.end(), index) - indexes_.begin();
  if (behind > 0 && indexes_[static_cast<std::size_t>(behind - 1)] == index) {
    const auto last = static_cast<std::size_t>(behind - 1);
    const std::string& held = reply_.tool_calls[last].id;
    if (id.empty() || held.empty() || id == held) return last;
  }
  if (indexes_.size() == kMostToolCalls) return MalformedReply("too many tool calls");
  indexes_.insert(indexes_.begin() + behind, index);
  arguments_.insert(arguments_.begin() + behind, std::string());
  reply_.tool_calls.insert(reply_.tool_calls.begin() + behind, ToolCall());
  return static_cast<std::size_t>(behind);
}

Reply ReplyStream::Take() {
  Reply reply = std::move(reply_);
  if (!finished_) {
    reply.finish = Finish::kCut;
    reply.usage.estimated = true;  // what was said before the end is a part
  }
  if (!reply.provider_data.is_object()) reply.provider_data = JsonObject();
  if (!half_.empty()) reply.warnings.emplace_back("the reply held half a character, left out");
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].empty() && !reply.tool_calls[i].arguments.is_null()) continue;
    reply.tool_calls[i].arguments =
        ParseArguments(arguments_[i], reply.tool_calls[i].name, reply.warnings);
  }
  Complete(reply);
  return reply;
}

}  // namespace dossier::model
