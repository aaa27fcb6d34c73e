// Answers, task rows, dates and Python sources of any bytes: no reader fails but by its error, and
// every score lies between 0 and 1.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "evaluation/families/python_lexer.h"
#include "evaluation/score.h"
#include "evaluation/tasks/dates.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::evaluation;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Task task{.id = "t", .gold = dossier::JsonArray{"12", "(1, 2)"}};
  task.meta["choices"] = dossier::JsonArray{"ham", "spam"};
  for (const std::string& scorer : ScorerNames()) {
    task.scorer = scorer;
    for (const char* type : {"LABEL", "NUMERIC", "DATE", "COMPARISON", "USER"}) {
      task.meta["answer_type"] = std::string("ANSWER_TYPE.") + type;
      const auto score = ScoreAnswer(task, text);
      if (score &&
          (score->official < 0 || score->lenient > 1 || score->lenient < score->official)) {
        std::abort();
      }
    }
  }
  if (const auto day = ParseDate(text); day && ParseDate(IsoDate(*day)) != day) std::abort();
  CodeFacts facts;
  ReadPython("a.py", text, &facts);
  if (const auto json = dossier::ParseJson(text)) {
    (void)ManifestFromJson(*json);
    const std::map<std::string, ContextFile> files{{"contexts/a.txt", {.path = "contexts/a.txt"}}};
    if (const auto read = TaskFromJson(*json, files)) {
      if (!TaskFromJson(TaskToJson(*read), files)) std::abort();
    }
  }
  return 0;
}
