// Cleans and truncates the output of a command as it streams; it never holds the whole output.
//
//   CommandText text({.cap = 65'536, .rules = CommandRules::kDossier});
//   text.Add(block);  text.Add(next);
//   CommandText::Kept kept = std::move(text).Finish("Git Status");
//
// Invalid UTF-8 and NUL become U+FFFD and terminal escapes are removed. Blank lines at the start
// and white space at the end are dropped; in compat mode also white space at the start. Memory:
// about 1.5 times the cap. Thread-safety: one owner.

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

// The variables of command templates: the sources of their values and the types of their texts.
//
//   VariableInput input{.declared = {{"BRANCH", TemplateValue("main")}, {"N", std::nullopt}},
//                       .given = {"N=7"}, .environment = LookUpEnvironment};
//   DOSSIER_ASSIGN_OR_RETURN(TemplateVariables variables, ResolveVariables(input));
//   // N is the number 7
//
// Thread-safety: pure functions, except for what `environment` does.

// The rule set that applies: ours, or that of the Python tool whose files we read.
enum class CommandRules { kDossier, kCompat };

struct VariableInput {
  std::map<std::string, std::optional<TemplateValue>> declared;  // name -> default; unset: required
  std::vector<std::string> given;  // "NAME=VALUE" of each -D, in order
  // Called for declared names only.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  CommandRules rules = CommandRules::kDossier;
};

// Errors: kUsage (a -D without a name or `=`), kConfig (a required variable is missing).
Result<TemplateVariables> ResolveVariables(const VariableInput& input);

// Returns the typed value of a text from -D or the environment.
TemplateValue CoerceText(std::string_view text, CommandRules rules);

// Returns a variable of a YAML file, typed as YAML reads it.
TemplateValue ValueOfYaml(const YamlNode& node);

std::optional<std::string> LookUpEnvironment(const std::string& name);

// Shortens a text that is longer than `cap` to its two ends, cut at line ends if possible and
// joined by the line "[... N bytes of M cut by LIMIT of NAME ...]". `whole` is M.
struct CutPlace {
  std::uint64_t whole = 0;
  std::uint64_t cap = 0;
  std::string_view limit, name;  // "max_output"
};
// `head` holds at least the first 3/4 of the cap, `tail` at most the last 1/4.
std::string JoinEnds(std::string_view head, std::string_view tail, const CutPlace& place,
                     std::uint64_t* cut_bytes = nullptr);

// Keeps the first and the last bytes of a stream, without white space at its ends.
class KeptEnds {
 public:
  KeptEnds(std::uint64_t cap, CommandRules rules) : cap_(cap), rules_(rules) {}

  void Add(std::string_view text);

  std::uint64_t seen() const { return seen_; }    // bytes from the first kept byte on
  std::uint64_t solid() const { return solid_; }  // the same without the white space at the end
  // The first min(cap + 4, solid) bytes, and the last cap / 4 bytes before `solid`.
  std::string_view head() const;
  std::string_view tail() const;

 private:
  void Skip(std::string_view* text);
  void AddTail(std::string_view text);

  std::uint64_t cap_;
  CommandRules rules_;
  std::uint64_t seen_ = 0, solid_ = 0;
  std::string head_, tail_, spaces_;  // spaces_: white space that may turn out to be the end
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

  // `bytes` may begin or end in the middle of a code point or an escape sequence.
  void Add(std::string_view bytes);
  // Call between two streams: an incomplete sequence is not continued by the next stream.
  void EndStream();
  Kept Finish(std::string_view name) &&;

 private:
  // States of the ECMA-48 parser: ESC, then one of these.
  enum class State { kText, kEscape, kControl, kString, kStringEscape };

  void Step(char32_t code_point, std::string_view bytes, bool valid);
  void StepEscape(char32_t code_point, std::string_view bytes, bool valid);
  void Begin(State state);

  std::uint64_t cap_;
  KeptEnds ends_;
  State state_ = State::kText;
  std::uint64_t string_bytes_ = 0;  // length of the current control string
  std::string carry_;               // an incomplete code point
  std::uint64_t invalid_ = 0, escapes_ = 0;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_COMMAND_TEXT_H_
