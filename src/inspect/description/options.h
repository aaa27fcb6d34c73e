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

// kHere: the text ends after the given bytes; kLater: more follow.
enum class TextEnds : std::uint8_t { kHere, kLater };

struct Options {
  std::optional<Format> format;          // replaces detection
  std::optional<EncodingKind> encoding;  // replaces detection
  std::optional<char> delimiter;         // for CSV
  HeaderRow header = HeaderRow::kAuto;
  std::optional<std::string> comment;  // prefix of CSV comment lines; empty: there are none
  // A text beside this one that shows where the records are, because this one may have too few to
  // show it: the last page of an API, a file with one block. Must outlive the call.
  const Description* like = nullptr;
  int depth = 1;                           // expanded object levels in field paths, 0 to 8
  std::uint32_t fields = 40;               // fields listed
  std::uint32_t sample_records = 100;      // records whose fields are examined
  std::uint32_t sample_chars = 200;        // 0: no sample
  std::optional<std::uint64_t> max_scan;   // bytes
  std::uint64_t inside_limit = 256 << 20;  // unpacked bytes of a compressed file; 0: not opened
  std::uint32_t members = 40;              // archive members listed
  int threads = 0;                         // 0: one per core, at most 8; never changes the result
  bool hash = false;                       // SHA-256 of the bytes
  std::size_t block_bytes = 256 << 10;     // per read; never changes the result
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_OPTIONS_H_
