// The texts from which windows are made, each with the label of its meaning.
//
//   DOSSIER_ASSIGN_OR_RETURN(TextPool pool, TextPool::Open({}));            // the built-in one
//   pool.labels();                                                  // in byte order
//   pool.Text(label, 17);                                           // made when asked for
//
// A file is JSONL, {"text": …, "label": …}. Duplicate texts are merged. Texts with two labels, with
// fewer than 8 or more than 2,000 characters, or with a word of a label are dropped and counted.
// The built-in pool is a grammar with six labels, so that tests and first steps need no data.
//
// Thread-safety: immutable after construction.

#ifndef DOSSIER_EVALUATION_TASKS_POOL_H_
#define DOSSIER_EVALUATION_TASKS_POOL_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/task.h"

namespace dossier::evaluation {

struct TextPoolOptions {
  std::string path;  // empty: the built-in pool
  std::string text_field = "text", label_field = "label";
  enum class LeakyTexts : std::uint8_t { kDrop, kKeep } leaky = LeakyTexts::kDrop;
};

class TextPool {
 public:
  // Errors: those of the file; kConfig naming the line (a bad row, a label with a character that
  // the official parser removes) or what is missing (fewer than two labels).
  static Result<TextPool> Open(const TextPoolOptions& options);

  const std::vector<std::string>& labels() const { return labels_; }
  std::size_t Count(std::size_t label) const;
  std::string Text(std::size_t label, std::size_t index) const;
  const PoolInfo& info() const { return info_; }

 private:
  Status Read(const TextPoolOptions& options);

  std::vector<std::string> labels_;
  std::vector<std::vector<std::string>> texts_;  // by label; empty: the grammar
  PoolInfo info_;
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_POOL_H_
