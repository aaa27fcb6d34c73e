// The lines of a text, with the place of each.
//
//   for (LineReader lines(text); auto line = lines.Next();) Use(line->text, line->number);
//
// Thread-safety: one owner.

#ifndef DOSSIER_MEMORY_TRANSFER_LINES_H_
#define DOSSIER_MEMORY_TRANSFER_LINES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/json.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {

struct Line {
  std::string_view text;    // without its end, LF or CRLF
  std::int64_t number = 0;  // from 1
  std::int64_t byte = 0;    // where it begins
};

class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}
  // The next line that is not blank; nullopt at the end.
  std::optional<Line> Next();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
};

// The object on a line, or what is wrong with it and where.
tl::expected<Json, LineFault> ReadObject(const Line& line);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_TRANSFER_LINES_H_
