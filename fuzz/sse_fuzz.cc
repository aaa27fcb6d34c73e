// Server-sent events: whole and split at a place that the input chooses, the events are the same.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/net/sse.h"

namespace {

std::string Parse(std::string_view first, std::string_view second) {
  dossier::SseParser parser(1 << 16);
  std::string out;
  const auto add = [&](const dossier::SseEvent& event) {
    out += event.event + '\1' + event.data + '\2';
  };
  if (!parser.Feed(first, add) || !parser.Feed(second, add) || !parser.Finish(add)) return "error";
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t split = data[0] % (text.size() + 1);
  if (Parse(text, "") != Parse(text.substr(0, split), text.substr(split))) std::abort();
  return 0;
}
