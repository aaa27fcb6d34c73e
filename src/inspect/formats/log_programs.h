// Log lines of well-known programs, each by its own grammar, and lines that only begin with a time.
// log_shape.h says what the functions return.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_FORMATS_LOG_PROGRAMS_H_
#define DOSSIER_INSPECT_FORMATS_LOG_PROGRAMS_H_

#include <string_view>

#include "inspect/formats/log_shape.h"

namespace dossier::inspect {

bool ParseContainerLine(std::string_view line, LogFields* fields);
bool ParsePostgresLine(std::string_view line, LogFields* fields);
bool ParseChannelLine(std::string_view line, LogFields* fields);
bool ParseGlogLine(std::string_view line, LogFields* fields);
bool ParseTimedLine(std::string_view line, LogFields* fields);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_LOG_PROGRAMS_H_
