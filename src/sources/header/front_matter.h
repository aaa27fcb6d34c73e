// The front matter of notes, line by line: a bad line loses only itself.
//
//   const FrontMatter matter = ReadFrontMatter(text);
//   for (const FrontMatterEntry& entry : matter.entries) Use(entry.key, entry.values);
//
// Private to this module. Thread-safety: pure functions; the views are of the text that was given.

#ifndef DOSSIER_SOURCES_HEADER_FRONT_MATTER_H_
#define DOSSIER_SOURCES_HEADER_FRONT_MATTER_H_

#include <string>
#include <string_view>
#include <vector>

namespace dossier::sources {

struct FrontMatterEntry {
  enum class Kind { kScalar, kList };
  std::string_view key;
  Kind kind = Kind::kScalar;
  std::vector<std::string> values;  // of a scalar exactly one
  std::string_view raw;             // the value as it stands in the line, without a comment
};

struct FrontMatter {
  enum class State { kAbsent, kUnclosed, kRead };
  State state = State::kAbsent;
  std::vector<FrontMatterEntry> entries;  // in file order, duplicates too
  std::vector<std::string> problems;
  std::size_t first_line_end = 0;  // behind the opening line
  std::size_t end = 0;             // behind the closing line: where the body begins
};

FrontMatter ReadFrontMatter(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_FRONT_MATTER_H_
