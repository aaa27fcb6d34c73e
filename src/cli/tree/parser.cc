#include "cli/tree/parser.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>

#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

using Wish = ParsedLine::Wish;

// A declared flag and the option that parses it.
struct Bound {
  const Flag* flag;
  CLI::App* app;
  CLI::Option* option;
  CLI::Option* twin = nullptr;
};

std::string NamesOf(const Flag& flag) {
  if (flag.IsArgument()) return flag.name();
  std::vector<std::string> names;
  for (const std::string& name : flag.short_names()) names.push_back("-" + name);
  for (const std::string& name : flag.long_names()) names.push_back("--" + name);
  names.insert(names.end(), flag.former_names().begin(), flag.former_names().end());
  return Join(names, ",");
}

// Adds the parser's option for each type of target.
struct AddOption {
  CLI::App& app;
  const Flag& flag;

  CLI::Option* operator()(bool* to) const { return app.add_flag(NamesOf(flag), *to); }
  // The parser's own overload for this type starts with false, which would override the
  // configuration.
  CLI::Option* operator()(std::optional<bool>* to) const {
    return app.add_flag_function(NamesOf(flag), [to](std::int64_t count) { *to = count > 0; });
  }
  CLI::Option* operator()(int* to) const {
    return flag.counts() ? app.add_flag(NamesOf(flag), *to) : app.add_option(NamesOf(flag), *to);
  }
  CLI::Option* operator()(std::string* to) const {
    if (!flag.implied()) return app.add_option(NamesOf(flag), *to);
    return app.add_flag(fmt::format("{}{{{}}}", NamesOf(flag), *flag.implied()), *to);
  }
  CLI::Option* operator()(std::vector<std::string>* to) const {
    CLI::Option* option = app.add_option(NamesOf(flag), *to);
    const bool all = flag.IsArgument() || flag.takes_rest();
    return all ? option : option->allow_extra_args(false);
  }
  template <typename Value>
  CLI::Option* operator()(Value* to) const {
    return app.add_option(NamesOf(flag), *to);
  }
};

// Undoes a switch.
struct SetFalse {
  void operator()(bool* to) const { *to = false; }
  void operator()(std::optional<bool>* to) const { *to = false; }
  void operator()(int* to) const { *to = 0; }
  template <typename Value>
  void operator()(Value*) const {}
};

// The parser expects "" or an error text; it puts the flag's name before it.
template <typename Value>
std::string Complaint(const Value& read) {
  return read ? std::string() : utf8::CleanForTerminal(read.error().message);
}

// Checks values by the target's type. The parser itself accepts "nan", "inf", octal and hexadecimal
// numbers, turns -1 into the largest unsigned number, and too large values into the largest one.
struct TypeCheck {
  const Flag& flag;
  const std::string& text;

  std::string operator()(const bool*) const { return ""; }
  std::string operator()(const int*) const { return Complaint(ParseWhole(text)); }
  std::string operator()(const std::int64_t*) const { return Complaint(ParseWhole(text)); }
  std::string operator()(const std::uint64_t*) const { return Complaint(ParseNatural(text)); }
  std::string operator()(const double*) const { return Complaint(ParseNumber(text)); }
  template <typename Value>
  std::string operator()(const std::optional<Value>*) const {
    return (*this)(static_cast<const Value*>(nullptr));
  }
  std::string operator()(const std::string*) const {
    if (flag.kind().bytes == ValueKind::Bytes::kAny) return "";
    return Complaint(CheckUtf8(text, "the text"));
  }
  std::string operator()(const std::vector<std::string>*) const {
    return (*this)(static_cast<const std::string*>(nullptr));
  }
};

class Parser {
 public:
  explicit Parser(const CommandNode& root) : root_(root), app_("", std::string(root.name())) {}

  Result<ParsedLine> Parse(std::span<const std::string> words) {
    // Without any words, a new user gets an overview.
    if (words.empty() && !root_.below().empty()) return ParsedLine{Wish::kFirstScreen, &root_};
    app_.set_help_flag("-h");
    app_.set_help_all_flag("--help");
    app_.set_version_flag("-V,--version", "");
    app_.fallthrough();  // global flags may also follow the command's name
    Add(root_, words, app_);
    const auto line = [this](Wish wish) { return ParsedLine{wish, &Last()}; };
    try {
      // The parser takes words from the back.
      app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::CallForVersion&) {
      return line(Wish::kVersion);
    } catch (const CLI::CallForAllHelp&) {
      return Help(Wish::kFullHelp);
    } catch (const CLI::CallForHelp&) {
      return Help(Wish::kShortHelp);
    } catch (const CLI::ParseError& error) {
      return MakeError(ErrorCode::kUsage, "{}", Message(error));
    }
    ApplyTwins();
    return line(Wish::kRun);
  }

 private:
  // Help for an unknown command fails; other errors in the line do not matter here.
  Result<ParsedLine> Help(Wish wish) const {
    const CommandNode& command = Last();
    const std::vector<std::string> left = app_.remaining(/*recurse=*/true);
    const bool unknown =
        !command.below().empty() && !left.empty() && !left.front().starts_with('-');
    if (!unknown) return ParsedLine{wish, &command};
    return MakeError(ErrorCode::kUsage, "{}; see `{} --help`", Unwanted(command, left.front()),
                     command.path());
  }

  // Only commands among the words can be the selected one. A value with the name of a command only
  // costs time.
  void Add(const CommandNode& node, std::span<const std::string> words, CLI::App& app) {
    const std::size_t first = bound_.size();
    for (const Flag& flag : node.flags()) {
      const bool by_parser = flag.Is("-h") || flag.Is("--help") || flag.Is("--version");
      if (!by_parser) AddFlag(flag, app);
    }
    for (std::size_t i = first; i < bound_.size(); ++i) AddTwin(bound_[i]);
    if (node.end_at_argument()) app.positionals_at_end();
    if (!node.below().empty()) app.require_subcommand(node.needs_below() ? 1 : 0, 1);
    for (const auto& below : node.below()) {
      const std::string name(below->name());
      if (std::find(words.begin(), words.end(), name) == words.end()) continue;
      Add(*below, words, *app.add_subcommand(name));
    }
  }

  void AddFlag(const Flag& flag, CLI::App& app) {
    CLI::Option* option = std::visit(AddOption{app, flag}, flag.to());
    bound_.push_back({&flag, &app, option});
    if (flag.required()) option->required();
    for (const std::string& other : flag.excluded()) option->excludes(app.get_option(other));
    if (flag.IsSwitch()) return;
    option->check(CLI::Validator(
        [&flag](std::string& text) { return std::visit(TypeCheck{flag, text}, flag.to()); }, ""));
    option->check(CLI::Validator([&flag](std::string& text) { return flag.Complaint(text); }, ""));
  }

  static void AddTwin(Bound& bound) {
    if (!HasTwin(*bound.flag)) return;
    for (const std::string& name : bound.flag->long_names()) {
      const std::string twin = TwinOf(name);
      if (bound.app->get_option_no_throw(twin)) continue;
      bound.twin = bound.app->add_flag(twin);
      bound.twin->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }

  void ApplyTwins() const {
    for (const Bound& bound : bound_) {
      if (!bound.twin || bound.twin->count() == 0) continue;
      if (LastPlace(bound, bound.twin) < LastPlace(bound, bound.option)) continue;
      std::visit(SetFalse(), bound.flag->to());
    }
  }

  static std::size_t LastPlace(const Bound& bound, const CLI::Option* option) {
    const auto& order = bound.app->parse_order();
    for (std::size_t i = order.size(); i > 0; --i) {
      if (order[i - 1] == option) return i;
    }
    return 0;
  }

  const CommandNode& Last() const {
    std::vector<std::string> names;
    for (const CLI::App* app = &app_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      names.push_back(app->get_name());
    }
    return *root_.Find(names);
  }

  // Returns one sentence with the nearest name.
  std::string Message(const CLI::ParseError& error) const {
    const CommandNode& command = Last();
    const std::vector<std::string> left = app_.remaining(/*recurse=*/true);
    std::string message;
    if (!left.empty()) {
      message = Unwanted(command, left.front());
    } else if (command.needs_below()) {
      message = "a command is missing; there are " + Join(NamesBelow(command), ", ");
    } else {
      message = Sentence(error);
    }
    // One line, even if the parser lists several.
    return fmt::format("{}; see `{} --help`", ReplaceAll(message, "\n", " "), command.path());
  }

  // The parser's message names the flag, but "Could not convert: --budget = abc" does not say what
  // is expected: only numbers are converted.
  static std::string Sentence(const CLI::ParseError& error) {
    constexpr std::string_view kConversion = "Could not convert: ";
    constexpr std::string_view kTwice = ": At Most 1 required but received ";
    std::string text = error.what();
    if (const std::size_t at = text.find(kTwice); at != std::string::npos) {
      return fmt::format("{} is given {} times; once is enough", text.substr(0, at),
                         text.substr(at + kTwice.size()));
    }
    const std::size_t equals = text.find(" = ");
    if (!text.starts_with(kConversion) || equals == std::string::npos) return text;
    return text.replace(equals, 3, " ").substr(kConversion.size()) + ": not a number, or too large";
  }

  static std::vector<std::string> NamesBelow(const CommandNode& command) {
    std::vector<std::string> names;
    for (const CommandNode* below : command.Commands()) names.emplace_back(below->name());
    return names;
  }

  // Finds subcommands by name: `dossier models serve-script` for "serve-script".
  static void FindNamed(const CommandNode& node, std::string_view name,
                        std::vector<std::string>* paths) {
    for (const CommandNode* below : node.Commands()) {
      if (below->name() == name) paths->push_back("`" + below->path() + "`");
      FindNamed(*below, name, paths);
    }
  }

  // Returns what is wrong with the first unexpected word.
  std::string Unwanted(const CommandNode& command, const std::string& given) const {
    std::string word = utf8::CleanForTerminal(given);
    std::vector<std::string> known;
    std::string message, otherwise;
    if (word.starts_with('-')) {
      word = word.substr(0, word.find('='));
      message = fmt::format("unknown flag {}", word);
      known = command.FlagNames();
      if (std::binary_search(known.begin(), known.end(), word)) {  // a flag before the command's
                                                                   // name
        return fmt::format("{0} belongs behind the command: {1} {0}", word, command.path());
      }
    } else if (!command.below().empty()) {
      message = fmt::format("there is no command {}", word);
      if (&command == &root_ && word.find(' ') != word.npos) {
        return message + "; a question goes to `dossier ask`, a message to `dossier chat`";
      }
      std::vector<std::string> elsewhere;
      FindNamed(root_, word, &elsewhere);
      if (!elsewhere.empty()) return message + "; did you mean " + Join(elsewhere, " or ") + "?";
      known = NamesBelow(command);
      otherwise = "; there are " + Join(known, ", ");
    } else {
      message = fmt::format("unexpected argument '{}'", word);
      const std::vector<std::string> flags = command.FlagNames();
      if (std::binary_search(flags.begin(), flags.end(), "--file")) {
        otherwise = "; put a text between quotation marks, and name a file by --file";
      }
    }
    const std::string near = DidYouMean(word, known);
    return message + (near.empty() ? otherwise : near);
  }

  const CommandNode& root_;
  CLI::App app_;
  std::vector<Bound> bound_;
};

}  // namespace

Result<ParsedLine> ParseLine(const CommandNode& root, std::span<const std::string> words) {
  return Parser(root).Parse(words);
}

Status CheckUtf8(std::string_view text, std::string_view what) {
  if (utf8::IsValid(text)) return {};
  return MakeError(ErrorCode::kUsage, "{} is not UTF-8: byte {} belongs to no character", what,
                   utf8::FirstInvalid(text));
}

}  // namespace dossier::cli
