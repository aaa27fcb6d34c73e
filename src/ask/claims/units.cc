#include "ask/claims/units.h"

#include <algorithm>
#include <array>

#include "ask/claims/numbers.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

// How a numeral is written: as a word, as the beginning of one (endings differ), directly after the
// digits, or directly after a decimal fraction only (2B may be bytes).
enum class Stands { kWord, kStem, kAttached, kBehindFraction };

struct Numeral {
  std::string_view name;  // in lower case if it is a word
  double scale;
  Stands stands = Stands::kWord;
};

// Large numerals of the languages in README.md and some others, short and long scale.
// Source: Unicode CLDR, the short and long forms of compact decimals (decimalFormatLength).
constexpr Numeral kNumerals[] = {{"thousand", 1e3},
                                 {"thousands", 1e3},
                                 {"tausend", 1e3},
                                 {"tsd", 1e3},
                                 {"mille", 1e3},
                                 {"mil", 1e3},
                                 {"mila", 1e3},
                                 {"duizend", 1e3},
                                 {"тысяч", 1e3, Stands::kStem},
                                 {"тыс", 1e3},
                                 {"k", 1e3, Stands::kAttached},
                                 {"K", 1e3, Stands::kAttached},
                                 {"千", 1e3, Stands::kStem},
                                 {"万", 1e4, Stands::kStem},
                                 {"萬", 1e4, Stands::kStem},
                                 {"만", 1e4, Stands::kStem},
                                 {"lakh", 1e5},
                                 {"lakhs", 1e5},
                                 {"million", 1e6, Stands::kStem},
                                 {"mio", 1e6},
                                 {"mln", 1e6},
                                 {"mn", 1e6},
                                 {"millón", 1e6},
                                 {"millones", 1e6},
                                 {"milhão", 1e6},
                                 {"milhões", 1e6},
                                 {"milione", 1e6},
                                 {"milioni", 1e6},
                                 {"miljoen", 1e6},
                                 {"миллион", 1e6, Stands::kStem},
                                 {"млн", 1e6},
                                 {"M", 1e6, Stands::kAttached},
                                 {"百万", 1e6, Stands::kStem},
                                 {"crore", 1e7},
                                 {"crores", 1e7},
                                 {"亿", 1e8, Stands::kStem},
                                 {"億", 1e8, Stands::kStem},
                                 {"억", 1e8, Stands::kStem},
                                 {"billion", 1e9},
                                 {"billions", 1e9},
                                 {"bn", 1e9},
                                 {"bln", 1e9},
                                 {"milliard", 1e9, Stands::kStem},
                                 {"mrd", 1e9},
                                 {"mia", 1e9},
                                 {"millardo", 1e9},
                                 {"millardos", 1e9},
                                 {"miliardo", 1e9},
                                 {"miliardi", 1e9},
                                 {"miljard", 1e9},
                                 {"миллиард", 1e9, Stands::kStem},
                                 {"млрд", 1e9},
                                 {"B", 1e9, Stands::kBehindFraction},
                                 {"billion", 1e12},
                                 {"billionen", 1e12},
                                 {"billions", 1e12},
                                 {"billón", 1e12},
                                 {"billones", 1e12},
                                 {"bilhão", 1e9},
                                 {"bilhões", 1e9},
                                 {"trillion", 1e12},
                                 {"trillions", 1e12},
                                 {"trillion", 1e18},
                                 {"trillionen", 1e18},
                                 {"tn", 1e12},
                                 {"兆", 1e12, Stands::kStem},
                                 {"조", 1e12, Stands::kStem}};

using Names = std::string_view[];
constexpr Names kMm = {"mm"}, kCm = {"cm"}, kM = {"m",     "meter", "meters", "metre", "metres",
                                                  "Meter", "mètre", "mètres", "metro", "metros"},
                kKm = {"km",         "kilometer", "kilometers", "kilometre",
                       "kilometres", "Kilometer", "kilomètres", "kilómetros"},
                kInch = {"inch", "inches", "Zoll", "pouces", "pulgadas"},
                kFt = {"ft", "foot", "feet", "Fuß", "pieds", "pies"}, kYd = {"yd", "yard", "yards"},
                kMi = {"mi", "mile", "miles", "Meile", "Meilen", "milles", "millas"},
                kNmi = {"nmi", "sm"};
constexpr Names kM2 = {"m²", "m2", "sqm"},
                kHa = {"ha", "hectare", "hectares", "Hektar", "hectáreas"}, kKm2 = {"km²", "km2"},
                kAcre = {"acre", "acres"};
constexpr Names kG = {"g", "gram", "grams", "Gramm", "grammes", "gramos"},
                kKg = {"kg", "kilogram", "kilograms", "Kilogramm", "kilo", "kilos", "Kilo"},
                kT = {"t", "ton", "tons", "tonne", "tonnes", "Tonnen", "toneladas"},
                kOz = {"oz", "ounce", "ounces"}, kLb = {"lb", "lbs", "pound", "pounds", "libras"};
constexpr Names kMs = {"ms", "msec", "millisecond", "milliseconds", "Millisekunden"},
                kS = {"s",       "sec",      "secs",     "second",   "seconds",
                      "Sekunde", "Sekunden", "secondes", "segundos", "秒"},
                kMin = {"min",     "mins",    "minute", "minutes", "Minute",
                        "Minuten", "minutos", "分钟",   "分"},
                kH = {"h",       "hr",    "hrs",    "hour", "hours", "Std",  "Stunde",
                      "Stunden", "heure", "heures", "hora", "horas", "小时", "時間"},
                kD = {"d",    "day",   "days", "Tag",  "Tage", "Tagen",
                      "jour", "jours", "día",  "días", "天"},
                kWeek = {"week",    "weeks",    "Woche",  "Wochen",
                         "semaine", "semaines", "semana", "semanas"};
constexpr Names kMl = {"ml", "mL"}, kCl = {"cl", "cL"},
                kL = {"l", "L", "liter", "liters", "litre", "litres", "Liter", "litros"},
                kM3 = {"m³", "m3"}, kGal = {"gal", "gallon", "gallons"};
constexpr Names kBit = {"bit", "bits"}, kByte = {"B", "byte", "bytes", "Byte", "Bytes", "octets"},
                kKb = {"kB", "KB", "kb"}, kMb = {"MB", "mb"}, kGb = {"GB", "gb"},
                kTb = {"TB", "tb"}, kKib = {"KiB"}, kMib = {"MiB"}, kGib = {"GiB"}, kTib = {"TiB"};
constexpr Names kMps = {"m/s"}, kKmh = {"km/h", "kmh", "kph"}, kMph = {"mph"},
                kKn = {"kn", "knot", "knots", "Knoten"};
constexpr Names kJ = {"J", "joule", "joules"}, kKj = {"kJ"}, kWh = {"Wh"}, kKwh = {"kWh", "kwh"},
                kMwh = {"MWh"}, kKcal = {"kcal"};
constexpr Names kKelvin = {"K", "kelvin"}, kCelsius = {"°C", "℃", "C", "celsius", "Celsius"},
                kFahrenheit = {"°F", "℉", "F", "fahrenheit", "Fahrenheit"};

// Exact factors. Sources: The International System of Units (SI Brochure), 9th edition, tables 4
// and 8; NIST Special Publication 811, appendix B, for inch, pound and gallon; IEC 80000-13 for KiB
// to TiB. Many programs also write KB to TB for the binary multiples.
constexpr double kBinary = 1024;
constexpr auto kUnits = std::to_array<Unit>({
    {Dimension::kLength, 0.001, kMm},
    {Dimension::kLength, 0.01, kCm},
    {Dimension::kLength, 1, kM},
    {Dimension::kLength, 1000, kKm},
    {Dimension::kLength, 0.0254, kInch},
    {Dimension::kLength, 0.3048, kFt},
    {Dimension::kLength, 0.9144, kYd},
    {Dimension::kLength, 1609.344, kMi},
    {Dimension::kLength, 1852, kNmi},
    {Dimension::kArea, 1, kM2},
    {Dimension::kArea, 1e4, kHa},
    {Dimension::kArea, 1e6, kKm2},
    {Dimension::kArea, 4046.8564224, kAcre},
    {Dimension::kMass, 0.001, kG},
    {Dimension::kMass, 1, kKg},
    {Dimension::kMass, 1000, kT},
    {Dimension::kMass, 0.028349523125, kOz},
    {Dimension::kMass, 0.45359237, kLb},
    {Dimension::kTime, 0.001, kMs},
    {Dimension::kTime, 1, kS},
    {Dimension::kTime, 60, kMin},
    {Dimension::kTime, 3600, kH},
    {Dimension::kTime, 86400, kD},
    {Dimension::kTime, 604800, kWeek},
    {Dimension::kVolume, 0.001, kMl},
    {Dimension::kVolume, 0.01, kCl},
    {Dimension::kVolume, 1, kL},
    {Dimension::kVolume, 1000, kM3},
    {Dimension::kVolume, 3.785411784, kGal},
    {Dimension::kData, 0.125, kBit},
    {Dimension::kData, 1, kByte},
    {Dimension::kData, 1e3, kKb},
    {Dimension::kData, 1e6, kMb},
    {Dimension::kData, 1e9, kGb},
    {Dimension::kData, 1e12, kTb},
    {Dimension::kData, kBinary, kKib},
    {Dimension::kData, kBinary, kKb},
    {Dimension::kData, kBinary* kBinary, kMib},
    {Dimension::kData, kBinary* kBinary, kMb},
    {Dimension::kData, kBinary* kBinary* kBinary, kGib},
    {Dimension::kData, kBinary* kBinary* kBinary, kGb},
    {Dimension::kData, kBinary* kBinary* kBinary* kBinary, kTib},
    {Dimension::kData, kBinary* kBinary* kBinary* kBinary, kTb},
    {Dimension::kSpeed, 1, kMps},
    {Dimension::kSpeed, 1 / 3.6, kKmh},
    {Dimension::kSpeed, 0.44704, kMph},
    {Dimension::kSpeed, 1852.0 / 3600, kKn},
    {Dimension::kEnergy, 1, kJ},
    {Dimension::kEnergy, 1e3, kKj},
    {Dimension::kEnergy, 3600, kWh},
    {Dimension::kEnergy, 3.6e6, kKwh},
    {Dimension::kEnergy, 3.6e9, kMwh},
    {Dimension::kEnergy, 4184, kKcal},
    {Dimension::kTemperature, 1, kKelvin},
    {Dimension::kTemperature, 1, kCelsius, 273.15},
    {Dimension::kTemperature, 5.0 / 9, kFahrenheit, 459.67},
});

std::size_t SkipSpaces(std::string_view text, std::size_t at) {
  constexpr std::string_view kSpaces[] = {" ", "\u00A0", "\u202F", "-"};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : kSpaces) {
      if (!text.substr(at).starts_with(space)) continue;
      at += space.size();
      found = true;
    }
  }
  return at;
}

bool IsPart(std::string_view text, std::size_t at) {
  return at < text.size() && IsTextByte(text[at]) && !IsDigit(text[at]) && text[at] != '_';
}

// Returns true if `name` is in `text` at `at` and no letter follows.
bool StandsAt(std::string_view text, std::size_t at, std::string_view name) {
  return text.substr(at).starts_with(name) && !IsPart(text, at + name.size());
}

}  // namespace

Suffix ReadSuffix(std::string_view text, std::size_t end) {
  Suffix suffix{.end = end};
  std::size_t at = SkipSpaces(text, end);
  const std::string lower = ToLowerAscii(text.substr(at, 32));
  std::size_t behind = at;
  for (const Numeral& numeral : kNumerals) {
    const bool attached =
        numeral.stands == Stands::kAttached || numeral.stands == Stands::kBehindFraction;
    if (attached) {
      const std::string_view before = text.substr(0, end);
      const std::size_t digits = before.find_last_not_of("0123456789");
      const bool fraction =
          digits != before.npos && (before[digits] == '.' || before[digits] == ',');
      if (at != end || !StandsAt(text, at, numeral.name)) continue;
      if (numeral.stands == Stands::kBehindFraction && !fraction) continue;
    } else if (numeral.stands == Stands::kStem ? !lower.starts_with(numeral.name)
                                               : !StandsAt(lower, 0, numeral.name)) {
      continue;
    }
    suffix.scales.push_back(numeral.scale);
    behind = std::max(behind, at + numeral.name.size());
  }
  if (!suffix.scales.empty()) {
    suffix.end = behind;
    while (IsPart(text, suffix.end) && static_cast<unsigned char>(text[suffix.end]) < 0x80) {
      ++suffix.end;  // the ending of a stem
    }
    at = SkipSpaces(text, suffix.end);
  }
  for (const Unit& unit : kUnits) {
    for (const std::string_view name : unit.names) {
      if (!StandsAt(text, at, name)) continue;
      suffix.units.push_back(&unit);
      suffix.end = std::max(suffix.end, at + name.size());
      break;
    }
  }
  // "km/h" is not a kilometre.
  const auto longest = [&](const Unit* unit) {
    return std::ranges::any_of(unit->names, [&](std::string_view name) {
      return at + name.size() == suffix.end && StandsAt(text, at, name);
    });
  };
  std::erase_if(suffix.units, [&](const Unit* unit) { return !longest(unit); });
  return suffix;
}

bool NamesScale(std::string_view text, double scale) {
  const std::string lower = ToLowerAscii(text);
  return std::ranges::any_of(kNumerals, [&](const Numeral& numeral) {
    if (numeral.scale != scale) return false;
    const bool word = numeral.stands == Stands::kWord || numeral.stands == Stands::kStem;
    const std::string_view in = word ? std::string_view(lower) : text;
    for (std::size_t at = in.find(numeral.name); at != in.npos;
         at = in.find(numeral.name, at + 1)) {
      // In scripts without spaces between words, word starts are unknown.
      const bool begins = at == 0 || !IsPart(in, at - 1) || !IsAlnum(numeral.name[0]);
      const bool ends = numeral.stands == Stands::kStem || !IsPart(in, at + numeral.name.size());
      if (begins && ends) return true;
    }
    return false;
  });
}

std::vector<const Unit*> UnitsNamed(std::string_view text) {
  std::vector<const Unit*> named;
  for (const Unit& unit : kUnits) {
    const bool found = std::ranges::any_of(unit.names, [&](std::string_view name) {
      for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
        if ((at == 0 || !IsPart(text, at - 1)) && StandsAt(text, at, name)) return true;
      }
      return false;
    });
    if (found) named.push_back(&unit);
  }
  return named;
}

std::vector<const Unit*> UnitsOf(Dimension dimension) {
  std::vector<const Unit*> units;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension) units.push_back(&unit);
  }
  return units;
}

}  // namespace dossier::ask
