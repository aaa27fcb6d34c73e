// What a small model reads off the passages of the first prompt, each put to it alone.
//
//   PassageReader reader(run, passages, metadata.hint);
//   if (auto reading = reader.Read()) …  // reading->answer stands in passage reading->place
//
// Shown several passages at once, a small model answers from the wrong one; of one passage it tells
// well whether it states the answer, and its probabilities tell better than its words
// (docs/small-models.md). An answer that needs more than one passage, as a count does, stands in
// none, so nothing is found. What is said of the documents themselves counts as one more passage,
// so that a question about the files is not answered from what one of them says about files. Waits
// for the model. Thread-safety: one owner.

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
  std::vector<Passage> places;      // `document` counts all documents of the context
  std::vector<std::string> titles;  // one for each: "novel.txt, line 812"
};

struct Reading {
  std::string answer, passage;  // the text of the passage
  std::size_t place = 0;        // index into ShownPassages::places
  // By how much the passage rather states the answer than not, in logarithms. Compares with 0, and
  // so tells whether one passage alone may be believed.
  double score = 0;
  // How unlikely the model found it to say that the passage does not state the answer, in
  // logarithms. Its level differs between languages, so it only ranks passages of one question.
  double stated = 0;
  bool clear = false;  // it stands above every other answer (Clearest)
  double rank() const { return score + stated; }
};

class PassageReader {
 public:
  // All must outlive the reader. `documents` tells which documents there are, and what they are.
  PassageReader(RunState& run, const ShownPassages& passages, std::string_view documents)
      : run_(run), passages_(passages), documents_(documents) {}

  // Whether the model can be asked like this at all, and limits leave room for it.
  bool possible() const;
  // The likeliest reading. None: no passage states an answer, what is said of the documents states
  // another, or a request failed.
  std::optional<Reading> Read();
  // What passages state, as far as the model believes it, whether one of them stands out or not.
  const std::vector<Reading>& readings() const { return readings_; }
  // What the model has read by now; parts of tables are passed over.
  const std::vector<Passage>& passages_read() const { return read_; }
  // Whether it has read all that it was to read, some of it, and none of that states any answer.
  bool found_nothing() const { return found_nothing_; }
  // Whether the model says that the question does not ask how often `text` stands in the context.
  bool DeniesCount(std::string_view text) const;

 private:
  using Values = std::map<std::string, std::string>;
  // An empty answer: the passage does not state it, or its judges doubt it. None: a request failed.
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

// The one of `readings` that stands above every other answer and may be believed without a second
// look; none if there is no such.
std::optional<Reading> Clearest(const std::vector<Reading>& readings, std::string_view question);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_READING_H_
