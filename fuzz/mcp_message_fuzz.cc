// Messages of hostile clients, through a whole connection: no crash, and what comes back is one
// line of JSON-RPC (SRV-A3).

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/json/json.h"
#include "server/mcp/batch.h"

namespace {

class NoTools final : public dossier::mcp::ServerOffer {
 public:
  dossier::JsonArray Tools() const override { return {}; }
  dossier::mcp::RpcResult CallTool(std::string_view, const dossier::Json&,
                                   const dossier::mcp::CallContext&) override {
    return dossier::JsonObject();
  }
};

class Checked final : public dossier::mcp::Outlet {
 public:
  void Notify(const std::string& text) override { Check(text); }
  void Answer(const std::string& text, int) override { Check(text); }
  void Drop() override {}

 private:
  static void Check(const std::string& text) {
    const auto value = dossier::ParseJson(text, 200);
    if (!value || text.find('\n') != text.npos) std::abort();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  NoTools catalog;
  dossier::mcp::Ticker ticker;
  dossier::mcp::ClientConnection connection(catalog, ticker, {});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto outlet = std::make_shared<Checked>();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    dossier::mcp::Deliver(dossier::mcp::ReadMessages(text.substr(0, end)), connection, outlet);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return 0;
}
