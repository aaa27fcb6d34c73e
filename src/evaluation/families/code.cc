// code: where names of a Python tree are defined, called, imported and set. A question is only
// asked if the lexer here and Python's own parser agree.

#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/walk.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/families/python_lexer.h"
#include "evaluation/tasks/prose.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kMostFiles = 20'000;

using Tree = std::map<std::string, std::string>;  // path -> text

// A small package with traps: names in comments and strings, methods with the same name.
Tree MakeTree(std::int64_t files, RandomStream stream) {
  Tree tree;
  std::vector<std::string> modules, functions;
  for (const std::uint32_t word : stream.Sample(kMadeWords, static_cast<std::size_t>(files))) {
    modules.push_back(MadeWord(word));
  }
  for (const std::uint32_t word : stream.Sample(kMadeWords, static_cast<std::size_t>(files) * 3)) {
    functions.push_back("do_" + MadeWord(word));
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    std::string text = fmt::format("\"\"\"Works on {}; calls {}(1) nowhere.\"\"\"\n\n", modules[i],
                                   stream.Pick(functions));
    for (int imports = 0; imports < 2; ++imports)
      text += fmt::format("import pkg.{}\n", stream.Pick(modules));
    text += fmt::format("\nLIMIT_{} = {}\nclass_name = 'class {}:'\n\n",
                        ReplaceAll(modules[i], "-", "_"), stream.Between(2, 9999),
                        stream.Pick(modules));
    for (std::size_t j = 0; j < 3; ++j) {
      const std::string called = stream.Pick(functions);
      text += fmt::format(
          "\ndef {}(value, other=None):\n    # {}(value) was slower\n    text = \"{}(\"\n"
          "    return {}(value) if other else pkg.{}.{}(text)\n",
          functions[i * 3 + j], stream.Pick(functions), stream.Pick(functions), called,
          stream.Pick(modules), stream.Pick(functions));
    }
    text += fmt::format("\n\nclass Holder{}:\n    def run(self):\n        return self.run()\n", i);
    tree[fmt::format("pkg/{}.py", modules[i])] = std::move(text);
  }
  return tree;
}

Result<Tree> ReadTree(const std::string& folder, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const WalkResult found,
                           WalkFolder(folder, {.max_files = kMostFiles}, cancel));
  Tree tree;
  for (const std::string& path : found.files) {
    if (!path.ends_with(".py")) continue;
    DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    if (utf8::IsValid(text))
      tree[path.substr(folder.size() + !folder.ends_with('/'))] = std::move(text);
  }
  if (!tree.empty()) return tree;
  return MakeError(ErrorCode::kConfig, "tree={}: it holds no Python source", folder);
}

// Path B: Python's own parser.
Result<Json> ParseTree(const std::string& root, const std::vector<std::string>& names) {
  if (!FindProgram("python3")) {
    return MakeError(ErrorCode::kUnavailable,
                     "code needs python3, which is not on this machine; install python3");
  }
  const ProcessSpec spec{.argv = {"python3", "-I", "-c",
                                  std::string(*BuiltInAsset("data/evaluation/read_code.py")), root},
                         .input = Join(names, std::string(1, '\0')),
                         .max_output = 1u << 30};
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(spec));
  if (result.exit_code != 0) {
    return MakeError(
        ErrorCode::kFailed, "{}: Python cannot read the sources: {}", root,
        result.err.substr(result.err.size() - std::min<std::size_t>(200, result.err.size())));
  }
  return ParseJson(result.out);
}

std::vector<std::string> ListAt(const Json& facts, std::string_view part, const std::string& name) {
  const Json* const object = Find(facts, part);
  return object == nullptr ? std::vector<std::string>() : StringsOf(Find(*object, name));
}

std::int64_t CallsOf(const Json& facts, const std::string& name) {
  const Json* const calls = Find(facts, "calls");
  return calls == nullptr ? 0 : FindInt(*calls, name).value_or(0);
}

Result<Json> AnswerFromFacts(const Json& facts, const Task& task) {
  const auto only = [&](const std::vector<std::string>& found) -> Result<Json> {
    if (found.size() == 1) return OneGold(found[0]);
    return MakeError(ErrorCode::kCheckFailed, "{}: the sources give {} right answers", task.id,
                     found.size());
  };
  std::string a, b;
  if (RE2::PartialMatch(task.question, "^Which file defines (\\S+)\\?", &a)) {
    return only(ListAt(facts, "definitions", a));
  }
  if (RE2::PartialMatch(task.question, "^At how many places is (\\S+) called\\?", &a)) {
    return OneGold(std::to_string(CallsOf(facts, a)));
  }
  if (RE2::PartialMatch(task.question, "^What is the value of the constant (\\S+)\\?", &a)) {
    return only(ListAt(facts, "constants", a));
  }
  if (RE2::PartialMatch(task.question, "^Which file imports both (\\S+) and (\\S+)\\?", &a, &b)) {
    std::vector<std::string> files;
    const Json* const imports = Find(facts, "imports");
    if (imports == nullptr || !imports->is_object()) return only({});
    for (const auto& [file, modules] : imports->get_object()) {
      const std::vector<std::string> names = StringsOf(&modules);
      if (std::count(names.begin(), names.end(), a) + std::count(names.begin(), names.end(), b) ==
          2) {
        files.emplace_back(file);
      }
    }
    return only(files);
  }
  std::vector<std::string> never;
  std::string letter, name;
  for (re2::StringPiece rest(task.question);
       RE2::FindAndConsume(&rest, "\\(([A-D])\\) (\\S+)\n", &letter, &name);) {
    if (CallsOf(facts, name) == 0) never.push_back(letter);
  }
  return only(never);
}

class CodeProver final : public Prover {
 public:
  explicit CodeProver(Json facts) : facts_(std::move(facts)) {}
  Result<Json> Recompute(const Task& task) override { return AnswerFromFacts(facts_, task); }

 private:
  const Json facts_;
};

// Draws questions from the lexer's results; `gold` is its answer.
class CodeQuestions {
 public:
  CodeQuestions(const PythonFacts& facts, RandomStream stream)
      : facts_(facts), stream_(std::move(stream)) {
    for (const auto& [name, files] : facts.definitions) {
      if (files.size() != 1) continue;
      defined_.push_back(name);
      (facts.calls.contains(name) ? called_ : uncalled_).push_back(name);
    }
    for (const auto& [name, values] : facts.constants) {
      if (values.size() == 1) constants_.push_back(name);
    }
    for (const auto& [file, modules] : facts.imports) {
      if (modules.size() >= 2) importers_.push_back(file);
    }
  }

  std::optional<Task> Draw(std::int64_t number) {
    Task task{.scorer = "exact"};
    switch (number % 5) {
      case 0:
        return Defines(std::move(task));
      case 1:
        return Calls(std::move(task));
      case 2:
        return Imports(std::move(task));
      case 3:
        return Value(std::move(task));
      default:
        return NeverCalled(std::move(task));
    }
  }

 private:
  std::optional<Task> Defines(Task task) {
    if (defined_.empty()) return std::nullopt;
    const std::string& name = stream_.Pick(defined_);
    task.question = fmt::format("Which file defines {}? Answer with its path only.", name);
    task.gold = OneGold(facts_.definitions.at(name)[0]);
    task.meta["kind"] = "defines";
    return task;
  }

  std::optional<Task> Calls(Task task) {
    if (called_.empty()) return std::nullopt;
    const std::string& name = stream_.Pick(called_);
    task.question =
        fmt::format("At how many places is {} called? Answer with the number only.", name);
    task.gold = OneGold(std::to_string(facts_.calls.at(name)));
    task.scorer = "number";
    task.meta["kind"] = "calls";
    return task;
  }

  std::optional<Task> Imports(Task task) {
    if (importers_.empty()) return std::nullopt;
    const std::string& file = stream_.Pick(importers_);
    const auto& modules = facts_.imports.at(file);
    const std::vector<std::string> list(modules.begin(), modules.end());
    const std::vector<std::uint32_t> two = stream_.Sample(list.size(), 2);
    const std::string &a = list[two[0]], &b = list[two[1]];
    const auto both = std::count_if(
        facts_.imports.begin(), facts_.imports.end(),
        [&](const auto& one) { return one.second.contains(a) && one.second.contains(b); });
    if (both != 1) return std::nullopt;
    task.question =
        fmt::format("Which file imports both {} and {}? Answer with its path only.", a, b);
    task.gold = OneGold(file);
    task.meta["kind"] = "imports";
    return task;
  }

  std::optional<Task> Value(Task task) {
    if (constants_.empty()) return std::nullopt;
    const std::string& name = stream_.Pick(constants_);
    task.question =
        fmt::format("What is the value of the constant {}? Answer with the number only.", name);
    task.gold = OneGold(facts_.constants.at(name)[0]);
    task.scorer = "number";
    task.meta["kind"] = "constant";
    return task;
  }

  std::optional<Task> NeverCalled(Task task) {
    if (uncalled_.empty() || called_.size() < 3) return std::nullopt;
    std::vector<std::string> names{stream_.Pick(uncalled_)};
    const std::string gold = names[0];
    for (const std::uint32_t at : stream_.Sample(called_.size(), 3)) names.push_back(called_[at]);
    stream_.Shuffle(&names);
    task.question = "Which of these is never called?\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
      const char letter = static_cast<char>('A' + i);
      task.question += fmt::format("({}) {}\n", letter, names[i]);
      if (names[i] == gold) task.gold = OneGold(std::string(1, letter));
    }
    task.question +=
        "Format your response as follows: \"The correct answer is (insert answer here)\".";
    task.scorer = "choice";
    task.chance = 0.25;
    task.meta["choices"] = JsonArray{"A", "B", "C", "D"};
    task.meta["kind"] = "never called";
    return task;
  }

  const PythonFacts& facts_;
  RandomStream stream_;
  std::vector<std::string> defined_, called_, uncalled_, constants_, importers_;
};

class Code final : public Family {
 public:
  std::string_view name() const override { return "code"; }
  std::string_view about() const override {
    return "definitions, calls and imports of a Python tree";
  }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    if (const std::string folder = Setting(spec, "tree", ""); !folder.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const Tree tree, ReadTree(folder, spec.cancel));
      return Write(spec, tree, "code-tree-w0", spec.windows * spec.questions, sink);
    }
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows; ++number) {
        if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
        const RandomStream stream =
            RandomStream::For(name(), spec.seed, fmt::format("{}/window/{}", length, number));
        const auto make = [&](std::int64_t files) {
          std::string all;
          for (const auto& [path, text] : MakeTree(files, stream)) all += text;
          return all;
        };
        const std::int64_t files = LargestThatFits(length, 4, *spec.counter, make);
        if (files < 4) {
          return MakeError(ErrorCode::kConfig,
                           "--length {} is too small; the smallest that works is {}", length,
                           spec.counter->CountText(make(4)).upper());
        }
        DOSSIER_RETURN_IF_ERROR(Write(spec, MakeTree(files, stream),
                                      fmt::format("code-{}-w{}", LengthName(length), number),
                                      spec.questions, sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set,
                         const Relabel& relabel) const override {
    DOSSIER_ASSIGN_OR_RETURN(const auto prover, Open(task, set, relabel));
    return prover->Recompute(task);
  }
  Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                       const Relabel&) const override {
    const std::string root = "contexts/" + task.window + "/";
    std::vector<std::string> names;
    for (const ContextFile& file : task.contexts) {
      if (file.path.starts_with(root)) names.push_back(file.path.substr(root.size()));
    }
    DOSSIER_ASSIGN_OR_RETURN(Json facts, ParseTree(set.folder + "/" + root, names));
    return std::make_unique<CodeProver>(std::move(facts));
  }

 private:
  static constexpr Parameter kParameters[] = {
      {"tree", "", "a folder with Python sources; default: made ones"}};

  // Returns the parser's facts from files that exist only during this call.
  static Result<Json> ParseCopy(const Tree& tree) {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("dossier-code"));
    std::vector<std::string> names;
    for (const auto& [path, text] : tree) {
      const std::string full = folder.path() + "/" + path;
      DOSSIER_RETURN_IF_ERROR(MakeFolders(full.substr(0, full.rfind('/'))));
      DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(full, text));
      names.push_back(path);
    }
    return ParseTree(folder.path(), names);
  }

  Status Write(const FamilySpec& spec, const Tree& tree, const std::string& id,
               std::int64_t questions, TaskSink& sink) const {
    PythonFacts facts;
    std::vector<ContextFile> files;
    for (const auto& [path, text] : tree) {
      ReadPython(path, text, &facts);
      DOSSIER_RETURN_IF_ERROR(sink.Open(fmt::format("contexts/{}/{}", id, path)));
      DOSSIER_RETURN_IF_ERROR(sink.Write(text));
      DOSSIER_ASSIGN_OR_RETURN(ContextFile file, sink.Close(spec.counter->CountText(text).upper()));
      files.push_back(std::move(file));
    }
    DOSSIER_ASSIGN_OR_RETURN(const Json parsed, ParseCopy(tree));
    CodeQuestions draw(facts, RandomStream::For(name(), spec.seed, "questions/" + id));
    std::set<std::string> asked;
    const std::int64_t most_draws = questions * 20;
    std::int64_t number = 0;
    for (std::int64_t drawn = 0; drawn < most_draws && number < questions; ++drawn) {
      std::optional<Task> task = draw.Draw(drawn);
      if (!task || !asked.insert(task->question).second) continue;
      task->id = fmt::format("{}-q{}", id, number);
      const auto other = AnswerFromFacts(parsed, *task);
      if (!other || *other != task->gold) {
        sink.Refuse("readers_differ");
        continue;
      }
      ++number;
      task->family = name();
      task->window = id;
      task->contexts = files;
      DOSSIER_RETURN_IF_ERROR(sink.Add(std::move(*task)));
    }
    if (number > 0) return {};
    return MakeError(ErrorCode::kConfig, "{}: the tree has nothing that can be asked for", id);
  }
};

}  // namespace

const Family& CodeFamily() {
  static const Code kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
