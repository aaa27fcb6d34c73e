// A command line, and a rule to hold against it. Input: the rule, a line end, the command.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sandbox/commands/usage_rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::sandbox;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const auto argv = LexCommand(input.substr(std::min(end + 1, input.size())));
  const auto rule = UsageRule::Parse(input.substr(0, end));
  if (!rule || !argv) return 0;
  const auto inside = [](const std::string& path) { return !path.starts_with('/'); };
  if (!rule->Admits(*argv, inside)) return 0;
  // Whatever is admitted begins with the rule's words.
  if (!rule->Begins(*argv)) std::abort();
  return 0;
}
