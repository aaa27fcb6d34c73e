// The built-in pool: own sentences about six topics, made from a small grammar. A sentence never
// holds the name of a topic, so its label has to be understood.
//
//   const grammar::Topic& topic = grammar::Topics()[0];
//   grammar::Text(topic, 0);   // "This morning Ines adjusted the finder scope behind the barn, …"
//
// Every index below Count(topic) gives another text. The words may change only together with the
// hashes of the tests: all sets at the same seed change with them.
// Thread-safety: pure functions over tables.

#ifndef DOSSIER_EVALUATION_TASKS_GRAMMAR_H_
#define DOSSIER_EVALUATION_TASKS_GRAMMAR_H_

#include <span>
#include <string>
#include <string_view>

namespace dossier::evaluation::grammar {

struct Topic {
  std::string_view label;
  std::span<const std::string_view> deeds;  // what was done
  std::span<const std::string_view> notes;  // what came of it
};

std::span<const Topic> Topics();  // by label
std::size_t Count(const Topic& topic);
std::string Text(const Topic& topic, std::size_t index);
std::string Hash();  // SHA-256 of all its words

// People, for other families too.
std::span<const std::string_view> People();

}  // namespace dossier::evaluation::grammar

#endif  // DOSSIER_EVALUATION_TASKS_GRAMMAR_H_
