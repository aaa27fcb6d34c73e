// Values of the data that a question names, and that the code which answers it leaves out.
//
//   const std::vector<std::string> values = NamedValues(texts, fields, question);
//   const std::string left_out = LeftOut(values, code);   // "billing": the code counts all
//   services
//
// A small model that is asked for one service's timeouts counts the timeouts of all, and does so in
// every attempt. Which words of a question are values and which are speech, no list of words can
// tell, but the data can: a value stands at the same place of each row that holds it, and not in
// every row. Words of free text stand anywhere. Thread-safety: pure functions.

#ifndef DOSSIER_ASK_POLICY_NAMED_VALUES_H_
#define DOSSIER_ASK_POLICY_NAMED_VALUES_H_

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::ask {

// The words of `question` that are values in the lines of `texts` (records, one or more lines
// each), as the question writes them. Names of `fields` are none. Reads the first megabytes of each
// text.
std::vector<std::string> NamedValues(std::span<const std::string_view> texts,
                                     const std::set<std::string, std::less<>>& fields,
                                     std::string_view question);

// The first of `values` that stands in none of `code`, whatever its case; empty if all do.
std::string LeftOut(std::span<const std::string> values, std::span<const std::string> code);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_NAMED_VALUES_H_
