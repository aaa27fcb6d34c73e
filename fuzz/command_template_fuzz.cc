// Templates of context commands: any text ends in a result or an error, within the limits.

#include <cstdint>
#include <string_view>

#include "sources/template/template_render.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TemplateVariables variables{
      {"F", {TemplateValue("a;b"), VariableOrigin::kCommandLine}},
      {"N", {TemplateValue(std::int64_t{7}), VariableOrigin::kConfig}},
      {"L",
       {TemplateValue(TemplateValue::List{TemplateValue("a"), TemplateValue(1.5), TemplateValue()}),
        VariableOrigin::kConfig}},
      {"D",
       {TemplateValue(TemplateValue::Map{{"k", TemplateValue("v")}}), VariableOrigin::kConfig}}};
  std::vector<std::string> warnings;
  const auto result = RenderTemplate(text, variables, ShellRule::kWarn, &warnings);
  return result && result->size() > (1u << 20) ? __builtin_trap(), 0 : 0;
}
