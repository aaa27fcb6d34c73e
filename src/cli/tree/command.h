// A command of the program is one object: its name, what it is for, its flags, and what it does.
// The parser, help, the manual page, completion and the reference in docs/guide are made from it.
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
// cli/commands.cc names every command once. A flag is declared where its value lives; what its type
// says (a switch, a whole number, text) is not said again.
// Thread-safety: none needed; one tree a process, used by one thread.

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

// How a command ends: what each exit code means, and what stands for a failure. That is a sentence
// on stderr and, with --json, an object on stdout, which so holds exactly one whatever happens.
//
//   return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
//   // {"schema":"dossier.error/1","error":{"code":"not_found","exit":4,"message":"…"}}
//
// For a command that has not printed its object yet; docs/formats/json.md describes this one.
// base/result.h says which error has which code.
// Thread-safety: none needed; the streams are the caller's.

enum class FailureForm { kText, kJson };

// Of a command's own flag --json.
constexpr FailureForm FormOf(bool json) { return json ? FailureForm::kJson : FailureForm::kText; }

// Without secrets. Returns the error's exit code.
int Fail(const Error& error, FailureForm form, std::ostream& out, std::ostream& err);

inline constexpr int kExitDifferences = 15;  // a check found differences

struct ExitMeaning {
  int code;
  std::string_view meaning;
};

// The one table behind `help exit-codes`, the manual page and the guide.
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

// --compat knows only "failed" for what has a code of its own here.
constexpr int CompatExitCode(int code) { return code >= 3 && code <= 16 ? 1 : code; }

class CommandNode;
class Interrupt;
struct GlobalFlags;

// A word that may stand at the place of the cursor, and what it means.
struct Completion {
  std::string word, about;
};

// What names to offer depends on: the configuration that the flags mean, and the commands there
// are.
struct CompletionContext {
  const GlobalFlags& flags;
  const CommandNode& root;
};

// What the value of a flag is. One constant for all flags that take the same thing.
struct ValueKind {
  std::string_view word;  // as help writes it: "PATH"
  // kAny: what the system may have named (a path), or what another program takes as it is.
  enum class Bytes : std::uint8_t { kUtf8, kAny } bytes = Bytes::kUtf8;
  // What the shell completes by its own means.
  enum class Files : std::uint8_t { kNone, kFiles, kFolders } files = Files::kNone;
  // The names that completion offers; null: none.
  std::vector<Completion> (*offers)(const CompletionContext& context) = nullptr;
};

inline constexpr ValueKind kPath{"PATH", ValueKind::Bytes::kAny, ValueKind::Files::kFiles};
inline constexpr ValueKind kFolder{"FOLDER", ValueKind::Bytes::kAny, ValueKind::Files::kFolders};
inline constexpr ValueKind kWord{"WORD", ValueKind::Bytes::kAny};
inline constexpr ValueKind kTime{"TIME"};
inline constexpr ValueKind kSize{"SIZE"};
inline constexpr ValueKind kList{"LIST"};
inline constexpr ValueKind kName{"NAME"};

// The title of the flags that every command takes, in help.
inline constexpr std::string_view kGlobalGroup = "Global";

// Where a value goes. The type says how it is read: bool and optional<bool> are switches without a
// value, a vector may be given several times, an argument of type vector takes all that follow.
using FlagTarget =
    std::variant<bool*, std::optional<bool>*, int*, std::optional<int>*, std::int64_t*,
                 std::optional<std::int64_t>*, std::uint64_t*, std::optional<std::uint64_t>*,
                 double*, std::optional<double>*, std::string*, std::optional<std::string>*,
                 std::vector<std::string>*>;

// A flag ("-m,--model") or an argument ("path"), as it was declared.
class Flag {
 public:
  Flag(std::string_view names, FlagTarget to, std::string help, std::string_view group);

  // These say more of it, each once.
  Flag& Kind(const ValueKind& kind);
  Flag& Required();
  Flag& OneOf(std::vector<std::string> words);
  Flag& Between(double low, double high);
  Flag& Positive();     // above 0
  Flag& NotNegative();  // 0 and above
  Flag& ShowDefault();  // help shows the value that stands in the target before the parse
  Flag& Counts();       // an int: how often it is given
  Flag& Often();        // -h shows it, also where it stands in a group
  Flag& TakesRest();    // of a vector: all words that follow, not one each time
  // A text that may be left out: `word` is meant then. A value stands behind "=".
  Flag& Implies(std::string word);
  // Not together with another flag of the same command.
  Flag& Excludes(std::string_view name);
  // A name of before, "-c" or "--output": it is still read, and shown nowhere.
  Flag& Formerly(std::string_view name);

  bool IsArgument() const { return long_.empty() && short_.empty(); }
  bool IsSwitch() const;  // takes no value
  bool IsMany() const;
  bool IsShown() const { return !help_.empty(); }
  // "path", "-m", "--model" first.
  const std::string& name() const { return name_; }
  const std::vector<std::string>& short_names() const { return short_; }  // without dashes
  const std::vector<std::string>& long_names() const { return long_; }
  const std::vector<std::string>& former_names() const { return former_; }  // with dashes
  // Whether `word` ("-m", "--model") is one of its names, a former one too.
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

  // What is wrong with a value, beside its type and choices: "0 is too small". "": nothing.
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

// The flags of one command while they are declared.
class Flags {
 public:
  Flags() : declared_(std::make_shared<Declared>()) {}

  // `names`: "-m,--model" for a flag, a bare word for an argument. Help lists groups and flags in
  // the order of declaration; a flag without help is not shown.
  Flag& Add(std::string_view names, FlagTarget to, std::string help);
  // The same flags, where those that are added stand below a title of their own in help.
  Flags In(std::string_view group) const;
  // Behind the first argument nothing is a flag of this program.
  void EndAtArgument() { declared_->end_at_argument = true; }
  // Words and flags that nobody declared are let through and left alone.
  void AllowOthers() { declared_->allow_others = true; }

  const std::deque<Flag>& list() const { return declared_->list; }
  bool end_at_argument() const { return declared_->end_at_argument; }
  bool allow_others() const { return declared_->allow_others; }

 private:
  struct Declared {
    std::deque<Flag> list;
    bool end_at_argument = false, allow_others = false;
  };
  std::shared_ptr<Declared> declared_;
  std::string group_ = "Options";
};

// What a command works with.
struct Context {
  const GlobalFlags& flags;
  const CommandNode& command;  // the one that runs
  Interrupt* interrupt;        // null: signals are not taken over
  const CancelToken cancel;    // Ctrl-C
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  std::span<const std::string> argv;  // the whole command line
  // How a failure is told; at first as --json says. A command whose object is printed already
  // changes it.
  FailureForm failure = FailureForm::kText;
};

using Runner = std::function<Result<int>(Context& context)>;
using Binding = std::function<Runner(Flags& flags)>;

inline Result<int> AsExitCode(Result<int> code) { return code; }
inline Result<int> AsExitCode(const Status& done) {
  return done ? Result<int>(0) : tl::unexpected(done.error());
}

// `declare` binds flags to a fresh `Given`; `run` gets it when the command line is read. It returns
// a Status, or an exit code; an error is told and becomes the code.
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
  std::string_view examples;  // a line each, with an indented one behind it that says what it does
  Binding binding;            // empty: one of `commands` has to be named
  std::vector<Command> commands;
  // kLeft: it neither waits nor starts anything, so Ctrl-C simply ends it. kOrder: a signal is how
  // it is meant to end, so its own exit code counts then.
  enum class Signals : std::uint8_t { kTakenOver, kLeft, kOrder } signals = Signals::kTakenOver;
  // kYes: it also runs where none of `commands` is named.
  enum class Alone : std::uint8_t { kNo, kYes } alone = Alone::kNo;
  // kNo: in no list of commands.
  enum class Listed : std::uint8_t { kYes, kNo } listed = Listed::kYes;
};

// A command in its place. Flags are declared when somebody first looks at them: most calls need
// those of one command.
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
  // Whether one of those below has to be named.
  bool needs_below() const { return !below_.empty() && command_.alone == Command::Alone::kNo; }
  Command::Signals signals() const;
  const CommandNode* above() const { return above_; }
  const CommandNode& root() const;
  std::span<const std::unique_ptr<CommandNode>> below() const { return below_; }

  // All of its own, arguments and help flags too.
  const std::deque<Flag>& flags() const { return Declared().flags.list(); }
  bool end_at_argument() const { return Declared().flags.end_at_argument(); }
  bool allow_others() const { return Declared().flags.allow_others(); }
  bool declared() const { return declared_ != nullptr; }

  // Those that people are shown, in the order of declaration.
  std::vector<const CommandNode*> Commands() const;
  std::vector<const Flag*> Options() const;
  std::vector<const Flag*> Arguments() const;
  // "-m", "--model", "--json", "--no-json": every way to write its options and those above it.
  std::vector<std::string> FlagNames() const;
  // By "-m" or "--model"; of this command or one above it.
  const Flag* FindFlag(std::string_view name) const;
  // At a path of words, as of `help models pull`; null if there is none.
  const CommandNode* Find(std::span<const std::string> words) const;

  // Whether its own --json was given.
  bool AsksForJson() const;
  Result<int> Run(Context& context) const { return Declared().run(context); }

 private:
  struct Declaration {
    Flags flags;
    Runner run;
    bool help = false;  // where the flags of help point; the parser acts on them itself
  };
  const Declaration& Declared() const;

  const Command command_;
  const CommandNode* const above_;
  const std::string path_;
  std::vector<std::unique_ptr<CommandNode>> below_;
  mutable std::unique_ptr<Declaration> declared_;
};

// Whether a switch can be taken back on the same line.
bool HasTwin(const Flag& flag);
// "--no-json" for "json", "--colour" for "no-colour": the flag that takes another back.
std::string TwinOf(std::string_view long_name);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_COMMAND_H_
