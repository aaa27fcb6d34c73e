// Templates: any bytes parse, or fail with a place; what parses renders, and a value is literal.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assembly/layout/layout.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace assembly = dossier::assembly;
  const std::string_view markdown(reinterpret_cast<const char*>(data), size);
  const auto text = assembly::ParseTemplate(markdown, "fuzz.md");
  if (!text) {
    if (!text.error().message.starts_with("fuzz.md:")) std::abort();
    return 0;
  }
  std::map<std::string, std::string> values;
  for (const assembly::Placeholder& placeholder : text->placeholders) {
    values[placeholder.name] = "{" + placeholder.name + "} $1 {{";
  }
  const auto rendered = assembly::RenderTemplate(*text, values, "72c8d227357539eddfb5fdecebeb5f0b");
  if (!rendered) std::abort();
  return 0;
}
