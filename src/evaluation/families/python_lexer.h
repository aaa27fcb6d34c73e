// Collects facts from the tokens of Python sources: where names are defined and called, what a file
// imports, which constants it sets. Comments and strings are ignored.
//
//   PythonFacts facts;
//   ReadPython("pkg/a.py", text, &facts);
//   facts.calls["parse"];   // 3
//
// Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_FAMILIES_PYTHON_LEXER_H_
#define DOSSIER_EVALUATION_FAMILIES_PYTHON_LEXER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::evaluation {

struct PythonFacts {
  std::map<std::string, std::vector<std::string>> definitions;  // function or class -> files
  std::map<std::string, std::int64_t> calls;                    // name -> calls, methods included
  std::map<std::string, std::set<std::string>> imports;         // file -> modules by full name
  std::map<std::string, std::vector<std::string>> constants;    // NAME -> whole numbers
};

// Adds the facts of `text`. Text that is not Python may give facts that a parser would not confirm.
void ReadPython(const std::string& file, std::string_view text, PythonFacts* facts);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILIES_PYTHON_LEXER_H_
