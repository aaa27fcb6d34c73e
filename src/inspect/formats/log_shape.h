// Recognises the shapes of log lines, and makes records of them.
//
//   LogFields fields;
//   ParseLogLine(LogShape::kSyslog, "Jan  2 03:04:05 mars cron[81]: started", &fields);
//   // time, host, program, pid, message
//
// A record is a line that fits the shape, with the following lines that do not (stack traces).
// Values that the line lacks (`-` for a size, no pid) are left out. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_LOG_SHAPE_H_
#define DOSSIER_INSPECT_FORMATS_LOG_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/description/record_range.h"

namespace dossier::inspect {

enum class LogShape : std::uint8_t {
  kTimestampLevel,  // 2024-11-02 15:30:00,123 ERROR text
  kSyslog,          // RFC 3164, RFC 5424, and RFC 3164 with an ISO time
  kCommonAccess,    // web servers
  kCombinedAccess,  // the same with referer and user agent
  kLogfmt,          // key=value key="two words"
  kContainer,       // Kubernetes: time stderr F text
  kPostgres,        // time [pid] user@database ERROR:  text
  kChannelLevel,    // Laravel, Symfony: [time] production.ERROR: text
  kGlog,            // I1102 15:30:00.123456 1234 server.go:81] text
  kTimed,           // a date and time, then text: dpkg; a kernel's seconds
};

// The name in details.log_shape: "timestamp-level", "syslog", "common-access", …
std::string_view LogShapeName(LogShape shape);
std::optional<LogShape> LogShapeNamed(std::string_view name);
// Returns its fields in order; empty for logfmt, whose fields are its keys.
std::vector<std::string> LogShapeFields(LogShape shape);
// Returns all shapes in order of preference: if two fit equally, the earlier has more fields.
std::vector<LogShape> LogShapes();

using LogFields = std::vector<std::pair<std::string, std::string>>;

// Returns true if `line` fits the shape, and then fills `fields` unless it is null. Only the first
// kMaxJudgedLine bytes are checked.
bool ParseLogLine(LogShape shape, std::string_view line, LogFields* fields);
inline bool FitsLogShape(LogShape shape, std::string_view line) {
  return ParseLogLine(shape, line, nullptr);
}

// Finds the next record at or after *position; its range ends before the last line end and blank
// lines. Returns false at the end of the text. Lines before the first fitting one are skipped.
bool NextLogRecord(LogShape shape, std::string_view text, std::size_t* position, ByteRange* record);

// Returns the fields of a record: those of its first line, with the other lines appended to
// `message` (in logfmt also `msg`), or as `continuation` if the shape has no such field.
LogFields ParseLogRecord(LogShape shape, std::string_view record);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_SHAPE_H_
