// The bridge's decoders: frames, messages and their fields, from either side, split anywhere.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sandbox/session/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using dossier::sandbox::MessageDecoder;
  using dossier::sandbox::Side;
  if (size < 2) return 0;
  const Side side = data[0] % 2 == 0 ? Side::kHost : Side::kWorker;
  const std::size_t step = data[1] % 64 + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  MessageDecoder decoder(side);
  while (!bytes.empty()) {
    decoder.Feed(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    while (true) {
      const auto message = decoder.Next();
      if (!message || !*message) break;
    }
  }
  return 0;
}
