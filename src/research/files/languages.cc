#include "research/files/languages.h"

#include <algorithm>
#include <cstdint>

#include "base/text/text.h"

namespace dossier::research {
namespace {

enum class Build : std::uint8_t { kNone, kCompiled };

struct Language {
  std::string_view name;
  std::string_view synonyms, endings;  // each enclosed in "|"
  Build build;
};

constexpr Language kLanguages[] = {
    {"c", "|c99|c11|c17|", "|c|", Build::kCompiled},
    {"cpp", "|c++|cxx|cc|c++17|c++20|", "|cpp|cc|cxx|c++|", Build::kCompiled},
    {"fortran", "|f90|f95|f03|f77|", "|f|f77|f90|f95|f03|f08|", Build::kCompiled},
    {"cuda", "|cu|cuda c++|", "|cu|", Build::kCompiled},
    {"rust", "|rs|", "|rs|", Build::kCompiled},
    {"go", "|golang|", "|go|", Build::kCompiled},
    {"python", "|py|python3|", "|py|", Build::kNone},
    {"javascript", "|js|node|", "|js|mjs|", Build::kNone},
    {"julia", "|jl|", "|jl|", Build::kNone},
    {"shell", "|sh|bash|", "|sh|bash|", Build::kNone},
};

bool Holds(std::string_view list, std::string_view word) {
  return list.find(fmt::format("|{}|", word)) != std::string_view::npos;
}

}  // namespace

std::string LanguageOf(std::string_view name) {
  const std::string lower = ToLowerAscii(TrimSpace(name));
  for (const Language& language : kLanguages) {
    if (language.name == lower || Holds(language.synonyms, lower)) {
      return std::string(language.name);
    }
  }
  return {};
}

std::string LanguageOfFile(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string ending = ToLowerAscii(name.substr(dot + 1));
  for (const Language& language : kLanguages) {
    if (Holds(language.endings, ending)) return std::string(language.name);
  }
  return {};
}

bool IsCompiled(std::string_view language) {
  const auto* const found = std::ranges::find(kLanguages, language, &Language::name);
  return found != std::ranges::end(kLanguages) && found->build == Build::kCompiled;
}

std::string KnownLanguages() {
  std::string names;
  for (const Language& language : kLanguages) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", language.name);
  }
  return names;
}

}  // namespace dossier::research
