// Makes a window of lines, each with a date, a user and a text whose label is not shown.
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
  std::string planted;  // inserted after the text
};

struct Window {
  std::vector<std::string> labels;  // in byte order
  std::vector<WindowLine> lines;    // in the order of the text
  std::string text, labelled;
  std::int64_t tokens = 0;  // of `text`
  std::int64_t length = 0;  // the most tokens that were asked for
};

struct WindowSpec {
  std::string family;       // selects the random streams
  std::int64_t length = 0;  // the most tokens of the text
  std::uint64_t seed = 1;
  std::int64_t number = 0;           // of the window
  std::string noun = "short notes";  // what the lines contain
};

// The token cost of a pool's lines: the tokens of a sample, evenly spaced over the pool.
struct LineCost {
  std::int64_t tokens = 0, lines = 0;
};

LineCost MeasureLines(const TextPool& pool, const tokens::Counter& counter);

// Errors: kConfig if the length is too small for five lines (with the smallest that works), or if
// the pool has too few texts of a label.
Result<Window> MakeWindow(const WindowSpec& spec, const TextPool& pool, const LineCost& cost,
                          const tokens::Counter& counter);

// Writes both texts of `window` again after lines were changed, and counts `tokens` again.
void WriteTexts(const WindowSpec& spec, const TextPool& pool, const tokens::Counter& counter,
                Window* window);

// Opens the pool that a family's spec names: --items, `map`, `drop_leaky`.
Result<TextPool> OpenPool(const FamilySpec& spec);

// Returns "16K" for 16384 and "1000" for 1000, as used in ids.
std::string LengthName(std::int64_t length);

// Writes both files of a window. Returns the context file.
Result<ContextFile> WriteWindow(const Window& window, const std::string& name, TaskSink& sink);

// Lists labels as questions do: `"a", "b"` without the quotation marks.
std::string ListOf(const std::vector<std::string>& labels);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_WINDOW_H_
