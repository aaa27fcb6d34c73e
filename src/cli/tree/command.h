// A command of the program is one object: its name, summary, flags and function. The parser, help,
// the manual page, completion and the reference in docs/guide are made from it.
//
// clang-format off
// <example>
//   struct GreetArguments {
//     std::vector<std::string> names;
//     std::int64_t times = 1;
//     bool json = false;
//   };
//
//   void DeclareGreet(Flags& flags, GreetArguments& to) {
//     flags.Add("name", &to.names, "who is greeted").Required();
//     flags.Add("-n,--times", &to.times, "how often").Between(1, 9).ShowDefault();
//     flags.Add("--json", &to.json, "one object");
//   }
//
//   Result<int> RunGreet(const GreetArguments& given, Context& context) {
//     for (std::int64_t i = 0; i < given.times; ++i) {
//       for (const std::string& name : given.names) context.out << "Hello, " << name << "\n";
//     }
//     return 0;
//   }
//
//   Command GreetCommand() {
//     return {.name = "greet",
//             .summary = "say hello",
//             .examples = "dossier greet Ann\n    to one person",
//             .binding = Bind(DeclareGreet, RunGreet)};
//   }
// </example>
// clang-format on
//
// cli/commands.cc names every command once. A flag is declared where its value is stored; what
// follows from its type is not repeated. Thread-safety: not thread-safe; one tree per process, used
// by one thread.

#ifndef DOSSIER_CLI_TREE_COMMAND_H_
#define DOSSIER_CLI_TREE_COMMAND_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::cli {

// The end of a command: the meaning of exit codes, and the report of a failure: a sentence on
// stderr and, with --json, an object on stdout, which then has exactly one.
//
//   return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
//   // {"schema":"dossier.error/1","error":{"code":"not_found","exit":4,"message":"…"}}
//
// For a command that has not printed its object yet; docs/formats/json.md describes this one.
// base/result.h defines the code of each error. Thread-safety: not thread-safe; the caller owns the
// streams.

enum class FailureForm { kText, kJson };

// Converts a command's own flag --json.
constexpr FailureForm FormOf(bool json) { return json ? FailureForm::kJson : FailureForm::kText; }

// Prints without secrets. Returns the error's exit code.
int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err);

inline constexpr int kExitDifferences = 15;  // a check found differences

struct ExitMeaning {
  int code;
  std::string_view meaning;
};

// The single table behind `help exit-codes`, the manual page and the guide.
inline constexpr ExitMeaning kExitMeanings[] = {
    {0, "done"},
    {1, "another failure that was handled"},
    {2, "wrong use: flags, arguments"},
    {3, "configuration, variable or template"},
    {4, "a named thing is missing, invalid or damaged"},
    {5, "the provider refused the key, or there is none"},
    {6, "rate limit, after retries"},
    {7, "timeout or deadline"},
    {8, "network or provider error"},
    {9, "the context is too long"},
    {10, "a budget or limit is reached; the answer so far is printed"},
    {11, "the reply does not match the schema"},
    {12, "refused by policy, trust or sandbox"},
    {13, "a part of the answer, or partly done"},
    {14, "a context command that must not fail failed"},
    {15, "a check found differences"},
    {16, "a lock was not obtained in time"},
    {70, "a defect in the program"},
    {130, "interrupted (SIGINT)"},
    {141, "stdout was closed"},
    {143, "terminated (SIGTERM)"},
};

// --compat only has "failed" for failures that have their own code here.
constexpr int CompatExitCode(int code) { return code >= 3 && code <= 16 ? 1 : code; }

class CommandNode;
class Interrupt;
struct GlobalFlags;

// A possible word at the cursor.
struct Completion {
  std::string word, about;
};

// The input of completion: the configuration selected by the flags, and the commands.
struct CompletionContext {
  const GlobalFlags& flags;
  const CommandNode& root;
};

// The kind of value a flag takes. Flags that take the same thing share one constant.
struct ValueKind {
  std::string_view word;  // as shown in help: "PATH"
  // kAny: a name from the system (a path), or a value that is passed to another program unchanged.
  enum class Bytes : std::uint8_t { kUtf8, kAny } bytes = Bytes::kUtf8;
  // Paths that the shell completes itself.
  enum class Files : std::uint8_t { kNone, kFiles, kFolders } files = Files::kNone;
  // Returns the names that completion offers; null: none.
  std::vector<Completion> (*offers)(const CompletionContext& context) = nullptr;
};

inline constexpr ValueKind kPath{"PATH", ValueKind::Bytes::kAny, ValueKind::Files::kFiles};
inline constexpr ValueKind kFolder{"FOLDER", ValueKind::Bytes::kAny, ValueKind::Files::kFolders};
inline constexpr ValueKind kWord{"WORD", ValueKind::Bytes::kAny};
inline constexpr ValueKind kTime{"TIME"};
inline constexpr ValueKind kSize{"SIZE"};
inline constexpr ValueKind kList{"LIST"};
inline constexpr ValueKind kName{"NAME"};

// The title of the global flags in help.
inline constexpr std::string_view kGlobalGroup = "Global";

// The target of a value. Its type decides how it is parsed: bool and optional<bool> are switches
// without a value, a vector may be given repeatedly, a vector argument takes all words that follow.
using FlagTarget =
    std::variant<bool*, std::optional<bool>*, int*, std::optional<int>*, std::int64_t*,
                 std::optional<std::int64_t>*, std::uint64_t*, std::optional<std::uint64_t>*,
                 double*, std::optional<double>*, std::string*, std::optional<std::string>*,
                 std::vector<std::string>*>;

// A declared flag ("-m,--model") or argument ("path").
class Flag {
 public:
  Flag(std::string_view names, FlagTarget to, std::string help, std::string_view group);

  // These add properties; call each at most once.
  Flag& Kind(const ValueKind& kind);
  Flag& Required();
  Flag& OneOf(std::vector<std::string> words);
  Flag& Between(double low, double high);
  Flag& Positive();     // above 0
  Flag& NotNegative();  // 0 and above
  Flag& ShowDefault();  // help shows the target's value from before the parse
  Flag& Counts();       // an int: counts how often the flag is given
  Flag& Often();        // -h shows it even if it is in a group
  Flag& TakesRest();    // a vector: takes all words that follow, not one each time
  // The value may be left out, which means `word`. A value must follow "=".
  Flag& Implies(std::string word);
  // Must not be combined with another flag of the same command.
  Flag& Excludes(std::string_view name);
  // A former name, "-c" or "--output": it is still accepted, but not shown.
  Flag& Formerly(std::string_view name);

  bool IsArgument() const { return long_.empty() && short_.empty(); }
  bool IsSwitch() const;  // takes no value
  bool IsMany() const;
  bool IsShown() const { return !help_.empty(); }
  // The first of "path", "-m", "--model".
  const std::string& name() const { return name_; }
  const std::vector<std::string>& short_names() const { return short_; }  // without dashes
  const std::vector<std::string>& long_names() const { return long_; }
  const std::vector<std::string>& former_names() const { return former_; }  // with dashes
  // True if `word` ("-m", "--model") is one of its names, including former ones.
  bool Is(std::string_view word) const;

  const FlagTarget& to() const { return to_; }
  const std::string& help() const { return help_; }
  const std::string& group() const { return group_; }
  const ValueKind& kind() const { return *kind_; }
  const std::vector<std::string>& choices() const { return choices_; }
  const std::string& default_text() const { return default_text_; }
  const std::vector<std::string>& excluded() const { return excluded_; }
  const std::optional<std::string>& implied() const { return implied_; }
  bool required() const { return required_; }
  bool takes_rest() const { return takes_rest_; }
  bool counts() const { return counts_; }
  bool often() const { return often_; }

  // Returns a value's fault, apart from type and choices: "0 is too small"; "": none.
  std::string Complaint(const std::string& value) const;

 private:
  struct Range {
    double low, high;
  };

  std::string name_;
  std::vector<std::string> short_, long_, former_;
  FlagTarget to_;
  std::string help_, group_, default_text_;
  const ValueKind* kind_;
  std::vector<std::string> choices_, excluded_;
  std::optional<Range> range_;
  std::optional<std::string> implied_;
  bool required_ = false, takes_rest_ = false, counts_ = false, often_ = false;
};

// Collects the flags of one command during declaration.
class Flags {
 public:
  Flags() : declared_(std::make_shared<Declared>()) {}

  // `names`: "-m,--model" for a flag, a bare word for an argument. Help lists groups and flags in
  // the order of declaration; a flag without help is hidden.
  Flag& Add(std::string_view names, FlagTarget to, std::string help);
  // Returns the same flags; those added to it appear under a title of their own in help.
  Flags In(std::string_view group) const;
  // After the first argument, no word is a flag of this program.
  void EndAtArgument() { declared_->end_at_argument = true; }

  const std::deque<Flag>& list() const { return declared_->list; }
  bool end_at_argument() const { return declared_->end_at_argument; }

 private:
  struct Declared {
    std::deque<Flag> list;
    bool end_at_argument = false;
  };
  std::shared_ptr<Declared> declared_;
  std::string group_ = "Options";
};

// The input of a running command.
struct Context {
  const GlobalFlags& flags;
  const CommandNode& command;  // the one that runs
  Interrupt* interrupt;        // null: signals keep their default action
  const CancelToken cancel;    // Ctrl-C
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::span<const std::string> argv;  // the whole command line
  // The form of a failure report; initially according to --json. A command that has already printed
  // its object changes it.
  FailureForm failure = FailureForm::kText;
};

using Runner = std::function<Result<int>(Context& context)>;
using Binding = std::function<Runner(Flags& flags)>;

inline Result<int> AsExitCode(Result<int> code) { return code; }
inline Result<int> AsExitCode(const Status& done) {
  return done ? Result<int>(0) : tl::unexpected(done.error());
}

// `declare` binds flags to a fresh `Given`; `run` gets it after the command line is parsed. It
// returns a Status or an exit code; an error is reported and gives the exit code.
template <typename Given, typename Outcome>
Binding Bind(void (*declare)(Flags& flags, Given& to),
             Outcome (*run)(const Given& given, Context& context)) {
  return [declare, run](Flags& flags) -> Runner {
    const auto given = std::make_shared<Given>();
    declare(flags, *given);
    return [given, run](Context& context) { return AsExitCode(run(*given, context)); };
  };
}

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  // one line each, followed by an indented line that explains it
  Binding binding;            // empty: one of `commands` must be named
  std::vector<Command> commands;
  // kLeft: it neither waits nor starts anything, so Ctrl-C simply ends it. kOrder: a signal
  // normally ends it, so its own exit code counts.
  enum class Signals : std::uint8_t { kTakenOver, kLeft, kOrder } signals = Signals::kTakenOver;
  // kYes: it also runs if none of `commands` is named.
  enum class Alone : std::uint8_t { kNo, kYes } alone = Alone::kNo;
  // kNo: in no list of commands.
  enum class Listed : std::uint8_t { kYes, kNo } listed = Listed::kYes;
};

// A command at its place in the tree. Flags are declared on first use: most calls need those of one
// command.
class CommandNode {
 public:
  explicit CommandNode(Command command, const CommandNode* above = nullptr);
  CommandNode(const CommandNode&) = delete;
  CommandNode& operator=(const CommandNode&) = delete;

  std::string_view name() const { return command_.name; }
  const std::string& path() const { return path_; }  // "dossier models pull"
  std::string_view summary() const { return command_.summary; }
  std::string_view examples() const { return command_.examples; }
  bool listed() const { return command_.listed == Command::Listed::kYes; }
  // True if a subcommand must be named.
  bool needs_below() const { return !below_.empty() && command_.alone == Command::Alone::kNo; }
  Command::Signals signals() const;
  const CommandNode* above() const { return above_; }
  const CommandNode& root() const;
  std::span<const std::unique_ptr<CommandNode>> below() const { return below_; }

  // Returns all its own flags, including arguments and help flags.
  const std::deque<Flag>& flags() const { return Declared().flags.list(); }
  bool end_at_argument() const { return Declared().flags.end_at_argument(); }
  bool declared() const { return declared_ != nullptr; }

  // Return what users are shown, in the order of declaration.
  std::vector<const CommandNode*> Commands() const;
  std::vector<const Flag*> Options() const;
  std::vector<const Flag*> Arguments() const;
  // "-m", "--model", "--json", "--no-json": every spelling of its options and of those above it.
  std::vector<std::string> FlagNames() const;
  // Finds a flag of this command or one above it by "-m" or "--model".
  const Flag* FindFlag(std::string_view name) const;
  // Finds the command at a path of words, as in `help models pull`; null if there is none.
  const CommandNode* Find(std::span<const std::string> words) const;

  // Returns true if its own --json was given.
  bool AsksForJson() const;
  Result<int> Run(Context& context) const { return Declared().run(context); }

 private:
  struct Declaration {
    Flags flags;
    Runner run;
    bool help = false;  // target of the help flags; the parser handles them itself
  };
  const Declaration& Declared() const;

  const Command command_;
  const CommandNode* const above_;
  const std::string path_;
  std::vector<std::unique_ptr<CommandNode>> below_;
  mutable std::unique_ptr<Declaration> declared_;
};

// Returns true if a switch has an opposite on the same line.
bool HasTwin(const Flag& flag);
// Returns the flag that undoes another: "--no-json" for "json", "--colour" for "no-colour".
std::string TwinOf(std::string_view long_name);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_COMMAND_H_
