// Serves the tools, resources and prompts that the official checks of the Model Context Protocol
// ask for, as a file of JSON describes them, over our own connection and HTTP server.
//
//   mcp_fixture_server fixtures.json 8790     prints its address, ends with its input

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/mcp/http_server.h"
#include "server/mcp/stdio_server.h"

namespace dossier::mcp {
namespace {

constexpr Millis kStep{50};  // between notices, so that each is seen by itself

class FixtureCatalog final : public ServerOffer {
 public:
  explicit FixtureCatalog(Json fixtures) : fixtures_(std::move(fixtures)) {}

  JsonArray Tools() const override {
    return Listed("tools", {"result", "logs", "progress", "needs"});
  }
  JsonArray Resources(const CallContext&) const override {
    return Listed("resources", {"contents"});
  }
  JsonArray ResourceTemplates() const override { return Listed("resourceTemplates", {"contents"}); }
  JsonArray Prompts() const override { return Listed("prompts", {"messages"}); }

  RpcResult CallTool(std::string_view name, const Json&, const CallContext& call) override {
    const Json* tool = Named("tools", "name", name);
    if (!tool) return Fault(kInvalidParams, fmt::format("there is no tool {}", name));
    if (const std::string needs = TextAt(*tool, "needs");
        !needs.empty() && !call.capabilities.contains(needs)) {
      return Fault(kMissingCapability, "the client lacks " + needs,
                   JsonObject{{"requiredCapabilities", JsonObject{{needs, JsonObject()}}}});
    }
    for (const std::string& text : StringsOf(Find(*tool, "logs"))) {
      if (call.log) call.log("info", Json(text));
      WaitUnlessCancelled(kStep, call.cancel);
    }
    if (const Json* steps = Find(*tool, "progress")) {
      for (const Json& step : steps->get_array()) {
        if (call.progress) call.progress({.done = step.to_number<double>(), .total = 100.0});
        WaitUnlessCancelled(kStep, call.cancel);
      }
    }
    return Find(*tool, "result")->get_object();
  }

  RpcResult ReadResource(std::string_view uri, const CallContext& call) override {
    if (const Json* resource = Named("resources", "uri", uri)) {
      return JsonObject{{"contents", *Find(*resource, "contents")}};
    }
    for (const Json& one : Find(fixtures_, "resourceTemplates")->get_array()) {
      const std::string form = TextAt(one, "uriTemplate");
      const std::size_t open = form.find("{id}");
      const std::string_view head(form.data(), open),
          tail = std::string_view(form).substr(open + 4);
      if (!uri.starts_with(head) || !uri.ends_with(tail)) continue;
      const std::string id(uri.substr(head.size(), uri.size() - head.size() - tail.size()));
      return JsonObject{
          {"contents", *ParseJson(ReplaceAll(ToJson(*Find(one, "contents")), "{id}", id))}};
    }
    return ServerOffer::ReadResource(uri, call);
  }

  RpcResult GetPrompt(std::string_view name, const JsonObject& arguments) override {
    const Json* prompt = Named("prompts", "name", name);
    if (!prompt) return ServerOffer::GetPrompt(name, arguments);
    std::string text = ToJson(*Find(*prompt, "messages"));
    for (const auto& [argument, value] : arguments) {
      if (value.is_string()) {
        text = ReplaceAll(text, fmt::format("{{{}}}", std::string_view(argument)),
                          std::string_view(value.get_string()));
      }
    }
    return JsonObject{{"messages", *ParseJson(text)}};
  }

 private:
  JsonArray Listed(std::string_view key, std::initializer_list<std::string_view> hidden) const {
    JsonArray list;
    for (const Json& one : Find(fixtures_, key)->get_array()) {
      JsonObject shown = one.get_object();
      for (const std::string_view name : hidden) shown.erase(name);
      list.push_back(std::move(shown));
    }
    return list;
  }
  const Json* Named(std::string_view key, std::string_view by, std::string_view name) const {
    for (const Json& one : Find(fixtures_, key)->get_array()) {
      if (TextAt(one, by) == name) return &one;
    }
    return nullptr;
  }

  const Json fixtures_;
};

int Serve(const std::string& path, const std::string& port) {
  const auto text = ReadFile(path);
  auto fixtures = text ? ParseJson(*text) : tl::unexpected(text.error());
  if (!fixtures) {
    std::cerr << fixtures.error().message << "\n";
    return 1;
  }
  FixtureCatalog catalog(std::move(*fixtures));
  const ServerInfo info{.name = "dossier-fixtures", .title = "Fixtures", .version = "1"};
  if (port == "-") {
    return ServeStdio(catalog, {.info = info}, {}) ? 0 : 1;
  }
  const auto number = ParseWhole(port);
  auto server = HttpServer::Start(
      catalog, {.address = {.port = number ? static_cast<int>(*number) : 0}, .info = info});
  if (!server) {
    std::cerr << server.error().message << "\n";
    return 1;
  }
  std::cout << fmt::format("http://127.0.0.1:{}/mcp\n", (*server)->port()) << std::flush;
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

}  // namespace
}  // namespace dossier::mcp

int main(int argc, char** argv) { return argc == 3 ? dossier::mcp::Serve(argv[1], argv[2]) : 2; }
