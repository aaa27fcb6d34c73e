// Parses what a model's reply says about a program: its files, how to build and run it, and what it
// writes.
//
//   const ParseContext context{.output_name = "matrix_opt_data.npy", .compilers = {"g++"}};
//   DOSSIER_ASSIGN_OR_RETURN(const Artifacts artifacts, ParseArtifacts(payload, context));
//   DOSSIER_RETURN_IF_ERROR(WriteFiles(artifacts, workspace));
//   prompt.code = SourcesText(artifacts.files);
//
// Errors: kInvalidArgument, one sentence with the path of the wrong value
// ("coding.workspace.files[0].path: "../../etc/x": path leaves the workspace"), which is sent to
// the model. Thread-safety: plain data and pure functions, except WriteFiles.

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
  std::vector<std::string> compilers;  // found by the probe; empty: unknown
};

struct ArtifactFile {
  std::string path;  // relative to the root, without "." or ".."
  std::string mode = "0644", encoding = "utf-8";
  std::string content;

  bool operator==(const ArtifactFile&) const = default;
};

struct BuildPlan {
  std::string language;  // "cpp": LanguageOf (languages.h)
  std::string compiler;  // `compiler_selected`; "" only for languages that are not compiled
  std::vector<std::string> cflags, ldflags;
  std::string workdir, output;
  JsonObject fields;  // the whole object as stored, for `{name}` in commands
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
  Json constraints;                           // stored, never relied on
  std::vector<std::string> warnings;          // "payload_repaired: …"
};

// `payload`: a reply without its memory block.
Result<Artifacts> ParseArtifacts(std::string_view payload, const ParseContext& context);
// Reads the same from JSON, including the output of ArtifactsJson.
Result<Artifacts> ReadArtifacts(const Json& value, const ParseContext& context);
// Returns {"phase_artifacts": …, "constraints": …}, the form that models use, with all defaults
// filled in.
JsonObject ArtifactsJson(const Artifacts& artifacts);

// Writes the files below `workspace`. All paths are checked first: no link may lead out, and no
// folder may be in the place of a file. Errors: also kIo, kPermission.
Status WriteFiles(const Artifacts& artifacts, const std::string& workspace);

// For single mode: the text before the first fence, and the content of all fences joined.
struct PlanAndCode {
  std::string plan, code;
};
Result<PlanAndCode> ParsePlanAndCode(std::string_view payload);

// Returns the files as prompts show them: one fence each, with its language and a first line "//
// File: PATH". SplitSources restores their paths and contents.
std::string SourcesText(std::span<const ArtifactFile> files);
std::vector<ArtifactFile> SplitSources(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_ARTIFACTS_H_
