// The idea: the task text a run starts from.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Idea idea, ReadIdea(text, "idea.md"));
//   prefix.idea = IdeaSection(idea);
//
// Markdown with headings, or a JSON object with keys; letter case, blanks and `_` do not count:
// "## Short Hypothesis", "short_hypothesis". A first heading of another name is the title.
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_RUN_IDEA_H_
#define DOSSIER_RESEARCH_RUN_IDEA_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

inline constexpr std::size_t kMaxIdeaBytes = 1 << 20;

struct Idea {
  struct Part {
    std::string name;  // "Short Hypothesis"; of parts that this program does not know: as written
    Json value;        // text of Markdown, any value of JSON
  };
  std::string title;
  std::vector<Part> parts;  // known ones first, in their fixed order; without the title

  const Json* Find(std::string_view name) const;  // null: none
  // A part as text; "" if it is not there.
  std::string Text(std::string_view name) const;
};

// Errors: kDamaged, with all missing headings at once and an example (exit 4); kTooLong.
Result<Idea> ReadIdea(std::string_view text, std::string_view file);

// The value of section `Research idea`: all of it but what is empty, the same in every call, so
// that no step works on a part of the task, and the prefix of all prompts is one.
Json IdeaSection(const Idea& idea);
// idea.json: all parts under their names.
JsonObject IdeaJson(const Idea& idea);
// An idea that is complete, as an example.
std::string_view ExampleIdea();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_IDEA_H_
