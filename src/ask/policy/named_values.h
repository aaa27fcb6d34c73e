// Finds values of the data that a question names but the code that answers it ignores.
//
//   const NamedValues values(texts, fields, question);
//   const std::string left_out = values.LeftOut(code, outputs);  // "billing": all were counted
//
// A small model that is asked for one service's timeouts counts the timeouts of all, in every
// attempt. No word list can tell which words of a question are values, but the data can: a value
// occurs at the same place of each row that contains it, and not in every row. Words of free text
// occur anywhere. Thread-safety: immutable after construction.

#ifndef DOSSIER_ASK_POLICY_NAMED_VALUES_H_
#define DOSSIER_ASK_POLICY_NAMED_VALUES_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ask/documents/document_search.h"

namespace dossier::ask {

// Returns true if `question` contains that document name, with or without folders: `config.go` and
// `server/config.go` name "server/config.go". A name without punctuation may be a plain word.
bool NamesDocument(std::string_view question, std::string_view name);

// Returns true if the run met a line of a document: an output shows it, or code names the document.
using LineMet = std::function<bool(const TextDocument& document, std::string_view line)>;

// Returns a sentence if the first number of the answer, or all of it, stands in a line of another
// document than the question names, beside a word of the question, no named one
// has the two, and the run met that line: what code computes may equal any number.
std::string FromOtherDocument(std::string_view answer, std::string_view question,
                              std::span<const TextDocument> documents, const LineMet& met);

class NamedValues {
 public:
  // Looks for words of `question` in the lines of `texts`, which are records of one or more lines;
  // names in `fields` are not values. Reads the first megabytes of each text. The texts must
  // outlive the object.
  NamedValues(std::vector<std::string_view> texts, const std::set<std::string, std::less<>>& fields,
              std::string_view question);

  // Returns the first value of the question that `code` ignores; empty if there is none. A value is
  // not ignored if it is in a text constant of the code or in one of `seen` (outputs, the answer),
  // if the code expresses it by another value of the same place ("open" for "not shipped"), or if
  // nearly all rows that the code's other constants select have it. kCells: only whole
  // cells, and all other values of the place are needed to express one.
  enum class Look { kEverywhere, kCells };
  std::string LeftOut(std::span<const std::string> code, std::span<const std::string> seen,
                      Look look = Look::kEverywhere) const;

  std::vector<std::string> words() const;  // the values, as written in the question

 private:
  using Hashes = std::unordered_set<std::uint64_t>;
  struct Value {
    std::string word;
    std::uint64_t hash = 0;
    std::uint64_t place = 0;  // position in its rows; odd: of a whole cell
  };
  bool IsExpressed(const Value& value, const Hashes& constants, Look look) const;

  std::vector<std::string_view> texts_;
  std::vector<Value> values_;  // by word
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_NAMED_VALUES_H_
