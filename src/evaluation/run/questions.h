// The questions of a run: a task set, or a file of a user's own questions (docs/guide/eval.md).
//
//   DOSSIER_ASSIGN_OR_RETURN(AskedSet set, LoadQuestions("contracts.yml", {}));
//   for (const AskedTask& one : set.tasks) Ask(one.task.question, one.files);
//
// Ownership: plain values. Thread-safety: plain data; functions over files only read.

#ifndef DOSSIER_EVALUATION_RUN_QUESTIONS_H_
#define DOSSIER_EVALUATION_RUN_QUESTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "evaluation/task.h"

namespace dossier::evaluation {

struct AskedTask {
  Task task;                       // gold is an empty list where the user gave none
  std::vector<std::string> files;  // its contexts as they can be opened, in order
  std::vector<std::string> tags;
  std::string folder;  // of its questions file, where a scorer runs; empty: it is not known
  bool has_gold() const { return task.gold.is_array() && !task.gold.get_array().empty(); }
};

struct AskedSet {
  std::string name;    // "contracts.yml", "aggregate"
  std::string sha256;  // of what decides about the questions
  std::vector<AskedTask> tasks;
  std::vector<std::string> left_out;      // secret files that patterns found
  std::shared_ptr<const TaskSet> source;  // null for a questions file
};

// A folder with a manifest is a task set, anything else a questions file: YAML, JSON, JSONL (one
// question a line) or CSV (a header line; contexts and tags are separated by semicolons), by the
// name's ending. Paths are relative to the file's folder and may hold * and **.
// A questions file may come from somebody else, and contexts are sent to models: they lie below the
// file's folder, links followed, or below one of `named`, which the user typed. Secret files
// (base/files/secret_files.h) are left out of what a folder or pattern finds, unless `named`.
// Errors: kNotFound (the file, or a context that nothing matches, with the nearest name); kRefused
// (a context outside, or a secret file that the questions name); kDamaged (a binary file); kConfig
// with FILE:LINE or the id: no context, unknown field or scorer, gold of a wrong type, an id twice.
Result<AskedSet> LoadQuestions(const std::string& path, const CancelToken& cancel,
                               const std::vector<std::string>& named = {});

// For questions of one's own program: contexts may lie wherever they say.
inline const std::vector<std::string> kAnywhere = {"/"};

// The same from text; `folder` is what its paths are relative to. kOfLast: contexts that are not
// there are an error for the last question only; the others may belong to another machine.
enum class ContextsWanted : std::uint8_t { kOfAll, kOfLast };
enum class QuestionsForm : std::uint8_t { kYaml, kJsonLines, kCsv };
Result<AskedSet> ParseQuestions(std::string_view text, QuestionsForm form, const std::string& name,
                                const std::string& folder, const CancelToken& cancel,
                                ContextsWanted wanted = ContextsWanted::kOfAll,
                                const std::vector<std::string>& named = {});

// One line of a run folder's tasks.jsonl, which holds all that a report needs, and back: without
// the files. Errors: kDamaged.
Json AskedTaskToJson(const AskedTask& asked);
Result<AskedTask> AskedTaskFromJson(const Json& row);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_QUESTIONS_H_
