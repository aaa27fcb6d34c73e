// A prompt from sections: a layout says where each stands and what gives way, the result fits the
// budget, and a report says what became of every section.
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
// With `seed`, the same input gives the same bytes. Units: tokens.
// Errors: kNotFound (layout, template, a required section without content), kConfig (the layout,
// with its line), kTooLong (what may not be cut does not fit; sizes named), kInvalidArgument.
// Ownership: plain values. Thread-safety: functions over files; any thread.

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

// Which layout: docs/formats/layouts.md has its keys. Made by one of the functions below.
struct Layout {
  std::string name, file, text;
};
Layout LayoutNamed(std::string name);  // of the user's folders, else built in
Layout LayoutFile(std::string path);
Layout LayoutText(std::string yaml);

// The content of one section of the layout.
struct Section {
  std::string name;
  std::string text;
  std::vector<std::string> items;  // instead of a text, where the layout says `fit: items`
  std::vector<Message> turns;      // instead of a text, for a history
};

struct AssembleOptions {
  Model model;             // whose window, tokenizer and rules hold
  std::string model_name;  // or one of the catalog that is not opened; both empty: the default
  std::optional<std::int64_t> budget;          // tokens; unset: what the layout says
  std::optional<std::int64_t> reserve_output;  // tokens for the reply
  std::map<std::string, std::string> variables;
  std::string layouts_dir;            // folder with layouts/ and prompts/ that comes first
  std::optional<std::uint64_t> seed;  // of the boundaries around untrusted text; unset: random
};

struct SectionReport {
  std::string name, zone;
  std::int64_t tokens = 0;
  std::string outcome;  // "kept", "cut", "dropped", "absent"
  std::string reason;   // why it was cut or dropped; else empty
};

struct Assembled {
  std::vector<Message> messages;  // the system text first, if there is one
  std::int64_t tokens = 0;        // of the whole request
  bool exact = false;             // the count
  std::vector<SectionReport> sections;
  std::vector<std::string> warnings;
  std::string report;  // all that is known, as JSON (docs/schemas/assembly-report.schema.json)
};

Result<Assembled> Assemble(const Layout& layout, const std::vector<Section>& sections,
                           const AssembleOptions& options = {});

}  // namespace dossier

#endif  // DOSSIER_ASSEMBLE_H_
