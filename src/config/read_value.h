// Readers of single values, shared by the rows of the key table. Only for .cc files of this module.
//
//   Into<ReadText, &Config::model>      // a row of the table reads into a member (yaml_fields.h)
//
// All return kConfig through Setting::Wrong. Thread-safety: pure functions.

#ifndef DOSSIER_CONFIG_READ_VALUE_H_
#define DOSSIER_CONFIG_READ_VALUE_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/keys.h"

namespace dossier::config {

Status ReadText(const Setting& setting, std::string* out);
Status ReadPath(const Setting& setting, std::string* out);
// As ReadPath, but a URL stays as it is.
Status ReadPathOrUrl(const Setting& setting, std::string* out);
// true, yes, on and their opposites, any case.
Status ReadFlag(const Setting& setting, bool* out);
Status ReadWhole(const Setting& setting, std::int64_t least, std::int64_t* out);
Status ReadNumber(const Setting& setting, double low, double high, double* out);
// "500ms", "2m"; a bare number is seconds. Above 0.
Status ReadTime(const Setting& setting, Millis* out);
Status ReadSize(const Setting& setting, std::uint64_t* out);
Status ReadTexts(const Setting& setting, std::vector<std::string>* out);
// A program and its arguments: a list, or a text parted at blanks, as no shell takes part.
Status ReadArgv(const Setting& setting, std::vector<std::string>* out);
Status ReadHeaders(const Setting& setting, std::map<std::string, std::string>* out);
Status ReadSection(const Setting& setting, Section* out);

template <typename T>
Status ReadChoice(const Setting& setting,
                  std::initializer_list<std::pair<std::string_view, T>> words, T* out) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (!setting.value.is_map() && setting.value.node.scalar == word) {
      *out = value;
      return {};
    }
    known += (known.empty() ? "" : " or ") + std::string(word);
  }
  return setting.Wrong(known);
}

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_READ_VALUE_H_
