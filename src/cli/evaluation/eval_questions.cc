// eval add: adds a question from a run to the user's own file. eval diff: finds where runs differ.

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/files/output_file.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "base/text/utf8.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/value_kinds.h"
#include "evaluation/run/questions.h"
#include "store/journal.h"

namespace dossier::cli {
namespace {

namespace fs = std::filesystem;

struct AddArguments {
  std::string file, run, gold, scorer, id;
  std::vector<std::string> contexts, tags;
};

struct DiffArguments {
  std::string task, base, head;
};

// Returns `text` as YAML that reads back as exactly this text.
std::string YamlText(std::string_view text) { return ToJson(Json(text)); }

std::string YamlList(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + YamlText(text);
  return "[" + list + "]";
}

struct AskedRun {
  std::string question, answer;
  std::vector<std::string> contexts;
};

// Returns the question of a run in the journal, and the files on its command line that exist.
Result<AskedRun> FindRun(const std::string& id) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, store::Journal::Open(data + "/runs"));
  DOSSIER_ASSIGN_OR_RETURN(const std::string run, journal->Resolve(id));
  DOSSIER_ASSIGN_OR_RETURN(const auto events, journal->Events(run));
  AskedRun asked;
  const auto text_at = [&journal](const Json& event, std::string_view name) -> std::string {
    const Json* value = Find(event, name);
    if (value == nullptr || value->is_string()) return TextAt(event, name);
    return journal->ReadBody(*value).value_or("");
  };
  for (const store::Event& event : events) {
    if (event.type == "run.started") {
      asked.question = text_at(Json(event.data), "question");
      const auto words = StringsOf(Find(event.data, "argv"));
      for (std::size_t i = 2; i < words.size(); ++i) {
        if (words[i] != asked.question && Exists(words[i]) && words[i - 1] != "--script") {
          asked.contexts.push_back(words[i]);
        }
      }
    } else if (event.type == "run.finished") {
      asked.answer = text_at(Json(event.data), "answer");
    }
  }
  return asked;
}

Result<std::string> WriteQuestion(const AddArguments& given, const AskedRun& asked) {
  std::vector<std::string> contexts = given.contexts.empty() ? asked.contexts : given.contexts;
  if (contexts.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "none of the files that the run read is here; name them by -c");
  }
  const fs::path folder = fs::absolute(given.file).parent_path();
  for (std::string& path : contexts) path = fs::absolute(path).lexically_relative(folder).string();
  const std::string& gold = given.gold.empty() ? asked.answer : given.gold;
  std::string row = given.id.empty() ? "" : "\"id\": " + YamlText(given.id) + ", ";
  row += fmt::format("\"question\": {}, \"contexts\": {}, \"gold\": {}", YamlText(asked.question),
                     YamlList(contexts), YamlText(gold));
  if (!given.scorer.empty()) row += ", \"scorer\": " + YamlText(given.scorer);
  if (!given.tags.empty()) row += ", \"tags\": " + YamlList(given.tags);
  return "{" + row + "}";
}

Status AddQuestion(const AddArguments& given, Context& context) {
  using evaluation::QuestionsForm;
  const bool lines = given.file.ends_with(".jsonl");
  if (!lines && !given.file.ends_with(".yml") && !given.file.ends_with(".yaml")) {
    return MakeError(ErrorCode::kUsage,
                     "{}: a question can be added to .yml, .yaml and .jsonl files", given.file);
  }
  DOSSIER_ASSIGN_OR_RETURN(const AskedRun asked, FindRun(given.run));
  DOSSIER_ASSIGN_OR_RETURN(const std::string row, WriteQuestion(given, asked));
  std::string text = lines ? "" : "questions:\n";
  if (Exists(given.file)) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadFile(given.file, 256u << 20));
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += lines ? row + "\n" : "  - " + row + "\n";
  // Writes only what parses as questions: the list may be elsewhere in the file. Nothing is sent to
  // a model here, so contexts may be anywhere.
  const auto read = evaluation::ParseQuestions(
      text, lines ? QuestionsForm::kJsonLines : QuestionsForm::kYaml, given.file,
      fs::path(given.file).parent_path().string(), context.cancel,
      evaluation::ContextsWanted::kOfLast, evaluation::kAnywhere);
  if (!read) {
    return MakeError(read.error().code, "{}; nothing was written. The question: {}",
                     read.error().message, row);
  }
  DOSSIER_RETURN_IF_ERROR(WriteOutput(given.file, {text}));
  context.out << fmt::format("{}: {} question{}; the last: {}\n", Safe(given.file),
                             read->tasks.size(), read->tasks.size() == 1 ? "" : "s",
                             Safe(read->tasks.back().task.id));
  return {};
}

void DeclareAdd(Flags& flags, AddArguments& to) {
  flags.Add("file", &to.file, "the questions file; it is made if it is not there")
      .Required()
      .Kind(kPath);
  flags.Add("--run", &to.run, "the run whose question it is; last: the newest")
      .Required()
      .Kind(kRun);
  flags.Add("--gold", &to.gold, "the right answer (default: what the run answered)");
  flags.Add("--scorer", &to.scorer, "how answers are compared with it");
  flags.Add("--id", &to.id, "its name").Kind(kName);
  flags.Add("--tag", &to.tags, "what it belongs to (repeat)");
  flags.Add("-c,--context", &to.contexts, "its files, if not those of the run (repeat)")
      .Kind(kPath);
}

// Reads the transcript of one question: one line per request.
Result<std::vector<Json>> ReadTranscript(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(path));
  std::vector<Json> lines;
  for (const std::string_view line : Split(text, '\n')) {
    if (auto value = ParseJson(line, 512)) lines.push_back(std::move(*value));
  }
  return lines;
}

// Returns the transcripts of `task`, without the part after the task's name.
Result<std::vector<std::string>> TranscriptsOf(const std::string& folder, const std::string& task) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator it(folder + "/transcripts", failure), end; !failure && it != end;
       it.increment(failure)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(task + ".")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (!names.empty()) return names;
  return MakeError(ErrorCode::kNotFound, "{}/transcripts: there is none of the task {}", folder,
                   task);
}

// Prints the first request that differs between two folders, or between two arms of one.
Result<int> DiffTask(const DiffArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const auto first_names, TranscriptsOf(given.base, given.task));
  const std::string head = given.head.empty() ? given.base : given.head;
  DOSSIER_ASSIGN_OR_RETURN(const auto second_names, TranscriptsOf(head, given.task));
  const std::string first = given.base + "/transcripts/" + first_names.front();
  const std::string second = head + "/transcripts/" + second_names.back();
  if (first == second) {
    return MakeError(ErrorCode::kUsage,
                     "{} has one transcript of {}; name another folder by --head", given.base,
                     given.task);
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto before, ReadTranscript(first));
  DOSSIER_ASSIGN_OR_RETURN(const auto after, ReadTranscript(second));
  const auto shown = [](const std::vector<Json>& lines, std::size_t i, std::string_view part) {
    const Json* value = i < lines.size() ? Find(lines[i], part) : nullptr;
    // A text with newlines is shown as lines, not escaped.
    return value ? ReplaceAll(ToPrettyJson(*value), "\\n", "\n") + "\n" : std::string("(none)\n");
  };
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    for (const char* part : {"request", "reply"}) {
      const std::string one = shown(before, i, part), other = shown(after, i, part);
      if (one == other) continue;
      context.out << fmt::format("{} {} of {}\n", part, i + 1, Safe(given.task))
                  << utf8::CleanForTerminal(UnifiedDiff(first, one, second, other));
      return kExitDifferences;
    }
  }
  context.out << fmt::format("all {} requests are equal\n", before.size());
  return 0;
}

void DeclareDiff(Flags& flags, DiffArguments& to) {
  to.base = "eval-gate";
  flags.Add("task", &to.task, "id of a task").Required().Kind(kWord);
  flags.Add("--base", &to.base, "folder of a run").Kind(kPath).ShowDefault();
  flags.Add("--head", &to.head, "folder of another run (default: another arm of the same)")
      .Kind(kPath);
}

}  // namespace

Command EvalAddCommand() {
  return {.name = "add",
          .summary = "make a question of a run that you have seen",
          .examples =
              "dossier eval add my.yml --run last --gold 2027-03-31\n"
              "    the newest question and its files, with the right answer",
          .binding = Bind(DeclareAdd, AddQuestion)};
}

Command EvalDiffCommand() {
  return {.name = "diff",
          .summary = "the first request in which two runs of a task differ",
          .binding = Bind(DeclareDiff, DiffTask)};
}

}  // namespace dossier::cli
