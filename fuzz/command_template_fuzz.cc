// Templates of context commands: any text ends in a result or an error, within the limits.

#include <cstdint>
#include <string_view>

#include "sources/template/template_render.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Variables variables{
      {"F", {Value("a;b"), VariableOrigin::kCommandLine}},
      {"N", {Value(std::int64_t{7}), VariableOrigin::kConfig}},
      {"L", {Value(Value::List{Value("a"), Value(1.5), Value()}), VariableOrigin::kConfig}},
      {"D", {Value(Value::Map{{"k", Value("v")}}), VariableOrigin::kConfig}}};
  std::vector<std::string> warnings;
  const auto result = RenderTemplate(text, variables, ShellRule::kWarn, &warnings);
  return result && result->size() > (1u << 20) ? __builtin_trap(), 0 : 0;
}
