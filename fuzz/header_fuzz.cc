// Headers: whatever the texts hold, the YAML reads back as them, and Markdown stays in its lines.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "assembly/layout/yaml_table.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"
#include "sources/header/agent_header.h"
#include "sources/header/header_tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  if (size > 1 << 12) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<sources::Task> tasks = {{.id = "x" + text, .summary = text}};
  const sources::Header header = sources::BuildHeader({.tasks = tasks, .targets = {text}});
  const auto read = assembly::ReadYaml(sources::ToYaml(header), "header");
  if (!read) std::abort();
  const Json value = ToJsonValue(*read);
  if (value.at("targets").at(0) != Json(header.targets[0])) std::abort();
  if (value.at("backlog").at(0).at("summary") != Json(header.backlog[0].summary)) std::abort();
  if (sources::SingleLine(text).find('\n') != std::string::npos) std::abort();
  static_cast<void>(sources::ToMarkdown(header));
  static_cast<void>(sources::ReplaceTokens(text, sources::PromptTokens(header, {}), "x.md"));
  return 0;
}
