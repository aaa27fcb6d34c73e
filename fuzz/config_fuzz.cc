// Configuration files: any bytes load, or fail with a place; a key that can be set reads back.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assembly/layout/yaml_table.h"
#include "base/yaml/yaml.h"
#include "config/edit.h"
#include "config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const config::ConfigFile file{"/fuzz.yml", "/fuzz.yml", bytes};
  const auto values = config::ParseConfigFile(file);
  if (values) static_cast<void>(config::FindPowers(*values));
  const auto loaded = config::LoadUserFile(
      file.path, {}, {},
      [&](const std::string&) -> Result<std::optional<config::ConfigFile>> { return file; });
  if (!loaded && !loaded.error().message.starts_with("/fuzz.yml:")) std::abort();
  const auto changed = config::SetKey(bytes, "params.seed", "7", file.path);
  if (changed && !assembly::ReadYaml(*changed, file.path)) std::abort();
  return 0;
}
