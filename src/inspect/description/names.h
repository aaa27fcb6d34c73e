// Guesses the format of a file from its name.
//
//   NameGuess guess = GuessByName("data/feed.json.gz");
//   guess.base_name == "feed.json.gz" && guess.format == Format::kJson && guess.compression ==
//   "gzip";
//
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_NAMES_H_
#define DOSSIER_INSPECT_DESCRIPTION_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "inspect/description/description.h"

namespace dossier::inspect {

struct NameGuess {
  std::string base_name;
  std::string extension;         // ".json", lower case, before any compression suffix; empty: none
  std::optional<Format> format;  // if the extension is known
  std::string flavour;           // geojson, notebook
  std::string language;          // of source code
  std::string compression;       // gzip, zstd, bzip2, xz, lz4
};

NameGuess GuessByName(std::string_view path);

// Returns the language of an interpreter line such as "#!/usr/bin/env python3"; empty if unknown.
std::string LanguageOfShebang(std::string_view first_line);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_NAMES_H_
