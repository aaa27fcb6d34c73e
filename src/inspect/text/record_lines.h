// Lines as inspect counts them: ended by LF, CRLF (one end) or a lone CR.
//
//   for (std::size_t at = 0; at < text.size();) {
//     const Line line = NextLine(text, at);
//     Use(line.text);
//     at = line.next;
//   }
//
//   LineAssembler lines;                       // the same over a stream, split anywhere
//   lines.Feed(bytes, [&](std::string_view line) { Use(line); });
//   lines.Finish(use);
//
// Thread-safety: NextLine is pure; a LineAssembler has one owner.

#ifndef DOSSIER_INSPECT_TEXT_RECORD_LINES_H_
#define DOSSIER_INSPECT_TEXT_RECORD_LINES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dossier::inspect {

struct Line {
  std::string_view text;  // without its end
  std::size_t next;       // offset of the next line; text.size() after the last
};

// Returns the line that starts at `start` < text.size(). Takes time linear in its length.
Line NextLine(std::string_view text, std::size_t start);

// Returns true if there are only spaces and tabs.
bool IsBlankLine(std::string_view line);

// The start of a line is enough to classify it: a longer line is judged by its first bytes, so that
// a stream needs no more memory for a line of 1 GB.
inline constexpr std::size_t kMaxJudgedLine = 64 * 1024;

class LineAssembler {
 public:
  // Calls sink(std::string_view) for every line that ends in `bytes`, with at most its first
  // kMaxJudgedLine bytes.
  template <typename Sink>
  void Feed(std::string_view bytes, Sink&& sink);
  // Passes on the last line, if it has no end and is not empty.
  template <typename Sink>
  void Finish(Sink&& sink);
  // True if nothing was fed since the last line end.
  bool at_line_start() const { return line_.empty(); }

 private:
  void Keep(std::string_view part);

  std::string line_;
  bool after_cr_ = false;
};

template <typename Sink>
void LineAssembler::Feed(std::string_view bytes, Sink&& sink) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (after_cr_ && bytes[at] == '\n') ++at;
    after_cr_ = false;
    if (at == bytes.size()) return;
    const Line line = NextLine(bytes, at);
    if (at + line.text.size() == bytes.size()) return Keep(line.text);
    after_cr_ = bytes[line.next - 1] == '\r';
    if (line_.empty()) {
      sink(line.text.substr(0, kMaxJudgedLine));
    } else {
      Keep(line.text);
      sink(std::string_view(line_));
      line_.clear();
    }
    at = line.next;
  }
}

template <typename Sink>
void LineAssembler::Finish(Sink&& sink) {
  if (!line_.empty()) sink(std::string_view(line_));
  line_.clear();
  after_cr_ = false;
}

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_RECORD_LINES_H_
