// The rules of one ignore file, as git reads them.
//
//   const IgnoreFile rules("*.o\n!keep.o\n");
//   rules.Match("deep/a.o", IgnoreFile::PathKind::kFile);      // kIgnored
//
// Thread-safety: immutable after construction.

#ifndef DOSSIER_BASE_FILES_IGNORE_FILE_H_
#define DOSSIER_BASE_FILES_IGNORE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/glob.h"

namespace dossier {

class IgnoreFile {
 public:
  // `letters`: kInsensitive where git's core.ignorecase is set.
  explicit IgnoreFile(std::string_view content,
                      CaseSensitivity letters = CaseSensitivity::kSensitive);

  enum class Verdict : std::uint8_t { kNone, kIgnored, kKept };
  enum class PathKind : std::uint8_t { kFile, kFolder };
  // `path` is relative to the folder of the ignore file, with '/' between names. The last rule that
  // matches decides; kKept means that it was a negated rule (`!pattern`).
  Verdict Match(std::string_view path, PathKind kind) const;

 private:
  struct Rule {
    std::string literal;       // what the pattern starts with, up to its first special character
    std::optional<Glob> rest;  // unset: the literal is all of it
    bool negated = false, folder_only = false;
    bool anchored = false;  // matched against the whole path instead of the last name
    bool suffix = false;    // "*literal", the most frequent form: `literal` ends the name
  };
  static bool Matches(const Rule& rule, std::string_view text);
  void Add(std::string_view line);

  CaseSensitivity letters_;
  std::vector<Rule> rules_;
};

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_IGNORE_FILE_H_
