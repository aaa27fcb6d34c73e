// Guesses the type of a text cell: 42 is an integer, 2024-11-02 a date, 007 a string.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
#define DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_

#include <optional>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

// Ignores spaces at both ends. Numbers with leading zeros or 16 or more digits stay strings.
FieldType TypeOfText(std::string_view cell);

// Returns the value of an integer or a number.
std::optional<double> NumberOfText(std::string_view cell);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_VALUE_TYPE_H_
