// Shapes of log lines, and records made of them.
//
//   LogFields fields;
//   ParseLogLine(LogShape::kSyslog, "Jan  2 03:04:05 mars cron[81]: started", &fields);
//   // time, host, program, pid, message
//
// A record is a line that fits the shape and the lines behind it that do not (stack traces). What
// the line does not have (`-` for a size, no pid) is left out.
// Thread-safety: pure functions.

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
  kPostgres,        // time [pid] ann@shop ERROR:  text
  kChannelLevel,    // Laravel, Symfony: [time] production.ERROR: text
  kGlog,            // I1102 15:30:00.123456 1234 server.go:81] text
  kTimed,           // a date with its time, then text: dpkg; a kernel's seconds
};

// "timestamp-level", "syslog", "common-access", … the name in details.log_shape.
std::string_view LogShapeName(LogShape shape);
std::optional<LogShape> LogShapeNamed(std::string_view name);
// Its fields in order; empty for logfmt, whose fields are its keys.
std::vector<std::string> LogShapeFields(LogShape shape);
// All shapes, preferred ones first: on equal fit the earlier one says more.
std::vector<LogShape> LogShapes();

using LogFields = std::vector<std::pair<std::string, std::string>>;

// Whether `line` fits; if so and `fields` is not null, it is filled. Only the first kMaxJudgedLine
// bytes decide.
bool ParseLogLine(LogShape shape, std::string_view line, LogFields* fields);
inline bool FitsLogShape(LogShape shape, std::string_view line) {
  return ParseLogLine(shape, line, nullptr);
}

// Finds the next record at or behind *position; its range ends before the last line end and blank
// lines. False at the end of the text. Lines in front of the first fitting one are no record.
bool NextLogRecord(LogShape shape, std::string_view text, std::size_t* position, ByteRange* record);

// The fields of a record: those of its first line, the other lines added to `message` (in logfmt
// `msg` too), or as `continuation` where the shape has no such field.
LogFields ParseLogRecord(LogShape shape, std::string_view record);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_SHAPE_H_
