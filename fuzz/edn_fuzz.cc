// EDN and the files made of it: any bytes are read, or fail with a place.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sources/header/agents_config.h"
#include "sources/header/data_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = sources::ParseEdn(text, "x.edn");
  if (!document && !document.error().message.starts_with("x.edn:")) std::abort();
  for (const char* name : {"x.edn", "x.yaml", "x.json"}) {
    static_cast<void>(sources::ParseChangePolicy(text, name));
  }
  static_cast<void>(sources::CheckGlob(text));
  return 0;
}
