// Cleans and caps the output of a command for a prompt while it streams by; it is never held whole.
//
//   CommandText text({.cap = 65'536, .rules = CommandRules::kDossier});
//   text.Add(block);  text.Add(next);
//   CommandText::Kept kept = std::move(text).Finish("Git Status");
//
// Invalid UTF-8 and NUL become U+FFFD, terminal escapes go; blank lines in front and white space at
// the end go, and in compat white space in front, too. Memory: about 1.5 times the cap.
// Thread-safety: one owner.

#ifndef DOSSIER_SOURCES_COMMANDS_COMMAND_TEXT_H_
#define DOSSIER_SOURCES_COMMANDS_COMMAND_TEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml/yaml.h"
#include "sources/template/template_render.h"

namespace dossier::sources {

// The variables of command templates: where their values come from, and which type a text becomes.
//
//   VariableInput input{.declared = {{"BRANCH", TemplateValue("main")}, {"N", std::nullopt}},
//                       .given = {"N=7"}, .environment = LookUpEnvironment};
//   DOSSIER_ASSIGN_OR_RETURN(TemplateVariables variables, ResolveVariables(input));
//   // N is the number 7
//
// Thread-safety: pure functions, but for what `environment` does.

// Whose rules hold: ours, or those of the Python tool whose files we read.
enum class CommandRules { kDossier, kCompat };

struct VariableInput {
  std::map<std::string, std::optional<TemplateValue>> declared;  // name -> default; none: required
  std::vector<std::string> given;                                // "NAME=VALUE" of -D, in order
  // Asked for declared names only.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  CommandRules rules = CommandRules::kDossier;
};

// Errors: kUsage (a -D without a name or `=`), kConfig (a required one is missing).
Result<TemplateVariables> ResolveVariables(const VariableInput& input);

// The value that a text from -D or the environment means.
TemplateValue CoerceText(std::string_view text, CommandRules rules);

// A variable of a YAML file, types as written there.
TemplateValue ValueOfYaml(const YamlNode& node);

std::optional<std::string> LookUpEnvironment(const std::string& name);

// The two ends of a text that is longer than `cap`, cut at line ends where there are any, joined by
// the line "[... N bytes of M cut by LIMIT of NAME ...]". `whole` is M.
struct CutPlace {
  std::uint64_t whole = 0;
  std::uint64_t cap = 0;
  std::string_view limit, name;  // "max_output"
};
// `head` holds more than the first 3/4 of the cap, `tail` the last 1/4 or less.
std::string JoinEnds(std::string_view head, std::string_view tail, const CutPlace& place,
                     std::uint64_t* cut_bytes = nullptr);

// The first and the last bytes of a stream that has no white space at its ends.
class KeptEnds {
 public:
  KeptEnds(std::uint64_t cap, CommandRules rules) : cap_(cap), rules_(rules) {}

  void Add(std::string_view text);

  std::uint64_t seen() const { return seen_; }    // from the first byte that is kept
  std::uint64_t solid() const { return solid_; }  // without the white space at the end
  // The first min(cap + 4, solid) bytes, and the last cap / 4 up to `solid`.
  std::string_view head() const;
  std::string_view tail() const;

 private:
  void Skip(std::string_view* text);
  void AddTail(std::string_view text);

  std::uint64_t cap_;
  CommandRules rules_;
  std::uint64_t seen_ = 0, solid_ = 0;
  std::string head_, tail_, spaces_;  // spaces_: white space that may be the end
};

class CommandText {
 public:
  struct Options {
    std::uint64_t cap = 65'536;
    CommandRules rules = CommandRules::kDossier;
  };
  struct Kept {
    std::string text;
    std::uint64_t cut_bytes = 0, invalid = 0, escapes = 0;
  };

  explicit CommandText(const Options& options)
      : cap_(options.cap), ends_(options.cap, options.rules) {}

  // `bytes` may begin and end inside a code point or an escape.
  void Add(std::string_view bytes);
  // Between two streams: what is incomplete stays so.
  void EndStream();
  Kept Finish(std::string_view name) &&;

 private:
  // ECMA-48: ESC, then one of these.
  enum class State { kText, kEscape, kControl, kString, kStringEscape };

  void Step(char32_t code_point, std::string_view bytes, bool valid);
  void StepEscape(char32_t code_point, std::string_view bytes, bool valid);
  void Begin(State state);

  std::uint64_t cap_;
  KeptEnds ends_;
  State state_ = State::kText;
  std::uint64_t string_bytes_ = 0;  // of the control string so far
  std::string carry_;               // an incomplete code point
  std::uint64_t invalid_ = 0, escapes_ = 0;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_COMMAND_TEXT_H_
