// What a cell of text looks like: 42 an integer, 2024-11-02 a date, 007 a string.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
#define DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_

#include <optional>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

// Spaces at both ends are not looked at. Leading zeros and 16 or more digits stay strings.
FieldType TypeOfText(std::string_view cell);

// The value of an integer or a number.
std::optional<double> NumberOfText(std::string_view cell);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
