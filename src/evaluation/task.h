// Tasks with proved answers, and the folders that store them (docs/formats/task-set.md).
//
//   DOSSIER_ASSIGN_OR_RETURN(TaskSet set, TaskSet::Load("sets/aggregate"));
//   for (const Task& task : set.tasks) {
//     DOSSIER_ASSIGN_OR_RETURN(std::string window, set.ReadContext(task.contexts[0]));
//     …ask, then ScoreAnswer(task, answer)…
//   }
//
// A set never changes once it is written: a file whose hash differs from the manifest's is an
// error. Ownership: plain values. Thread-safety: plain data; functions only read files.

#ifndef DOSSIER_EVALUATION_TASK_H_
#define DOSSIER_EVALUATION_TASK_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::evaluation {

// The requirement of an answer: a model that understands meaning, or a program that counts well.
enum class Needs : std::uint8_t { kLabel, kStructure };

std::string_view NeedsName(Needs needs);  // "label", "structure"

struct ContextFile {
  std::string path;         // in the set's folder: "contexts/aggregate-16K-w3.txt"
  std::string sha256;       // of its bytes, in hex
  std::int64_t tokens = 0;  // by the set's tokenizer; 0: not counted (sizes are bytes)
};

struct Task {
  std::string id, family, window, question, scorer;
  Json gold;  // a list of strings, which the scorer interprets
  std::vector<ContextFile> contexts;
  JsonObject meta;
  Needs needs = Needs::kStructure;
  double chance = 0;     // expected score of a guess, 0 to 1
  JsonObject stub_gold;  // share of wrong labels ("0.1") -> the gold under those labels
};

struct PoolInfo {
  std::string sha256;     // of the pool's file, or of the built-in pool's lines
  std::int64_t rows = 0;  // the number of rows in use
  std::map<std::string, std::int64_t> dropped;  // rule -> rows
};

struct Manifest {
  std::vector<std::string> families;
  JsonObject parameters;  // as the user gave them, including defaults
  std::uint64_t seed = 1;
  std::string tokenizer;
  PoolInfo pool;
  std::vector<ContextFile> files;               // contexts/ and labelled/, by path
  std::string tasks_sha256;                     // of tasks.jsonl; empty: an older set
  std::map<std::string, std::int64_t> refused;  // gap rule -> number of questions refused
  double chance = 0, floor = 0;                 // means over the tasks
};

struct TaskSet {
  std::string folder;
  Manifest manifest;
  std::vector<Task> tasks;

  // Reads manifest.json and tasks.jsonl; hashes are checked when a file is read, or by CheckFiles.
  // Errors: kNotFound; kDamaged naming file and line (bad row, duplicate id, a context missing from
  // the manifest, gold of a wrong type).
  static Result<TaskSet> Load(const std::string& folder);

  // Errors: kNotFound, kIo; kDamaged naming both hashes.
  Result<std::string> ReadContext(const ContextFile& file) const;
  // Reads the labelled twin of a context; kNotFound if it has none.
  Result<std::string> ReadLabelled(const ContextFile& file) const;
  std::string PathOf(const ContextFile& file) const { return folder + "/" + file.path; }
  // Returns the path of the labelled twin in the set: contexts/x.txt -> labelled/x.txt.
  static std::string LabelledPath(std::string_view context_path);

  // Checks the hashes of all files, reading them in pieces. Errors: kNotFound, kDamaged.
  Status CheckFiles() const;
  // Checks the hash of tasks.jsonl. Errors: as CheckFiles.
  Status CheckTasks() const;
};

// Convert to and from a line of tasks.jsonl. Errors: kDamaged with the reason.
JsonObject TaskToJson(const Task& task);
Result<Task> TaskFromJson(const Json& row, const std::map<std::string, ContextFile>& files);
JsonObject ManifestToJson(const Manifest& manifest);
Result<Manifest> ManifestFromJson(const Json& value);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASK_H_
