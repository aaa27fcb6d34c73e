// Scripts and model data files: any bytes are read or refused.

#include <cstdint>
#include <string_view>

#include "model/catalog/catalog_reader.h"
#include "model/scripted/scripted.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)dossier::model::Script::Parse(text, "fuzz").has_value();
  dossier::model::CatalogData data;
  (void)dossier::model::ReadCatalogFile(text, "fuzz", &data).has_value();
  return 0;
}
