// Log lines and deb822 stanzas: whatever the bytes and wherever a stream splits, the counter and
// the walk over the whole text agree, and every record has fields.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "inspect/formats/deb822.h"
#include "inspect/formats/log_shape.h"
#include "inspect/json/text_records.h"

namespace {

using dossier::inspect::ByteRange;
using dossier::inspect::RecordCounter;

std::uint64_t Count(RecordCounter& counter, std::string_view text, std::size_t split) {
  counter.Feed(text.substr(0, split));
  counter.Feed(text.substr(split));
  return counter.Finish();
}

void CheckShape(dossier::inspect::LogShape shape, std::string_view text, std::size_t split) {
  std::uint64_t records = 0;
  std::size_t position = 0;
  ByteRange range;
  while (dossier::inspect::NextLogRecord(shape, text, &position, &range)) {
    ++records;
    if (dossier::inspect::ParseLogRecord(shape, Slice(text, range)).empty()) std::abort();
  }
  const auto counter = dossier::inspect::MakeLogCounter(LogShapeName(shape));
  if (Count(*counter, text, split) != records) std::abort();
}

void CheckStanzas(std::string_view text, std::size_t split) {
  std::uint64_t stanzas = 0;
  std::size_t position = 0;
  ByteRange range;
  while (dossier::inspect::NextStanza(text, &position, &range)) {
    ++stanzas;
    if (dossier::inspect::ParseStanza(Slice(text, range)).empty()) std::abort();
  }
  if (Count(*dossier::inspect::MakeDeb822Counter(), text, split) != stanzas) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = size > 0 ? data[0] % (size + 1) : 0;
  dossier::inspect::DetectLog(text);
  dossier::inspect::DetectDeb822(text);
  for (const auto shape : dossier::inspect::LogShapes()) CheckShape(shape, text, split);
  CheckStanzas(text, split);
  return 0;
}
