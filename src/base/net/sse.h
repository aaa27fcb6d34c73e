// Parses server-sent events from bytes, however the bytes are split.
//
//   SseParser parser(1 << 20);
//   DOSSIER_RETURN_IF_ERROR(parser.Feed(bytes, [](const SseEvent& event) { Use(event.data); }));
//   parser.Finish(use);
//
// Lines end with LF, CRLF or CR; several `data` lines are joined by LF; comments, `id` and `retry`
// are left out; a byte order mark at the start is skipped.
// Thread-safety: none; one owner.

#ifndef DOSSIER_BASE_NET_SSE_H_
#define DOSSIER_BASE_NET_SSE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier {

struct SseEvent {
  std::string event;  // empty if the stream names none
  std::string data;
};

class SseParser {
 public:
  using OnEvent = std::function<void(const SseEvent&)>;

  // `max_event` bytes: the longest line and the longest event.
  explicit SseParser(std::size_t max_event) : max_event_(max_event) {}

  // Errors: kNetwork if an event is too long; the parser must not be used after that.
  Status Feed(std::string_view bytes, const OnEvent& on_event);
  // Ends the stream: a last event without its empty line still counts.
  Status Finish(const OnEvent& on_event);

 private:
  Status TakeLine(const OnEvent& on_event);
  void Dispatch(const OnEvent& on_event);

  const std::size_t max_event_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_NET_SSE_H_
