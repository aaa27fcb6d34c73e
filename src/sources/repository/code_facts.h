// What a source file declares and imports, by simple lexing: for outlines and for ranking.
//
//   const CodeFacts facts = ReadCode(LanguageOf("src/walk.cc"), text);
//   facts.symbols[0].name            // "WalkFolder"
//   Outline(text, facts)             // "Result<WalkResult> WalkFolder(const std::string&
//   folder)\n…"
//
// Comments, strings and bodies are passed over; what is seen are declarations at the top level and
// in the containers there (classes, namespaces, impls). No grammar: unusual code may be missed, and
// nothing fails. Linear in the length of the text.
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

// By the ending of the name.
Language LanguageOf(std::string_view path);

struct Symbol {
  std::string name;
  std::string line;  // the declaration on one line, at most 160 bytes
  int depth = 0;     // containers around it
};

struct CodeFacts {
  std::vector<Symbol> symbols;       // in the order of the text
  std::vector<std::string> imports;  // as written: "base/files/walk.h", "os.path", "./util"
};

CodeFacts ReadCode(Language language, std::string_view text);

// The declarations, one a line; of a file without any, its first lines. Ends with a line end unless
// empty.
std::string Outline(std::string_view text, const CodeFacts& facts);

// Which file an import means, by its last names: no build system is asked.
//
//   const ImportGraph graph(paths);
//   graph.Find("src/a.cc", "base/files/walk.h")      // index of "src/base/files/walk.h"
//
// Thread-safety: immutable after construction; the paths outlive it.

class ImportGraph {
 public:
  explicit ImportGraph(const std::vector<std::string>& paths);

  // The file whose path ends in most of the names of `import`; of equals one that ends as `import`
  // does (".h"), then the nearest to `from`, then the first. Unset: none has its last name.
  std::optional<std::size_t> Find(std::string_view from, std::string_view import) const;

 private:
  struct Target {
    std::vector<std::string> names;  // of the path, without the ending of the last
    std::size_t file;
  };
  const std::vector<std::string>& paths_;
  std::unordered_map<std::string, std::vector<Target>> by_name_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_CODE_FACTS_H_
