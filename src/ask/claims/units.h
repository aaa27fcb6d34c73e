// Reads what follows a number: a numeral that multiplies it, and a unit.
//
//   const Suffix suffix = ReadSuffix("1.08 billion km", 4);   // scales {1e9, 1e12}, unit km
//   NamesScale("population (billion)", 1e9);                  // true
//   UnitsNamed("length_km");                                  // km, and others of that name
//
// The tables contain numerals and units of several languages with their exact factors, and no other
// words. Thread-safety: pure functions.

#ifndef DOSSIER_ASK_CLAIMS_UNITS_H_
#define DOSSIER_ASK_CLAIMS_UNITS_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace dossier::ask {

enum class Dimension {
  kLength,
  kArea,
  kMass,
  kTime,
  kVolume,
  kData,
  kSpeed,
  kEnergy,
  kTemperature
};

// A value x is (x + offset) * factor in the dimension's base unit.
struct Unit {
  Dimension dimension;
  double factor;
  std::span<const std::string_view> names;
  double offset = 0;
};

struct Suffix {
  std::vector<double> scales;      // several if ambiguous: German "Billion" is 1e12
  std::vector<const Unit*> units;  // MB are 1,000,000 bytes or 1,048,576
  std::size_t end = 0;             // after them, or where the number ends
};

// Reads the suffix of the number that ends at `end`.
Suffix ReadSuffix(std::string_view text, std::size_t end);

// Returns true if a word of `text` is a numeral for `scale`.
bool NamesScale(std::string_view text, double scale);

// Returns the units whose names are words of `text`.
std::vector<const Unit*> UnitsNamed(std::string_view text);
// Returns all units of that dimension.
std::vector<const Unit*> UnitsOf(Dimension dimension);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_CLAIMS_UNITS_H_
