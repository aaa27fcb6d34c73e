// Any tools file: no crash, and no tool that code could not call.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ask/tools.h"

using namespace dossier;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tools = ask::ReadTools(text, "tools.yml", {});
  if (!tools) return 0;
  if (!ask::CheckToolNames(*tools)) std::abort();
  if (ask::ToolFeatures(*tools).size() != tools->size()) std::abort();
  static_cast<void>(ask::DescribeTools(*tools));
  for (ask::Tool tool : *tools) {
    tool.run = [](const JsonObject&, const CancelToken&) -> Result<Json> { return Json(1); };
    static_cast<void>(ask::CallTool(tool, {}, {}, [](const Error&) {}));
  }
  return 0;
}
