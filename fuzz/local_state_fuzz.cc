// The local server's state file, the kernel's memory table and its processor table, of any content.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/local/local_server.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto state = dossier::model::ParseServerState(text);
  if (state && (state->pid <= 1 || state->port <= 0 || state->port > 65535)) __builtin_trap();
  dossier::model::FreeMemory(text);
  if (dossier::model::PhysicalCores(text, 2) < 1) __builtin_trap();
  return 0;
}
