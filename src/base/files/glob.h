// Matches paths against globs, with the meaning that git gives them in ignore files.
//
//   const Glob glob("src/**/[a-f]*.cc");
//   glob.Matches("src/base/files/file.cc");  // true; `/**/` also stands for no folder
//
// `*`, `?` and `[…]` match within a name; a name `**` crosses slashes; `\x` is x itself; classes
// have ranges, a leading `!` or `^`, and `[:alpha:]` and its kin (ASCII). A malformed pattern (an
// open bracket, a trailing backslash, an unknown class) matches nothing. Bytes are compared with
// case, or ignoring the case of ASCII letters, as git does with core.ignorecase: a single letter in
// a class then matches only the small one.
//
// Thread-safety: immutable after construction.

#ifndef DOSSIER_BASE_FILES_GLOB_H_
#define DOSSIER_BASE_FILES_GLOB_H_

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

enum class CaseSensitivity : std::uint8_t { kSensitive, kInsensitive };

class Glob {
 public:
  explicit Glob(std::string_view pattern, CaseSensitivity letters = CaseSensitivity::kSensitive);

  bool Matches(std::string_view text) const;

 private:
  using ByteSet = std::bitset<256>;
  struct Token {
    enum class Kind : std::uint8_t {
      kByte,      // `byte`
      kName,      // any byte but '/'
      kClass,     // a byte of classes_[index], never '/'
      kStar,      // any bytes but '/'
      kFolders,   // nothing, or anything that ends in '/'
      kAnything,  // any bytes
      kNever,     // the pattern is malformed from here
    } kind;
    char byte = 0;
    std::uint32_t index = 0;
  };
  class Matcher;

  void Compile(std::string_view pattern);
  // Reads the stars at `at`; returns where they end.
  std::size_t CompileStars(std::string_view pattern, std::size_t at);
  // Reads the class whose bracket is before `at`; returns where it ends, npos if malformed.
  std::size_t CompileClass(std::string_view pattern, std::size_t at);

  CaseSensitivity letters_;
  std::vector<Token> tokens_;
  std::vector<ByteSet> classes_;
};

// Returns the number of bytes before the first `*`, `?`, `[` or `\` of `pattern`.
std::size_t LiteralPrefix(std::string_view pattern);

// Expands braces: "x.{cc,h}" gives "x.cc" and "x.h". Braces nest, `\{` is a literal brace; `{a}`
// and an open brace stay as they are. A pattern with more than 1,000 expansions is returned as it
// is.
std::vector<std::string> ExpandBraces(std::string_view pattern);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_GLOB_H_
