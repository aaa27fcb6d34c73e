// Any reply to a labelling request: no crash, one entry an item, every label a known one.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ask/subcalls/map_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> labels = {"positive", "negative", "Neutral", "neutral"};
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}}) {
    const auto found = dossier::ask::ParseLabels(reply, labels, count);
    if (found.size() != count) std::abort();
    for (const auto& label : found) {
      if (label && *label >= labels.size()) std::abort();
    }
  }
  return 0;
}
