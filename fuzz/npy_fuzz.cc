// Headers of arrays and metric files that a program wrote.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "research/files/npy.h"
#include "research/tree/metric.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto header = dossier::research::ParseNpyHeader(text)) {
    static_cast<void>(dossier::research::NpySchema(*header));
  }
  if (const auto metric = dossier::research::ReadMetricFile(text)) {
    static_cast<void>(dossier::research::MetricText(*metric));
  }
  return 0;
}
