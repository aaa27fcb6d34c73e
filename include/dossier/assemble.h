// Assembles a prompt from sections. A layout defines where each section goes and what is cut first,
// the result fits the token budget, and a report says what happened to every section.
//
// [example]
//   const dossier::Layout layout = dossier::LayoutText(R"(
//   schema: dossier.layout/1
//   name: review
//   sections:
//     - {name: rules, zone: system, source: text, text: "Review the notes."}
//     - {name: notes, zone: volatile, source: data, fit: tail, floor: 20}
//     - {name: question, zone: request, source: data, required: true}
//   )");
//   auto prompt = dossier::Assemble(
//       layout, {{.name = "notes", .text = "…"}, {.name = "question", .text = "What is missing?"}},
//       {.model_name = "gpt-5-mini", .budget = 4000});
//   if (!prompt) return dossier::ExitCode(prompt.error().code);
//   for (const dossier::Message& message : prompt->messages) std::cout << message.text << "\n";
//   std::cout << prompt->tokens << " tokens\n";
// [/example]
//
// With `seed`, the same input gives the same bytes. Units: tokens. Errors: kNotFound (layout,
// template, a required section without content), kConfig (the layout, with its line), kTooLong (the
// parts that may not be cut do not fit; the message names the sizes), kInvalidArgument. Ownership:
// plain values. Thread-safety: functions over files; any thread.

#ifndef DOSSIER_ASSEMBLE_H_
#define DOSSIER_ASSEMBLE_H_

#include <dossier/model.h>
#include <dossier/result.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dossier {

// Selects a layout; docs/formats/layouts.md describes its keys. Made by one of the functions below.
struct Layout {
  std::string name, file, text;
};
Layout LayoutNamed(std::string name);  // from the user's folders, else a built-in one
Layout LayoutFile(std::string path);
Layout LayoutText(std::string yaml);

// The content of one section of the layout.
struct Section {
  std::string name;
  std::string text;
  std::vector<std::string> items;  // instead of `text`, if the layout says `fit: items`
  std::vector<Message> turns;      // instead of `text`, for a history
};

struct AssembleOptions {
  Model model;             // provides the window, tokenizer and rules
  std::string model_name;  // or the name of a catalog model, not opened; both empty: the default
  std::optional<std::int64_t> budget;          // tokens; unset: the layout's budget
  std::optional<std::int64_t> reserve_output;  // tokens for the reply
  std::map<std::string, std::string> variables;
  std::string layouts_dir;            // folder with layouts/ and prompts/, searched first
  std::optional<std::uint64_t> seed;  // for the boundaries around untrusted text; unset: random
};

struct SectionReport {
  std::string name, zone;
  std::int64_t tokens = 0;
  std::string outcome;  // "kept", "cut", "dropped", "absent"
  std::string reason;   // why it was cut or dropped; otherwise empty
};

struct Assembled {
  std::vector<Message> messages;  // the system text comes first, if there is one
  std::int64_t tokens = 0;        // size of the whole request
  bool exact = false;             // whether `tokens` is an exact count
  std::vector<SectionReport> sections;
  std::vector<std::string> warnings;
  std::string report;  // the complete report as JSON (docs/schemas/assembly-report.schema.json)
};

Result<Assembled> Assemble(const Layout& layout, const std::vector<Section>& sections,
                           const AssembleOptions& options = {});

}  // namespace dossier

#endif  // DOSSIER_ASSEMBLE_H_
