// Classes of ASCII bytes, independent of the locale. Bytes of other characters are in no class.
//
//   IsDigit('7');      // true
//   HexValue('f');     // 15
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_ASCII_H_
#define DOSSIER_BASE_TEXT_ASCII_H_

namespace dossier {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool IsLetter(char c) { return IsUpper(c) || IsLower(c); }
constexpr bool IsAlnum(char c) { return IsDigit(c) || IsLetter(c); }
// The bytes of a name in most languages.
constexpr bool IsWordByte(char c) { return IsAlnum(c) || c == '_'; }
constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }
constexpr bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }
// The white space of JSON: blanks and line ends.
constexpr bool IsJsonSpace(char c) { return IsBlank(c) || IsLineEnd(c); }
constexpr char ToLower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// The value of a hexadecimal digit in either case; -1 for any other byte.
constexpr int HexValue(char c) {
  return IsDigit(c)             ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}
constexpr bool IsHexDigit(char c) { return HexValue(c) >= 0; }

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_ASCII_H_
