#include "server/mcp/catalog.h"

namespace dossier::mcp {

RpcResult ServerOffer::ReadResource(std::string_view uri, const CallContext&) {
  return Fault(kNoResource, fmt::format("there is no resource {}", uri), JsonObject{{"uri", uri}});
}

RpcResult ServerOffer::GetPrompt(std::string_view name, const JsonObject&) {
  return Fault(kInvalidParams, fmt::format("there is no prompt {}", name));
}

std::vector<std::string> ServerOffer::Complete(const JsonObject&, std::string_view,
                                               std::string_view, const CallContext&) const {
  return {};
}

std::uint64_t ServerOffer::Watch(Changed) { return 0; }
void ServerOffer::Forget(std::uint64_t) {}

}  // namespace dossier::mcp
