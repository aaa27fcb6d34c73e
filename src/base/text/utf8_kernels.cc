#include "base/text/utf8_kernels.h"

namespace dossier::utf8::internal {
namespace {

// What may follow a lead byte: the range of the second byte is narrower for E0, ED, F0 and F4
// (Unicode 15, table 3-7), which excludes overlong forms, surrogates and values above U+10FFFF.
struct Lead {
  unsigned char length = 0;  // 0: no lead byte
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

constexpr Lead LeadOf(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

Unit UnitAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(at) < 0x80) return {1, true};
  const Lead lead = LeadOf(byte(at));
  if (lead.length == 0) return {1, false};
  std::size_t length = 1;
  for (; length < lead.length && at + length < text.size(); ++length) {
    const unsigned char min = length == 1 ? lead.second_min : 0x80;
    const unsigned char max = length == 1 ? lead.second_max : 0xBF;
    if (byte(at + length) < min || byte(at + length) > max) break;
  }
  return {length, length == lead.length};
}

bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("popcnt");
  return has;
}

Census CountScalar(std::string_view text) {
  Census census;
  census.bytes = text.size();
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++census.ascii_bytes;
      ++at;
      continue;
    }
    const Unit unit = UnitAt(text, at);
    ++census.wide_code_points;
    if (!unit.valid) ++census.invalid;
    if (unit.valid && unit.length == 4) ++census.utf16_units;
    at += unit.length;
  }
  census.code_points = census.ascii_bytes + census.wide_code_points;
  census.utf16_units += census.code_points;
  return census;
}

}  // namespace dossier::utf8::internal
