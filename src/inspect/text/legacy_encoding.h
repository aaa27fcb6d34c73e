// Encodings from before Unicode: their tables, and a guess of the encoding of a text.
//
//   const LegacyTable& table = LegacyTableOf(EncodingKind::kShiftJis);
//   if (table.usable()) LegacyUnit unit = table.Read(bytes, at, LastBytes::kYes);
//   GuessLegacy(bytes) == EncodingKind::kWindows1252;   // a guess: nothing in the bytes proves it
//
// The tables come from the system's iconv, once for each encoding in use; windows-1252 is built in.
// Thread-safety: all functions may be called from any thread.

#ifndef DOSSIER_INSPECT_TEXT_LEGACY_ENCODING_H_
#define DOSSIER_INSPECT_TEXT_LEGACY_ENCODING_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "inspect/text/encoding.h"

namespace dossier::inspect {

struct LegacyUnit {
  std::size_t length = 0;  // bytes; 0: more bytes are needed
  char32_t code_point = 0xFFFD;
  bool valid = false;
};

class LegacyTable {
 public:
  explicit LegacyTable(EncodingKind kind);
  // Returns false if the system has no converter for the encoding.
  bool usable() const { return usable_; }
  // Reads the unit at `at`, which must be inside `bytes`.
  LegacyUnit Read(std::string_view bytes, std::size_t at, LastBytes last) const;

 private:
  void Load(const char* name);

  bool usable_ = false;
  std::array<char32_t, 256> ones_{};  // kInvalid, kLead, or the code point of the byte
  std::vector<char32_t> pairs_;       // by both bytes; kLead: a third byte follows
  std::vector<char32_t> triples_;     // by the last two bytes
};

bool IsLegacy(EncodingKind kind);
const LegacyTable& LegacyTableOf(EncodingKind kind);

// `bytes`: the beginning of a text that is not UTF-8. nullopt if no encoding is likely.
std::optional<EncodingKind> GuessLegacy(std::string_view bytes);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_LEGACY_ENCODING_H_
