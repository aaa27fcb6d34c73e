// Values of the data that a question names, and that the code which answers it leaves out.
//
//   const NamedValues values(texts, fields, question);
//   const std::string left_out = values.LeftOut(code, outputs);  // "billing": all were counted
//
// A small model that is asked for one service's timeouts counts the timeouts of all, and does so in
// every attempt. Which words of a question are values and which are speech, no list of words can
// tell, but the data can: a value stands at the same place of each row that holds it, and not in
// every row. Words of free text stand anywhere. Thread-safety: immutable once made.

#ifndef DOSSIER_ASK_POLICY_NAMED_VALUES_H_
#define DOSSIER_ASK_POLICY_NAMED_VALUES_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace dossier::ask {

// Whether `question` writes that name of a document, with or without its folders: `config.go` and
// `server/config.go` name "server/config.go". A name without a mark in it ("notes") may be speech.
bool NamesDocument(std::string_view question, std::string_view name);

class NamedValues {
 public:
  // Looks for words of `question` in the lines of `texts`, which are records of one or more lines
  // each; names of `fields` are no values. Reads the first megabytes of each text. The texts must
  // outlive the object.
  NamedValues(std::vector<std::string_view> texts, const std::set<std::string, std::less<>>& fields,
              std::string_view question);

  // The first value of the question that `code` leaves out; empty if it leaves out none. A value is
  // not left out that a text constant of the code or one of `seen` (outputs, the answer) says, that
  // the code expresses by another value of the same place ("open" for "not shipped"), or that
  // nearly all rows have which the code's other constants pick.
  std::string LeftOut(std::span<const std::string> code, std::span<const std::string> seen) const;

  std::vector<std::string> words() const;  // the values, as the question writes them

 private:
  using Hashes = std::unordered_set<std::uint64_t>;
  struct Value {
    std::string word;
    std::uint64_t hash = 0;
    std::uint64_t place = 0;  // where it stands in its rows
  };
  bool IsExpressed(const Value& value, const Hashes& constants) const;

  std::vector<std::string_view> texts_;
  std::vector<Value> values_;  // by word
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_NAMED_VALUES_H_
