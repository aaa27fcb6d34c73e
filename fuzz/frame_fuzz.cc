// Frame headers and the frame decoder: what decodes must encode to the same bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "sandbox/session/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::sandbox;  // NOLINT(google-build-using-namespace): a fuzz target
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameDecoder decoder;
  decoder.Feed(bytes);
  std::size_t used = 0;
  while (true) {
    const auto frame = decoder.Next();
    if (!frame || !*frame) break;
    const auto header = EncodeHeader((*frame)->header);
    if (std::memcmp(header.data(), bytes.data() + used, header.size()) != 0) std::abort();
    used += header.size() + (*frame)->payload.size();
    if (used > size) std::abort();
  }
  return 0;
}
