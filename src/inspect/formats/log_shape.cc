#include "inspect/formats/log_shape.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/formats/log_time.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

// Log lines of well-known programs, each by its own grammar, and lines that only begin with a time.
// log_shape.h says what the functions return.
//
// Thread-safety: pure functions.

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
  return IsAllUpper(text.substr(1, end - 1)) ? end : 0;
}

// ERROR: or DEBUG1:, with the two spaces that PostgreSQL writes behind it. Languages differ, so
// any letters that are not lower case will do.
std::size_t SeverityLength(std::string_view text) {
  const std::size_t colon = text.find_first_of(": ");
  if (colon == std::string_view::npos || colon < 3 || !text.substr(colon).starts_with(":  ")) {
    return 0;
  }
  const bool named = std::all_of(text.begin(), text.begin() + colon, [](char c) {
    return IsUpper(c) || IsDigit(c) || static_cast<signed char>(c) < 0;
  });
  return named ? colon : 0;
}

// Seconds since the start of a system, as its kernel writes them: 12.345678 behind spaces.
std::string_view UptimeOf(std::string_view text) {
  text = SkipSpaces(text);
  const std::size_t point = text.find('.');
  const bool seconds = point != std::string_view::npos && AllDigits(text.substr(0, point)) &&
                       text.size() - point == 7 && AllDigits(text.substr(point + 1));
  return seconds ? text : std::string_view();
}

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
  if (!AllDigits(pid.substr(0, pid.find('-'))) || !TakeChar(']', &rest)) return false;
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
  if (level.size() < 3 || !IsAllUpper(level)) return false;
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
  if ((day.size() != 4 && day.size() != 8) || !AllDigits(day) || !TakeChar(' ', &rest))
    return false;
  const std::size_t clock = ClockLength(rest);
  if (clock < 10) return false;  // with a fraction
  rest.remove_prefix(clock);
  const std::string_view time = time_start.substr(0, day.size() + 1 + clock);
  if (!TakeChar(' ', &rest)) return false;
  rest = SkipSpaces(rest);
  const std::string_view thread = TakeUntil(" ", &rest);
  if (!AllDigits(thread) || !TakeChar(' ', &rest)) return false;
  const std::string_view source = TakeUntil("]", &rest);
  const std::size_t colon = source.rfind(':');
  if (colon == std::string_view::npos || !AllDigits(source.substr(colon + 1))) return false;
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

struct ShapeEntry {
  LogShape shape;
  std::string_view name;
  std::array<std::string_view, 10> fields;
};

// In the order of preference: on equal fit the earlier one, which says more, wins.
constexpr std::array<ShapeEntry, 10> kShapes = {{
    {LogShape::kCombinedAccess,
     "combined-access",
     {"vhost", "client", "user", "time", "request", "status", "size", "referer", "agent", "more"}},
    {LogShape::kCommonAccess,
     "common-access",
     {"vhost", "client", "user", "time", "request", "status", "size"}},
    {LogShape::kContainer, "container", {"time", "stream", "tag", "message"}},
    {LogShape::kPostgres, "postgresql", {"time", "pid", "session", "level", "message"}},
    {LogShape::kChannelLevel, "channel-level", {"time", "channel", "level", "message"}},
    {LogShape::kGlog, "glog", {"time", "level", "thread", "source", "message"}},
    {LogShape::kTimestampLevel, "timestamp-level", {"time", "level", "message"}},
    {LogShape::kSyslog, "syslog", {"time", "host", "program", "pid", "message"}},
    {LogShape::kLogfmt, "logfmt", {}},
    {LogShape::kTimed, "timed", {"time", "message"}},
}};

const ShapeEntry& EntryOf(LogShape shape) {
  return *std::find_if(kShapes.begin(), kShapes.end(),
                       [shape](const ShapeEntry& entry) { return entry.shape == shape; });
}

// --- time, level, text ---

bool IsLevelWord(std::string_view word) {
  static constexpr std::array<std::string_view, 27> kLevels = {
      "trace", "debug",    "info",  "information", "notice",  "warn",     "warning",
      "error", "err",      "fatal", "severe",      "fine",    "finer",    "finest",
      "panic", "critical", "crit",  "alert",       "emerg",   "config",   "verbose",
      "dbg",   "inf",      "wrn",   "audit",       "success", "emergency"};
  if (word.size() > 11) return false;
  const std::string lower = ToLowerAscii(word);
  return std::find(kLevels.begin(), kLevels.end(), lower) != kLevels.end();
}

// What a token says as a level: "[core:error]" -> error, "INFO:" -> INFO, "|WARN|" -> WARN.
struct LevelToken {
  std::string_view level;  // empty: none
  bool marked = false;     // by brackets, a colon or capitals: no word of a sentence
};

LevelToken ReadLevel(std::string_view token) {
  const std::size_t begin = token.find_first_not_of("[(<|");
  if (begin == std::string_view::npos) return {};
  const std::size_t end = token.find_last_not_of("])>|:,") + 1;
  if (end <= begin) return {};
  std::string_view word = token.substr(begin, end - begin);
  const bool bracketed = begin > 0 && end < token.size();
  if (const std::size_t colon = word.rfind(':'); bracketed && colon != std::string_view::npos) {
    word.remove_prefix(colon + 1);
  }
  const bool single = bracketed && word.size() == 1 &&
                      std::string_view("TDIWEFVC").find(word[0]) != std::string_view::npos;
  if (!single && !IsLevelWord(word)) return {};
  return {word, bracketed || end < token.size() || IsAllUpper(word)};
}

// Reads a time stamp, in brackets or not.
std::string_view TakeTime(std::string_view* rest) {
  const bool bracketed = TakeChar('[', rest);
  const std::string_view time = rest->substr(0, TimestampLength(*rest));
  rest->remove_prefix(time.size());
  if (bracketed && !TakeChar(']', rest)) return {};
  return time;
}

// The level among the first four tokens (`- name - LEVEL -` and `[main] LEVEL` stand in front of it
// in common layouts); what stands before it stays part of the message.
bool ParseLevelAndText(std::string_view rest, std::string_view time, LogFields* fields) {
  const std::string_view all = rest;
  for (int token_count = 0; token_count < 5; ++token_count) {
    rest = SkipSpaces(rest);
    const std::string_view token = TakeUntil(" \t", &rest);
    if (token.empty()) return false;
    const LevelToken level = ReadLevel(token);
    if (level.level.empty() || (token_count > 0 && !level.marked)) continue;
    if (!fields) return true;
    std::string_view before = TrimSpace(all.substr(0, token.data() - all.data()));
    std::string_view message = SkipSpaces(rest);
    if (message.starts_with("- ") || message.starts_with(": ")) message.remove_prefix(2);
    while (before.starts_with("- ")) before.remove_prefix(2);
    if (before == "-") before = {};
    Put(fields, "time", time);
    Put(fields, "level", level.level);
    fields->emplace_back(
        "message", before.empty() ? std::string(message) : fmt::format("{} {}", before, message));
    return true;
  }
  return false;
}

bool ParseTimestampLevel(std::string_view line, LogFields* fields) {
  std::string_view rest = SkipSpaces(line);
  if (const std::string_view time = TakeTime(&rest); !time.empty()) {
    if (!rest.empty() && std::string_view(" \t[|:,-").find(rest[0]) == std::string_view::npos) {
      return false;
    }
    TakeChar(':', &rest) || TakeChar(',', &rest);
    return ParseLevelAndText(rest, time, fields);
  }
  rest = SkipSpaces(line);  // level first: [INFO] 2024-11-02 15:30:00 text
  const LevelToken level = ReadLevel(TakeUntil(" \t", &rest));
  rest = SkipSpaces(rest);
  const std::string_view time = level.marked ? TakeTime(&rest) : std::string_view{};
  if (time.empty()) return false;
  Put(fields, "time", time);
  Put(fields, "level", level.level);
  Put(fields, "message", SkipSpaces(rest.starts_with(':') ? rest.substr(1) : rest));
  return true;
}

// --- syslog ---

bool TakePriority(std::string_view* rest) {
  if (rest->empty() || rest->front() != '<') return false;
  const std::size_t end = rest->find('>');
  if (end < 2 || end > 4) return false;
  const std::string_view digits = rest->substr(1, end - 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
  rest->remove_prefix(end + 1);
  return true;
}

// Behind the structured data of RFC 5424: `-` or one or more [id name="value" …].
bool SkipStructuredData(std::string_view* rest) {
  if (TakeChar('-', rest)) return true;
  bool found = false;
  while (TakeChar('[', rest)) {
    bool quoted = false;
    std::size_t at = 0;
    for (; at < rest->size() && (quoted || (*rest)[at] != ']'); ++at) {
      if ((*rest)[at] == '\\')
        ++at;
      else if ((*rest)[at] == '"')
        quoted = !quoted;
    }
    if (at >= rest->size()) return false;
    rest->remove_prefix(at + 1);
    found = true;
  }
  return found;
}

// <34>1 2024-11-02T15:30:00Z host program pid id data text; the priority is taken already.
bool ParseModernSyslog(std::string_view rest, LogFields* fields) {
  if (!rest.starts_with("1 ")) return false;
  rest.remove_prefix(2);
  std::array<std::string_view, 5> parts;
  for (std::string_view& part : parts) {
    part = TakeUntil(" ", &rest);
    if (part.empty() || !TakeChar(' ', &rest)) return false;
  }
  const auto& [time, host, program, pid, id] = parts;
  if (time != "-" && IsoTimeLength(time) != time.size()) return false;
  if (!SkipStructuredData(&rest)) return false;
  PutUnlessNil(fields, "time", time);
  PutUnlessNil(fields, "host", host);
  PutUnlessNil(fields, "program", program);
  PutUnlessNil(fields, "pid", pid);
  rest = SkipSpaces(rest);
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  Put(fields, "message", rest);
  return true;
}

bool ParseSyslog(std::string_view line, LogFields* fields) {
  std::string_view rest = line;
  if (TakePriority(&rest) && ParseModernSyslog(rest, fields)) return true;
  std::size_t time_length = SyslogTimeLength(rest);
  if (time_length == 0) time_length = IsoTimeLength(rest);
  const std::string_view time = rest.substr(0, time_length);
  rest.remove_prefix(time_length);
  if (time.empty() || !TakeChar(' ', &rest)) return false;
  const std::string_view host = TakeUntil(" ", &rest);
  if (host.empty() || host.back() == ':' || !TakeChar(' ', &rest)) return false;
  const std::string_view program = TakeUntil(" [:", &rest);
  if (program.empty()) return false;
  std::string_view pid;
  if (TakeChar('[', &rest)) {
    pid = TakeUntil("] ", &rest);
    if (!TakeChar(']', &rest)) return false;
  }
  if (!TakeChar(':', &rest)) return false;
  Put(fields, "time", time);
  Put(fields, "host", host);
  Put(fields, "program", program);
  PutUnlessNil(fields, "pid", pid);
  Put(fields, "message", SkipSpaces(rest));
  return true;
}

// --- access logs ---

// The text between quotes; \" does not end it. False if it is not closed.
bool TakeQuoted(std::string_view* rest, std::string_view* inside) {
  if (!TakeChar('"', rest)) return false;
  std::size_t end = 0;
  while (end < rest->size() && (*rest)[end] != '"') end += (*rest)[end] == '\\' ? 2 : 1;
  if (end >= rest->size()) return false;
  *inside = rest->substr(0, end);
  rest->remove_prefix(end + 1);
  return true;
}

struct AccessLine {
  std::string_view vhost, client, user, time, request, status, size;
};

// Reads the part that both access logs share.
bool TakeCommonPart(std::string_view* rest, AccessLine* out) {
  out->client = TakeUntil(" ", rest);
  const std::size_t bracket = rest->find(" [");
  if (out->client.empty() || bracket == std::string_view::npos || bracket > 256) return false;
  std::string_view users = TrimSpace(rest->substr(0, bracket));  // ident and user
  std::size_t space = users.find(' ');
  if (space == std::string_view::npos) return false;
  // Behind the name of a virtual host there is one more word, and it is an address.
  const bool address = users.substr(0, space).find_first_of(".:") != std::string_view::npos;
  if (address && users.find(' ', space + 1) != std::string_view::npos) {
    out->vhost = std::exchange(out->client, users.substr(0, space));
    users.remove_prefix(space + 1);
    space = users.find(' ');
  }
  out->user = users.substr(space + 1);
  rest->remove_prefix(bracket + 2);
  out->time = TakeUntil("]", rest);
  if (out->time.size() < 20 || out->time.size() > 40 || !TakeChar(']', rest)) return false;
  if (!TakeChar(' ', rest) || !TakeQuoted(rest, &out->request)) return false;
  if (!TakeChar(' ', rest)) return false;
  out->status = TakeUntil(" ", rest);
  if (out->status.size() != 3 || !AllDigits(out->status) || !TakeChar(' ', rest)) return false;
  out->size = TakeUntil(" ", rest);
  return AllDigits(out->size) || out->size == "-";
}

void PutAccess(const AccessLine& line, LogFields* fields) {
  if (!line.vhost.empty()) Put(fields, "vhost", line.vhost);
  Put(fields, "client", line.client);
  PutUnlessNil(fields, "user", line.user);
  Put(fields, "time", line.time);
  Put(fields, "request", line.request);
  Put(fields, "status", line.status);
  PutUnlessNil(fields, "size", line.size);
}

bool ParseCommonAccess(std::string_view line, LogFields* fields) {
  AccessLine parts;
  if (!TakeCommonPart(&line, &parts) || !TrimSpace(line).empty()) return false;
  PutAccess(parts, fields);
  return true;
}

bool ParseCombinedAccess(std::string_view line, LogFields* fields) {
  AccessLine parts;
  std::string_view referer, agent;
  if (!TakeCommonPart(&line, &parts) || !TakeChar(' ', &line)) return false;
  if (!TakeQuoted(&line, &referer) || !TakeChar(' ', &line)) return false;
  if (!TakeQuoted(&line, &agent)) return false;
  PutAccess(parts, fields);
  PutUnlessNil(fields, "referer", referer);
  PutUnlessNil(fields, "agent", agent);
  if (line = TrimSpace(line); !line.empty()) Put(fields, "more", line);
  return true;
}

// --- logfmt ---

bool IsKeyByte(char c) { return static_cast<unsigned char>(c) > ' ' && c != '=' && c != '"'; }

std::string Unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = text[at] == '\\' && at + 1 < text.size() ? text[at + 1] : '\0';
    const std::size_t known = std::string_view("ntr\"\\").find(next);
    if (next == '\0' || known == std::string_view::npos) {
      out.push_back(text[at]);
      continue;
    }
    out.push_back("\n\t\r\"\\"[known]);
    ++at;
  }
  return out;
}

bool TakePair(std::string_view* rest, LogFields* fields) {
  std::size_t key_length = 0;
  while (key_length < rest->size() && IsKeyByte((*rest)[key_length])) ++key_length;
  const std::string_view key = rest->substr(0, key_length);
  rest->remove_prefix(key_length);
  if (key.empty() || !TakeChar('=', rest)) return false;
  std::string_view value;
  if (rest->starts_with('"')) {
    if (!TakeQuoted(rest, &value)) return false;
    if (!rest->empty() && rest->front() != ' ' && rest->front() != '\t') return false;
    if (fields) fields->emplace_back(key, Unescape(value));
    return true;
  }
  value = TakeUntil(" \t", rest);
  if (value.find('"') != std::string_view::npos) return false;
  Put(fields, key, value);
  return true;
}

bool ParseLogfmt(std::string_view line, LogFields* fields) {
  std::string_view rest = TrimSpace(line);
  int pairs = 0;
  while (!rest.empty()) {
    if (!TakePair(&rest, fields)) return false;
    ++pairs;
    rest = SkipSpaces(rest);
  }
  return pairs >= 2;
}

bool ParseShape(LogShape shape, std::string_view line, LogFields* fields) {
  switch (shape) {
    case LogShape::kTimestampLevel:
      return ParseTimestampLevel(line, fields);
    case LogShape::kSyslog:
      return ParseSyslog(line, fields);
    case LogShape::kCommonAccess:
      return ParseCommonAccess(line, fields);
    case LogShape::kCombinedAccess:
      return ParseCombinedAccess(line, fields);
    case LogShape::kLogfmt:
      return ParseLogfmt(line, fields);
    case LogShape::kContainer:
      return ParseContainerLine(line, fields);
    case LogShape::kPostgres:
      return ParsePostgresLine(line, fields);
    case LogShape::kChannelLevel:
      return ParseChannelLine(line, fields);
    case LogShape::kGlog:
      return ParseGlogLine(line, fields);
    case LogShape::kTimed:
      return ParseTimedLine(line, fields);
  }
  return false;
}

}  // namespace

std::string_view LogShapeName(LogShape shape) { return EntryOf(shape).name; }

std::optional<LogShape> LogShapeNamed(std::string_view name) {
  for (const ShapeEntry& entry : kShapes) {
    if (entry.name == name) return entry.shape;
  }
  return std::nullopt;
}

std::vector<std::string> LogShapeFields(LogShape shape) {
  std::vector<std::string> names;
  for (const std::string_view name : EntryOf(shape).fields) {
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

std::vector<LogShape> LogShapes() {
  std::vector<LogShape> shapes;
  for (const ShapeEntry& entry : kShapes) shapes.push_back(entry.shape);
  return shapes;
}

bool ParseLogLine(LogShape shape, std::string_view line, LogFields* fields) {
  const std::string_view judged = line.substr(0, kMaxJudgedLine);
  if (!ParseShape(shape, judged, nullptr)) return false;
  if (!fields) return true;
  fields->clear();
  if (ParseShape(shape, line, fields)) return true;
  fields->clear();
  return ParseShape(shape, judged, fields);
}

}  // namespace dossier::inspect
