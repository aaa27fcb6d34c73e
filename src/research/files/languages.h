// Programming languages, recognised from the names in plans and from file names.
//
//   LanguageOf("C++")                  // "cpp"
//   LanguageOfFile("src/solver.f90")   // "fortran"
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_LANGUAGES_H_
#define DOSSIER_RESEARCH_FILES_LANGUAGES_H_

#include <string>
#include <string_view>

namespace dossier::research {

// Returns "" if the name is not a known language.
std::string LanguageOf(std::string_view name);
// Decides by the file extension; "" if it is not known.
std::string LanguageOfFile(std::string_view path);
// Returns true if programs in this language are built before they run.
bool IsCompiled(std::string_view language);
// Returns "c, cpp, …".
std::string KnownLanguages();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_LANGUAGES_H_
