// One window of lines, each with a date, a user and a text whose label is not written.
//
//   const LineCost cost = MeasureLines(pool, *counter);
//   DOSSIER_ASSIGN_OR_RETURN(Window window, MakeWindow({.family = "aggregate", .length = 16384},
//                                                      pool, cost, *counter));
//   window.text;       // what a system is given: at most 16,384 tokens
//   window.labelled;   // the same with the labels, for proofs
//
// Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_TASKS_WINDOW_H_
#define DOSSIER_EVALUATION_TASKS_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "evaluation/family.h"
#include "evaluation/tasks/pool.h"
#include "tokens/counter/counter.h"

namespace dossier::evaluation {

struct WindowLine {
  std::uint32_t label = 0;  // index in Window::labels
  std::uint32_t text = 0;   // index in the pool
  std::int32_t user = 0;
  std::int32_t day = 0;
  std::string planted;  // stands behind the text
};

struct Window {
  std::vector<std::string> labels;  // in byte order
  std::vector<WindowLine> lines;    // as they stand
  std::string text, labelled;
  std::int64_t tokens = 0;  // of `text`
};

struct WindowSpec {
  std::string family;       // whose streams are used
  std::int64_t length = 0;  // tokens that the text may have
  std::uint64_t seed = 1;
  std::int64_t number = 0;           // of the window
  std::string noun = "short notes";  // what the lines hold
};

// What the lines of a pool cost: the tokens of some, evenly spaced over it.
struct LineCost {
  std::int64_t tokens = 0, lines = 0;
};

LineCost MeasureLines(const TextPool& pool, const tokens::Counter& counter);

// Errors: kConfig where the length is too small for five lines (with the smallest that works), or
// the pool has too few texts of a label.
Result<Window> MakeWindow(const WindowSpec& spec, const TextPool& pool, const LineCost& cost,
                          const tokens::Counter& counter);

// Writes both texts of `window` anew, after lines were changed; `tokens` is counted again.
void WriteTexts(const WindowSpec& spec, const TextPool& pool, const tokens::Counter& counter,
                Window* window);

// The pool that the spec of a family names: --items, `map`, `drop_leaky`.
Result<TextPool> OpenPool(const FamilySpec& spec);

// "16K" for 16384, "1000" for 1000: as it stands in ids.
std::string LengthName(std::int64_t length);

// Writes both files of a window. Returns the context.
Result<ContextFile> WriteWindow(const Window& window, const std::string& name, TaskSink& sink);

// `"a", "b"` without the quotation marks: how questions list labels.
std::string ListOf(const std::vector<std::string>& labels);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_WINDOW_H_
