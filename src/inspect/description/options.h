// The options of Describe. The defaults are those of `dossier inspect`.
//
// Thread-safety: plain data.

#ifndef DOSSIER_INSPECT_DESCRIPTION_OPTIONS_H_
#define DOSSIER_INSPECT_DESCRIPTION_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "inspect/description/description.h"

namespace dossier::inspect {

enum class HeaderRow : std::uint8_t { kAuto, kYes, kNo };

// Whether the given bytes are the end of the text, or more follow.
enum class TextEnds : std::uint8_t { kHere, kLater };

struct Options {
  std::optional<Format> format;          // forced instead of detected
  std::optional<EncodingKind> encoding;  // forced instead of detected
  std::optional<char> delimiter;         // of CSV
  HeaderRow header = HeaderRow::kAuto;
  std::optional<std::string> comment;  // what comment lines of CSV begin with; empty: none do
  // Of a text beside this one whose records tell where those of this one are, which may be too few
  // to show it: the last page of an API, a file with one block. It outlives the call.
  const Description* like = nullptr;
  int depth = 1;                           // object levels expanded in field paths, 0 to 8
  std::uint32_t fields = 40;               // fields listed
  std::uint32_t sample_records = 100;      // records whose fields are looked at
  std::uint32_t sample_chars = 200;        // 0: no sample
  std::optional<std::uint64_t> max_scan;   // bytes
  std::uint64_t inside_limit = 256 << 20;  // unpacked bytes of a compressed file; 0: not looked at
  std::uint32_t members = 40;              // members of an archive that are listed
  int threads = 0;                         // 0: one a core, at most 8; never changes the result
  bool hash = false;                       // SHA-256 of the bytes
  std::size_t block_bytes = 256 << 10;     // of one read; never changes the result
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_OPTIONS_H_
