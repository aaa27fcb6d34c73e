// Programming languages as plans name them and files tell of them.
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

// "" for a name that is no known language.
std::string LanguageOf(std::string_view name);
// By the ending; "" if it tells of none.
std::string LanguageOfFile(std::string_view path);
// Whether its programs are built before they run.
bool IsCompiled(std::string_view language);
// "c, cpp, …"
std::string KnownLanguages();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_LANGUAGES_H_
