// Replies with memory blocks: the parser and the filter of a display agree whatever the chunks.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/text/text.h"
#include "memory/blocks/block_json.h"
#include "memory/blocks/reply.h"

namespace {

using namespace dossier;

std::string Shown(std::string_view reply, std::size_t longest) {
  Random random(longest);
  memory::BlockFilter filter;
  std::string shown;
  while (!reply.empty()) {
    const std::size_t count = std::min<std::size_t>(reply.size(), 1 + random.Below(longest));
    shown += filter.Push(reply.substr(0, count));
    reply.remove_prefix(count);
  }
  return shown + filter.Finish();
}

// Of a reply wholly in one fence the display shows the fence, too.
bool Agree(std::string_view shown, std::string_view payload, std::string_view reply) {
  if (TrimSpace(shown) == TrimSpace(payload)) return true;
  const std::string_view start = TrimSpace(reply).substr(0, 3);
  return (start == "```" || start == "~~~") && shown.find(payload) != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 14) return 0;
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  const memory::ParsedReply parsed = memory::ParseReply(reply);
  if (parsed.block && parsed.fault) std::abort();
  if (parsed.fault && parsed.fault->offset > size) std::abort();
  const bool plain = !parsed.block && !parsed.fault && parsed.warnings.empty();
  if (plain && parsed.payload != reply) std::abort();
  const std::string whole = Shown(reply, size + 1);
  if (plain && whole != reply) std::abort();
  if (!Agree(whole, parsed.payload, reply)) std::abort();
  for (const std::size_t longest : {1, 2, 7, 50}) {
    if (Shown(reply, longest) != whole) std::abort();
  }
  // The JSON of a block alone: what the checker takes, the operations' checks take, too.
  memory::BlockJson read = memory::ReadBlockJson(reply);
  if (!read.fault) memory::CheckBlock(std::move(read));
  return 0;
}
