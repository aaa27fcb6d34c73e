#include "cli/line_reader.h"

namespace dossier::cli {

Result<Line> PlainLineReader::Read(const LinePrompt&) {
  Line line;
  if (!std::getline(in_, line.text)) line.kind = Line::Kind::kEnd;
  if (line.text.ends_with('\r')) line.text.pop_back();
  return line;
}

void PlainLineReader::Remember(std::string_view) {}

Result<Line> ReadMessage(LineReader& reader, const LinePrompt& prompt, MessageEnd end) {
  LinePrompt next = prompt;
  Line message;
  bool first = true;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(Line line, reader.Read(next));
    if (line.kind == Line::Kind::kInterrupted) {
      if (!first) line.was = Line::Was::kFilled;
      return line;
    }
    const bool ended = line.kind == Line::Kind::kEnd;
    if (ended && first) return line;
    if (end == MessageEnd::kDot && (ended || line.text == ".")) return message;
    const bool goes_on = end == MessageEnd::kDot || (!ended && line.text.ends_with('\\'));
    if (end == MessageEnd::kLine && goes_on) line.text.pop_back();
    if (!first && !ended) message.text += '\n';
    message.text += line.text;
    if (!goes_on) return message;
    first = false;
    next = {.text = "… ", .right = {}};
  }
}

}  // namespace dossier::cli
