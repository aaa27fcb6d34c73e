// Each AVX2 kernel against its scalar twin, at any alignment.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/utf8_kernels.h"
#include "inspect/formats/csv_scanner.h"
#include "inspect/text/text_counter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  if (!utf8::internal::HasAvx2()) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const utf8::Census a = utf8::internal::CountScalar(text), b = utf8::internal::CountAvx2(text);
  if (a.ascii_bytes != b.ascii_bytes || a.code_points != b.code_points ||
      a.utf16_units != b.utf16_units || a.invalid != b.invalid) {
    std::abort();
  }
  if (inspect::internal::CountTextScalar(text) != inspect::internal::CountTextAvx2(text)) {
    std::abort();
  }
  for (std::size_t at = 0; at + 64 <= size; ++at) {
    const auto scalar = inspect::internal::FindCsvScalar(text.data() + at, ';');
    const auto fast = inspect::internal::FindCsvAvx2(text.data() + at, ';');
    if (scalar.quotes != fast.quotes || scalar.others != fast.others) std::abort();
  }
  return 0;
}
