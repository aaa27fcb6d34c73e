// Lines to load: any bytes give a record with a text, or a sentence.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/utf8.h"
#include "memory/transfer/transfer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  for (const memory::Tier tier : {memory::Tier::kRecall, memory::Tier::kArchival}) {
    const auto record = memory::ReadLoadLine(line, tier);
    if (!record && record.error().message.empty()) std::abort();
    if (record && (record->tier != tier || !utf8::IsValid(record->text))) std::abort();
  }
  return 0;
}
