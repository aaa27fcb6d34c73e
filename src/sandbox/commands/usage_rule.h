// A rule for allowed commands, written as a usage line:
//
//   DOSSIER_ASSIGN_OR_RETURN(
//       const UsageRule rule,
//       UsageRule::Parse("git log [--oneline] [-n <int>] [--since=<word>] <path>..."));
//   rule.Admits({"git", "log", "-n", "2", "src"}, inside_project);   // true
//   rule.Admits({"git", "log", "--output=x", "src"}, inside_project);   // false
//
// | in the line | admits |
// | --- | --- |
// | `git`, `show\|log` in front | the word, one of the words |
// | `[--all]` `[-a\|--all]` | the option, any number of times, in any order, before `--` |
// | `[--since=<word>]` `[--since <word>]` | `--since=V` and `--since V` |
// | `[-n <int>]` | `-n 2` and `-n2`; options of one letter may be bundled: `-in2` |
// | `[-name <word>]` | an option of one dash and several letters, as it is written |
// | `[-<int>]` | `-20` |
// | `<path>` | a path that the caller's check accepts and that does not begin with `-` |
// | `<word>` | any text that does not begin with `-` |
// | `<int>` | digits, perhaps with `+` in front |
// | `<path>...` `[<path>]` `[<path>...]` | one or more; none or one; any number |
// | `**` at the end | anything that follows: no boundary |
//
// A line with `*` or `?` in its words and none of the above is an old glob: each of its words
// matches one word (a leading `*` or `?` never matches `-`), and a `*` as the last word matches
// anything that follows.
//
// Everything else is refused: an option that is not in the line never counts as an operand, and the
// word `--` ends the options. Thread-safety: immutable after Parse.

#ifndef DOSSIER_SANDBOX_COMMANDS_USAGE_RULE_H_
#define DOSSIER_SANDBOX_COMMANDS_USAGE_RULE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::sandbox {

// Splits a command line into words without a shell: only quotes and backslashes are special.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Argv argv, LexCommand("git log -n 2 'two words'"));
//   LexCommand("cat x; rm y").error().message;   // "`;` at byte 5 is a shell operator: …"
//
// Spaces and tabs separate words. Between single quotes every byte is literal; between double
// quotes too, except a backslash before `"` or `\`. A backslash outside quotes makes the next byte
// literal. Anything that a shell would expand or act on is refused, never passed on as text.
//
// Thread-safety: pure function.

using Argv = std::vector<std::string>;

inline constexpr std::size_t kMaxCommandBytes = 64 << 10;

// Returns at least one word. Errors: kRefused naming the operator and its position: ; & | < > ( ) $
// { } * ? [ ~ # ! backtick and line ends outside quotes (`$` and backtick also between double
// quotes, where a shell expands them), an unclosed quote, a backslash at the end, NUL, bytes that
// are not UTF-8, an empty or too long command.
Result<Argv> LexCommand(std::string_view command);

// Returns true if a `<path>` may be named.
using PathCheck = std::function<bool(const std::string& path)>;

class UsageRule {
 public:
  // Errors: kConfig naming the line, the position and what was expected there.
  static Result<UsageRule> Parse(std::string_view line);

  bool Admits(const Argv& argv, const PathCheck& inside) const;
  // Returns true if `argv` begins with the line's first words, whatever follows; `name` replaces
  // argv[0]. Options may be in between, so that `git push` also matches `git -C x push`.
  bool Names(const Argv& argv, std::string_view name) const;
  // Returns true if the line's first words are the first words of `argv`.
  bool Begins(const Argv& argv) const;

  const std::string& text() const { return text_; }
  bool open_ended() const { return rest_ == Rest::kAny; }

  enum class Kind : std::uint8_t { kPath, kWord, kInt };

 private:
  struct Word {
    std::vector<std::string> alternatives;
    bool glob = false;
  };
  struct Flag {
    std::string name;           // including dashes; "-" for `-<int>`
    std::optional<Kind> value;  // unset: the option takes no value
  };
  struct Operand {
    Kind kind = Kind::kWord;
    bool optional = false, repeats = false;
  };
  enum class Rest { kNone, kAny };
  class Parser;
  class Matcher;

  static bool Fits(const Word& word, std::string_view text);

  std::string text_;
  std::vector<Word> words_;
  std::vector<Flag> flags_;
  std::vector<Operand> operands_;
  Rest rest_ = Rest::kNone;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_COMMANDS_USAGE_RULE_H_
