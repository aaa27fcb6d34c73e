#include "base/net/sse.h"

namespace dossier {

Status SseParser::Feed(std::string_view bytes, const OnEvent& on_event) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes[0] == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > max_event_) {
      return MakeError(ErrorCode::kNetwork, "a line of the stream is longer than {} bytes",
                       max_event_);
    }
    line_.append(part);
    if (end == std::string_view::npos) return {};
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    DOSSIER_RETURN_IF_ERROR(TakeLine(on_event));
  }
  return {};
}

Status SseParser::Finish(const OnEvent& on_event) {
  if (!line_.empty()) DOSSIER_RETURN_IF_ERROR(TakeLine(on_event));
  Dispatch(on_event);
  return {};
}

Status SseParser::TakeLine(const OnEvent& on_event) {
  std::string_view line = line_;
  if (first_line_ && line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) {
    line_.clear();
    Dispatch(on_event);
    return {};
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value[0] == ' ') value.remove_prefix(1);
  if (field == "data") {
    if (event_.data.size() + value.size() + 1 > max_event_) {
      return MakeError(ErrorCode::kNetwork, "an event of the stream is longer than {} bytes",
                       max_event_);
    }
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.event = value;
  }
  line_.clear();
  return {};
}

void SseParser::Dispatch(const OnEvent& on_event) {
  SseEvent event = std::exchange(event_, {});
  if (std::exchange(has_data_, false)) on_event(event);
}

}  // namespace dossier
