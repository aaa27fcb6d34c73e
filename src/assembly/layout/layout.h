// A layout is a YAML file that lists the sections of one prompt; a template is a Markdown file with
// declared placeholders. This header reads both and finds them.
//
//   AssetFolders folders{.overrides = {"/home/me/.config/dossier"}};
//   DOSSIER_ASSIGN_OR_RETURN(Layout layout, FindLayout("recursion.small", folders));
//
// Thread-safety: plain data and pure functions; FindLayout reads files.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_H_
#define DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/result.h"

namespace dossier::assembly {

// The zones in cache order: what changes often comes late.
enum class Zone { kTools, kSystem, kStable, kHistory, kVolatile, kRequest };
enum class Fit { kWhole, kHead, kTail, kMiddle, kItems, kHistory, kFirstOf };
enum class FenceKind { kDefault, kNone, kTag, kHeading, kGrowing, kData, kMarkers };
enum class Trust { kTrusted, kUntrusted };

struct Placeholder {
  std::string name;
  enum class Need { kRequired, kOptional } need = Need::kRequired;
  Trust trust = Trust::kTrusted;
  std::string title;  // heading of the fence around a value; the name if empty
};

struct Template {
  std::string file;  // for messages: "prompts/recursion/system.md"
  enum class Braces { kDouble, kLiteral } braces = Braces::kDouble;
  std::vector<Placeholder> placeholders;
  std::string body;  // without the front matter
};

// Errors: kConfig with "FILE:LINE:COL: reason".
Result<Template> ParseTemplate(std::string_view markdown, std::string_view file);
// Renders in one pass; values are literal. `boundary` fences untrusted placeholders. Errors:
// kConfig naming template and placeholder if a required value is missing.
Result<std::string> RenderTemplate(const Template& text,
                                   const std::map<std::string, std::string>& values,
                                   std::string_view boundary);

// A source of section content: a row of the one table of `source:` names. A new source gets a row
// in layout.cc; docs/extending.md lists the other steps.
struct SectionSource {
  std::string_view name;
  Trust trust = Trust::kTrusted;  // unless the layout says otherwise; kUntrusted: not vouched for
  enum class Filled {
    kByLayout,  // from its own text, templates and variables
    kByDriver,  // by the code that runs the layout, unless `with` names a path or value
    kByPath,    // from the file that `with: {path: …}` names
    kByReader,  // by driver/section_reader.h itself
    kByMaker,   // by a maker of that name (app/section_makers.h)
  } filled = Filled::kByMaker;
};
std::span<const SectionSource> SectionSources();
// Returns null if there is no such source.
const SectionSource* FindSectionSource(std::string_view name);

struct LayoutSection {
  std::string name;
  Zone zone = Zone::kStable;
  Role role = Role::kUser;
  std::string source;         // one of SectionSources
  std::string template_name;  // "recursion/system.md"
  std::string text;           // of source: text
  std::string variable;       // of source: var
  Json with;                  // all of `with`, for the reader of the source; null if absent
  std::string title;
  Trust trust = Trust::kTrusted;
  FenceKind fence = FenceKind::kDefault;
  Fit fit = Fit::kWhole;
  double priority = 0.5;  // 0 to 1
  std::int64_t floor = 0, weight = 0;
  std::optional<std::int64_t> cap, cap_chars, tokens, min;
  double keep_ratio = 0.5;   // of fit: middle
  int keep_turns = 2;        // of fit: history
  double drop_to = 0.8;      // of fit: history
  std::string when, unless;  // variable names
  enum class Need { kRequired, kOptional } need = Need::kOptional;
  std::string changes;  // never, run, turn, call
  // The reaction to missing content: an error, unless the file says `optional: true`.
  enum class Missing { kIsAnError, kIsAllowed } missing = Missing::kIsAllowed;
  enum class Render { kMarkdown, kJson, kYaml } render = Render::kMarkdown;  // of data
  std::vector<std::string> alternatives;  // of fit: first-of, best first
  int line = 0, column = 0;               // position in the file, from 1; 0 if made in code
};

// A declared variable.
struct LayoutVariable {
  std::string name;
  enum class Need { kRequired, kOptional } need = Need::kOptional;
  std::optional<std::string> fallback;  // `default`
  std::vector<std::string> one_of;      // empty: any value
};

// Requested cache lifetimes of the prefix up to the end of a zone; empty: the provider's default.
// No lifetime is longer than that of an earlier zone.
struct LayoutCache {
  std::string system_ttl, stable_ttl, history_ttl;  // "5m"
  // kYes: the first token of one call is awaited before others with this prefix are sent.
  enum class WarmFirst { kNo, kYes } warm_first = WarmFirst::kNo;
};

struct Layout {
  std::string name, file, sha256;
  std::string found_as;  // the name it was looked up by; its file may have another name
  double window_share = 0.5;
  std::optional<std::int64_t> budget_tokens, reserve_output;
  std::vector<std::string> cascade;
  std::string lead;  // template of the neutral first user message
  std::vector<LayoutSection> sections;
  std::map<std::string, Template> templates;  // every template that the sections name, by name
  std::vector<LayoutVariable> vars;
  std::string about;
  LayoutCache cache;
  enum class Boundary { kRun, kProject } boundary = Boundary::kRun;  // whose id fences data
  std::vector<std::string> overrides;  // the user's files that replace built-in ones
};

// Folders that are searched before the built-in files: each may contain layouts/ and prompts/.
struct AssetFolders {
  std::vector<std::string> overrides;
};

// Looks for layouts/NAME.PROFILE.yaml (if a profile is given: "small", "large") and then
// layouts/NAME.yaml in each of `folders`, then among the built-in files, and loads the templates it
// names. Errors: kNotFound (nearest name, folders searched), kConfig ("FILE:LINE:COL: …").
Result<Layout> FindLayout(std::string_view name, const AssetFolders& folders,
                          std::string_view profile = {});
// Parses without loading templates: for checks and tests.
Result<Layout> ParseLayout(std::string_view yaml, std::string_view file);
// Finds a template by its name under prompts/, an override before the built-in one.
Result<Template> FindTemplate(std::string_view name, const AssetFolders& folders);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_LAYOUT_H_
