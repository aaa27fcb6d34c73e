// What a model's reply says of a program: its files, how to build it, how to run it, what it
// writes.
//
//   const ParseContext context{.output_name = "matrix_opt_data.npy", .compilers = {"g++"}};
//   DOSSIER_ASSIGN_OR_RETURN(const Artifacts artifacts, ParseArtifacts(payload, context));
//   DOSSIER_RETURN_IF_ERROR(WriteFiles(artifacts, workspace));
//   prompt.code = SourcesText(artifacts.files);
//
// Errors: kInvalidArgument, one sentence with the path of the wrong value
// ("coding.workspace.files[0].path: "../../etc/x": path leaves the workspace"), which is told to
// the model. Thread-safety: plain data and pure functions, but for WriteFiles.

#ifndef DOSSIER_RESEARCH_FILES_ARTIFACTS_H_
#define DOSSIER_RESEARCH_FILES_ARTIFACTS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

struct ParseContext {
  std::string mount = "/workspace";  // exec.workspace_mount
  std::string language = "auto";     // exec.language
  std::string output_name = "experiment_data.npy";
  std::vector<std::string> compilers;  // that the probe found; empty: not known
};

struct ArtifactFile {
  std::string path;  // relative to the root, no "." or ".." in it
  std::string mode = "0644", encoding = "utf-8";
  std::string content;

  bool operator==(const ArtifactFile&) const = default;
};

struct BuildPlan {
  std::string language;  // "cpp": LanguageOf (languages.h)
  std::string compiler;  // `compiler_selected`; "" only of languages that are not compiled
  std::vector<std::string> cflags, ldflags;
  std::string workdir, output;
  JsonObject fields;  // all of it as stored, for `{name}` in commands
};

struct Artifacts {
  std::vector<std::string> download_commands;
  std::string download_notes;
  std::string root;
  std::vector<std::string> tree;
  std::vector<ArtifactFile> files;
  BuildPlan build;
  std::vector<std::string> compile_commands, run_commands;
  std::vector<std::string> expected_outputs;  // relative to the root
  Json constraints;                           // kept, never relied on
  std::vector<std::string> warnings;          // "payload_repaired: …"
};

// `payload`: a reply without its memory block.
Result<Artifacts> ParseArtifacts(std::string_view payload, const ParseContext& context);
// The same from JSON: from what ArtifactsJson made, too.
Result<Artifacts> ReadArtifacts(const Json& value, const ParseContext& context);
// {"phase_artifacts": …, "constraints": …}, the form in which models give it, with all defaults
// filled in.
JsonObject ArtifactsJson(const Artifacts& artifacts);

// Writes the files below `workspace`; before the first byte all are checked: no link leads out, no
// folder stands in the way. Errors: also kIo, kPermission.
Status WriteFiles(const Artifacts& artifacts, const std::string& workspace);

// Single mode: the text before the first fence, and all fences joined.
struct PlanAndCode {
  std::string plan, code;
};
Result<PlanAndCode> ParsePlanAndCode(std::string_view payload);

// Files as prompts show them: one fence each, with its language and a first line "// File: PATH".
// SplitSources gives the same files back: their paths and contents.
std::string SourcesText(std::span<const ArtifactFile> files);
std::vector<ArtifactFile> SplitSources(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_ARTIFACTS_H_
