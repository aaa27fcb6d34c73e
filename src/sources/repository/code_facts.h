// Finds what a source file declares and imports, by simple lexing, for outlines and ranking.
//
//   const CodeFacts facts = ReadCode(LanguageOf("src/walk.cc"), text);
//   facts.symbols[0].name            // "WalkFolder"
//   Outline(text, facts)             // "Result<Walk> WalkFolder(const std::string& folder)\n…"
//
// It skips comments, strings and bodies and finds declarations at the top level and directly in
// containers (classes, namespaces, impls). There is no grammar: it may miss unusual code, but it
// never fails. Time is linear in the length of the text.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_REPOSITORY_CODE_FACTS_H_
#define DOSSIER_SOURCES_REPOSITORY_CODE_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dossier::sources {

enum class Language : std::uint8_t { kOther, kCpp, kPython, kScript, kGo, kRust, kJava, kMarkdown };

// Determines the language by the file extension.
Language LanguageOf(std::string_view path);

struct Symbol {
  std::string name;
  std::string line;  // the declaration on one line, at most 160 bytes
  int depth = 0;     // number of containers around it
};

struct CodeFacts {
  std::vector<Symbol> symbols;       // in text order
  std::vector<std::string> imports;  // as written: "base/files/walk.h", "os.path", "./util"
};

CodeFacts ReadCode(Language language, std::string_view text);

// Returns the declarations, one per line; for a file without any, its first lines. A non-empty
// result ends with a newline.
std::string Outline(std::string_view text, const CodeFacts& facts);

// Finds the file that an import means, by its last names; it asks no build system.
//
//   const ImportGraph graph(paths);
//   graph.Find("src/a.cc", "base/files/walk.h")      // index of "src/base/files/walk.h"
//
// Thread-safety: immutable after construction; the paths must outlive it.

class ImportGraph {
 public:
  explicit ImportGraph(const std::vector<std::string>& paths);

  // Returns the file whose path ends in the most names of `import`. Among equals it prefers the
  // same extension (".h"), then the nearest to `from`, then the first. Unset: none has its last
  // name.
  std::optional<std::size_t> Find(std::string_view from, std::string_view import) const;

 private:
  struct Target {
    std::vector<std::string> names;  // of the path; the last one without its extension
    std::size_t file;
  };
  const std::vector<std::string>& paths_;
  std::unordered_map<std::string, std::vector<Target>> by_name_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_CODE_FACTS_H_
