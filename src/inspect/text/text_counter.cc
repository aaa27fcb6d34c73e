#include "inspect/text/text_counter.h"

#include <tuple>

#include "base/text/utf8_kernels.h"

namespace dossier::inspect {

void TextCount::Append(const TextCount& next) {
  utf8.bytes += next.utf8.bytes;
  utf8.ascii_bytes += next.utf8.ascii_bytes;
  utf8.code_points += next.utf8.code_points;
  utf8.wide_code_points += next.utf8.wide_code_points;
  utf8.utf16_units += next.utf8.utf16_units;
  utf8.invalid += next.utf8.invalid;
  lines.Append(next.lines);
}

bool TextCount::operator==(const TextCount& other) const {
  const auto all = [](const utf8::Census& c) {
    return std::tie(c.bytes, c.ascii_bytes, c.code_points, c.wide_code_points, c.utf16_units,
                    c.invalid);
  };
  return all(utf8) == all(other.utf8) && lines == other.lines;
}

TextCount CountText(std::string_view text) {
  return utf8::internal::HasAvx2() ? internal::CountTextAvx2(text)
                                   : internal::CountTextScalar(text);
}

namespace internal {

TextCount CountTextScalar(std::string_view text) {
  return {utf8::internal::CountScalar(text), SummarizeLines(text)};
}

}  // namespace internal
}  // namespace dossier::inspect
