// Items of all formats: whatever the bytes and wherever a stream splits, the counter and the walk
// over the whole text agree, ranges lie in order inside the text, and every record is read.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "inspect/formats/items.h"

namespace {

using dossier::inspect::ByteRange;
using dossier::inspect::Format;

void Check(Format format, std::string_view shape, std::string_view text, std::size_t split) {
  const auto items = dossier::inspect::FindItems(format, shape, text);
  std::uint64_t end = 0, read = 0;
  for (const ByteRange& range : items.ranges) {
    if (range.begin < end || range.end <= range.begin || range.end > text.size()) std::abort();
    end = range.end;
    if (++read <= 100) dossier::inspect::ReadItem(format, shape, text, items, range);
  }
  if (text.starts_with("\xEF\xBB\xBF")) return;  // a stream begins behind it
  const auto counter = dossier::inspect::MakeItemCounter(format, shape);
  counter->Feed(text.substr(0, split));
  counter->Feed(text.substr(split));
  if (counter->Finish() != items.ranges.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t split = size > 0 ? data[0] % (size + 1) : 0;
  for (int i = 0; i <= static_cast<int>(Format::kUnknown); ++i) {
    const auto format = static_cast<Format>(i);
    if (!dossier::inspect::HasItems(format)) continue;
    const auto found = dossier::inspect::DetectItems(format, text);
    Check(format, found.fits ? std::string_view(found.shape) : "row", text, split);
    if (format == Format::kXml) Check(format, "row+", text, split);
    if (format == Format::kHtml) Check(format, "tr first", text, split);
  }
  return 0;
}
