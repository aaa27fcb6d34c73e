// Time stamps as they stand in logs.
//
//   TimestampLength("2024-11-02T15:30:00Z INFO started")  // 20
//
// Only the form is looked at, not whether the day exists. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_LOG_TIME_H_
#define DOSSIER_INSPECT_FORMATS_LOG_TIME_H_

#include <cstddef>
#include <string_view>

namespace dossier::inspect {

// Bytes of the time stamp that `text` starts with, 0 if none: ISO 8601 and its variants
// (2024/11/02 15:30:00,123), 02.11.2024 15:30:00, 24/11/02 15:30:00, 15:30:00.123,
// Sat Nov 02 15:30:00 2024, Nov  2 15:30:00; a zone may follow.
std::size_t TimestampLength(std::string_view text);

// The same without 15:30:00.123, which has no date.
std::size_t DatedTimeLength(std::string_view text);
// 15:30:00.123 alone; the fraction may be missing.
std::size_t ClockLength(std::string_view text);
// The form of RFC 3164 alone: Nov  2 15:30:00.
std::size_t SyslogTimeLength(std::string_view text);
// ISO 8601 with a T: what RFC 5424 wants.
std::size_t IsoTimeLength(std::string_view text);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_TIME_H_
