// Parses the idea: the task text that a run starts from.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Idea idea, ReadIdea(text, "idea.md"));
//   prefix.idea = IdeaSection(idea);
//
// Markdown with headings, or a JSON object with keys; letter case, blanks and `_` are ignored: "##
// Short Hypothesis", "short_hypothesis". A first heading with an unknown name is the title.
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
    std::string name;  // "Short Hypothesis"; unknown parts as written
    Json value;        // text for Markdown, any value for JSON
  };
  std::string title;
  std::vector<Part> parts;  // known ones first, in a fixed order; without the title

  const Json* Find(std::string_view name) const;  // null: none
  // Returns a part as text; "" if it is missing.
  std::string Text(std::string_view name) const;
};

// Errors: kDamaged, with all missing headings and an example (exit 4); kTooLong.
Result<Idea> ReadIdea(std::string_view text, std::string_view file);

// Returns section `Research idea`: the whole idea without empty parts, the same in every call, so
// that no step sees only a part of the task and all prompts share one prefix.
Json IdeaSection(const Idea& idea);
// Returns idea.json: all parts under their names.
JsonObject IdeaJson(const Idea& idea);
// Returns a complete idea as an example.
std::string_view ExampleIdea();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_IDEA_H_
