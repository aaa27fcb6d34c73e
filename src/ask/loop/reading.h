// Reads answers from the passages of the first prompt with a small model, one passage at a time.
//
//   PassageReader reader(run, passages, metadata.hint);
//   if (auto reading = reader.Read()) …  // reading->answer stands in passage reading->place
//
// When shown several passages at once, a small model answers from the wrong one; for a single
// passage it judges well whether it states the answer, and its probabilities judge better than its
// words (docs/small-models.md). An answer that needs several passages, such as a count, is in none
// of them, so nothing is found. The description of the documents is checked as one more passage, so
// that a question about the files is not answered from what one of them says about files. Waits for
// the model. Thread-safety: one owner.

#ifndef DOSSIER_ASK_LOOP_READING_H_
#define DOSSIER_ASK_LOOP_READING_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/document_search.h"
#include "ask/run/run_state.h"

namespace dossier::ask {

// Paragraphs of the context that the first prompt shows.
struct ShownPassages {
  std::string text;                 // as shown, each below its title
  std::vector<Passage> places;      // `document` is an index over all documents of the context
  std::vector<std::string> titles;  // one per place: "novel.txt, line 812"
};

struct Reading {
  std::string answer, passage;  // passage: its text
  std::size_t place = 0;        // index into ShownPassages::places
  // Log-odds that the passage states the answer rather than not. Comparable with 0, so it tells
  // whether one passage alone can be trusted.
  double score = 0;
  // How unlikely the model found it that the passage does not state the answer, as a logarithm. Its
  // level differs between languages, so it only ranks passages of one question.
  double stated = 0;
  bool clear = false;  // ranks clearly above every other answer (Clearest)
  double rank() const { return score + stated; }
};

class PassageReader {
 public:
  // All must outlive the reader. `documents` describes the documents that there are.
  PassageReader(RunState& run, const ShownPassages& passages, std::string_view documents)
      : run_(run), passages_(passages), documents_(documents) {}

  // Returns true if the model can be asked this way and limits leave room for it.
  bool possible() const;
  // Returns the likeliest reading. None if no passage states an answer, the description of the
  // documents states another one, or a request failed.
  std::optional<Reading> Read();
  // Returns the answers that the model believes passages state, even if none stands out.
  const std::vector<Reading>& readings() const { return readings_; }
  // Returns the passages that the model has read so far; parts of tables are skipped.
  const std::vector<Passage>& passages_read() const { return read_; }
  // Returns true if it read all its passages (at least one) and none states any answer.
  bool found_nothing() const { return found_nothing_; }
  // Returns true if the model says that the question does not ask how often `text` occurs.
  bool DeniesCount(std::string_view text) const;

 private:
  using Values = std::map<std::string, std::string>;
  // Returns an empty answer if the passage does not state it or is doubted; none: a request failed.
  std::optional<Reading> ReadOne(std::string_view passage, std::string_view title) const;
  bool DocumentsAgree(const Reading& reading) const;
  Result<Reading> Answer(const Values& values) const;
  std::optional<double> Judge(std::string_view role, const Values& values) const;

  RunState& run_;
  const ShownPassages& passages_;
  const std::string_view documents_;
  std::vector<Reading> readings_;
  std::vector<Passage> read_;
  bool found_nothing_ = false;
};

// Returns the reading that ranks clearly above every other answer and can be trusted without
// another check; none if there is no such reading.
std::optional<Reading> Clearest(const std::vector<Reading>& readings, std::string_view question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_READING_H_
