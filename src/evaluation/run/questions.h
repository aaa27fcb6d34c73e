// The questions of a run: a task set, or a file with a user's own questions (docs/guide/eval.md).
//
//   DOSSIER_ASSIGN_OR_RETURN(AskedSet set, LoadQuestions("contracts.yml", {}));
//   for (const AskedTask& one : set.tasks) Ask(one.task.question, one.files);
//
// Ownership: plain values. Thread-safety: plain data; functions only read files.

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
  Task task;                       // gold is an empty list if the user gave none
  std::vector<std::string> files;  // paths to open its contexts, in order
  std::vector<std::string> tags;
  std::string folder;  // of its questions file, where a scorer runs; empty: unknown
  bool has_gold() const { return task.gold.is_array() && !task.gold.get_array().empty(); }
};

struct AskedSet {
  std::string name;    // "contracts.yml", "aggregate"
  std::string sha256;  // hash of everything that determines the questions
  std::vector<AskedTask> tasks;
  std::vector<std::string> left_out;      // secret files that patterns matched
  std::shared_ptr<const TaskSet> source;  // null for a questions file
};

// Loads a folder with a manifest as a task set, anything else as a questions file: YAML, JSON,
// JSONL (one question per line) or CSV (with a header line; semicolons separate contexts and tags),
// by file extension. Paths are relative to the file's folder and may contain * and **. A questions
// file may be untrusted, and contexts are sent to models: they must be below its folder, links
// resolved, or below one of `named`, which the user typed. Secret files (base/files/secret_files.h)
// are left out of what a folder or pattern matches, unless in `named`. Errors: kNotFound (the file,
// or a context without a match, with the nearest name); kRefused (a context outside, or a secret
// file that the questions name); kDamaged (a binary file); kConfig with FILE:LINE or the id: no
// context, unknown field or scorer, gold of a wrong type, a duplicate id.
Result<AskedSet> LoadQuestions(const std::string& path, const CancelToken& cancel,
                               const std::vector<std::string>& named = {});

// For the program's own questions: contexts may be anywhere.
inline const std::vector<std::string> kAnywhere = {"/"};

// Parses questions from text; paths are relative to `folder`. kOfLast: missing contexts are an
// error for the last question only; the others may belong to another machine.
enum class ContextsWanted : std::uint8_t { kOfAll, kOfLast };
enum class QuestionsForm : std::uint8_t { kYaml, kJsonLines, kCsv };
Result<AskedSet> ParseQuestions(std::string_view text, QuestionsForm form, const std::string& name,
                                const std::string& folder, const CancelToken& cancel,
                                ContextsWanted wanted = ContextsWanted::kOfAll,
                                const std::vector<std::string>& named = {});

// Convert to and from a line of a run folder's tasks.jsonl, which has everything that a report
// needs, but not the files. Errors: kDamaged.
Json AskedTaskToJson(const AskedTask& asked);
Result<AskedTask> AskedTaskFromJson(const Json& row);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_QUESTIONS_H_
