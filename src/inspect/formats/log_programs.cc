#include "inspect/formats/log_programs.h"

#include "inspect/formats/log_text.h"
#include "inspect/formats/log_time.h"

namespace dossier::inspect {
namespace {

// Takes a date with a time off the front of *rest.
std::string_view TakeDatedTime(std::string_view* rest) {
  const std::string_view time = rest->substr(0, DatedTimeLength(*rest));
  rest->remove_prefix(time.size());
  return time;
}

// A zone by its letters, such as CEST, between the time and a space.
std::size_t ZoneNameLength(std::string_view text) {
  if (!text.starts_with(' ')) return 0;
  const std::size_t end = text.find(' ', 1);
  if (end == std::string_view::npos || end < 3 || end > 6) return 0;
  return IsUpper(text.substr(1, end - 1)) ? end : 0;
}

// ERROR: or DEBUG1:, with the two spaces that PostgreSQL writes behind it. Languages differ, so
// any letters that are not lower case will do.
std::size_t SeverityLength(std::string_view text) {
  const std::size_t colon = text.find_first_of(": ");
  if (colon == std::string_view::npos || colon < 3 || !text.substr(colon).starts_with(":  ")) {
    return 0;
  }
  const bool named = std::all_of(text.begin(), text.begin() + colon, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
  });
  return named ? colon : 0;
}

// Seconds since the start of a system, as its kernel writes them: 12.345678 behind spaces.
std::string_view UptimeOf(std::string_view text) {
  text = SkipSpaces(text);
  const std::size_t point = text.find('.');
  const bool seconds = point != std::string_view::npos && IsDigits(text.substr(0, point)) &&
                       text.size() - point == 7 && IsDigits(text.substr(point + 1));
  return seconds ? text : std::string_view();
}

}  // namespace

// 2024-11-02T15:30:00.123456789Z stderr F text: Kubernetes' container runtime interface.
bool ParseContainerLine(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  const std::string_view time = rest.substr(0, IsoTimeLength(rest));
  rest.remove_prefix(time.size());
  if (time.empty() || !TakeChar(' ', &rest)) return false;
  const std::string_view stream = TakeUntil(" ", &rest);
  if ((stream != "stdout" && stream != "stderr") || !TakeChar(' ', &rest)) return false;
  const std::string_view tag = TakeUntil(" ", &rest);
  const std::string_view part = tag.substr(0, tag.find(':'));
  if (part != "F" && part != "P") return false;
  TakeChar(' ', &rest);
  Put(fields, "time", time);
  Put(fields, "stream", stream);
  Put(fields, "tag", tag);
  Put(fields, "message", rest);
  return true;
}

// 2024-11-02 15:30:00.123 UTC [1234] ann@shop ERROR:  text
bool ParsePostgresLine(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  std::size_t time_length = TakeDatedTime(&rest).size();
  const std::size_t zone = ZoneNameLength(rest);
  rest.remove_prefix(zone);
  time_length += zone;
  if (time_length == 0 || !TakeChar(' ', &rest) || !TakeChar('[', &rest)) return false;
  const std::string_view pid = TakeUntil("]", &rest);
  if (!IsDigits(pid.substr(0, pid.find('-'))) || !TakeChar(']', &rest)) return false;
  TakeChar(':', &rest);
  const std::string_view behind = rest = SkipSpaces(rest);
  for (int tokens = 0; tokens < 8 && !rest.empty(); ++tokens) {
    const std::size_t severity = SeverityLength(rest);
    if (severity == 0) {
      TakeUntil(" ", &rest);
      rest = SkipSpaces(rest);
      continue;
    }
    const std::string_view session = behind.substr(0, rest.data() - behind.data());
    Put(fields, "time", line.substr(0, time_length));
    Put(fields, "pid", pid);
    PutUnlessNil(fields, "session", session.substr(0, session.find_last_not_of(' ') + 1));
    Put(fields, "level", rest.substr(0, severity));
    Put(fields, "message", rest.substr(severity + 3));
    return true;
  }
  return false;
}

// [2024-11-02 15:30:00] production.ERROR: text, as Monolog writes it, and so Laravel and Symfony.
bool ParseChannelLine(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  if (!TakeChar('[', &rest)) return false;
  const std::string_view time = TakeDatedTime(&rest);
  if (time.empty() || !TakeChar(']', &rest) || !TakeChar(' ', &rest)) return false;
  const std::string_view source = TakeUntil(": ", &rest);
  const std::size_t dot = source.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !TakeChar(':', &rest)) return false;
  const std::string_view level = source.substr(dot + 1);
  if (level.size() < 3 || !IsUpper(level)) return false;
  Put(fields, "time", time);
  Put(fields, "channel", source.substr(0, dot));
  Put(fields, "level", level);
  Put(fields, "message", SkipSpaces(rest));
  return true;
}

// I1102 15:30:00.123456    1234 server.go:81] text: glog, klog, absl, and so Kubernetes. Newer ones
// write the year too: I20241102.
bool ParseGlogLine(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  const std::string_view level = rest.substr(0, 1);
  if (level.empty() || std::string_view("DIWEF").find(level[0]) == std::string_view::npos) {
    return false;
  }
  rest.remove_prefix(1);
  const std::string_view time_start = rest;
  const std::string_view day = TakeUntil(" ", &rest);
  if ((day.size() != 4 && day.size() != 8) || !IsDigits(day) || !TakeChar(' ', &rest)) return false;
  const std::size_t clock = ClockLength(rest);
  if (clock < 10) return false;  // with a fraction
  rest.remove_prefix(clock);
  const std::string_view time = time_start.substr(0, day.size() + 1 + clock);
  if (!TakeChar(' ', &rest)) return false;
  rest = SkipSpaces(rest);
  const std::string_view thread = TakeUntil(" ", &rest);
  if (!IsDigits(thread) || !TakeChar(' ', &rest)) return false;
  const std::string_view source = TakeUntil("]", &rest);
  const std::size_t colon = source.rfind(':');
  if (colon == std::string_view::npos || !IsDigits(source.substr(colon + 1))) return false;
  TakeChar(']', &rest);
  Put(fields, "time", time);
  Put(fields, "level", level);
  Put(fields, "thread", thread);
  Put(fields, "source", source);
  Put(fields, "message", SkipSpaces(rest));
  return true;
}

// A date with its time, or a kernel's seconds, then text. Behind the time stands a space: what
// follows a tab, comma or other delimiter is a cell of a table.
bool ParseTimedLine(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  const bool bracketed = TakeChar('[', &rest);
  std::string_view time = TakeDatedTime(&rest);
  if (time.empty() && bracketed) time = UptimeOf(TakeUntil("]", &rest));
  if (time.empty() || (bracketed && !TakeChar(']', &rest))) return false;
  if (rest.starts_with(": ")) rest.remove_prefix(1);
  if (!TakeChar(' ', &rest)) return false;
  rest = SkipSpaces(rest);
  if (rest.starts_with("- ")) rest.remove_prefix(2);
  if (rest.empty()) return false;
  Put(fields, "time", time);
  Put(fields, "message", rest);
  return true;
}

}  // namespace dossier::inspect
