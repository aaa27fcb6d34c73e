// The work of phase 2, and what later phases need of it: writes files into the workspace, fills the
// fields of the build plan into commands, and finds expected outputs that are missing.
//
//   FillCommand("{compiler_selected} {cflags} -o {x}", build)     // "g++ -O3 -o {x}"
//   const auto missing = MissingOutput(workspace, "working/x_data.npy");
//
// A path that a link leads out of the workspace is never followed. Thread-safety: functions over
// files.

#ifndef DOSSIER_RESEARCH_FILES_PHASE_FILES_H_
#define DOSSIER_RESEARCH_FILES_PHASE_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "research/files/artifacts.h"

namespace dossier::research {

// A known `{name}` becomes the field's text, a list its items with spaces between; an unknown one
// stays. One pass: values are literal.
std::string FillCommand(std::string_view command, const BuildPlan& build);

// Writes the files, makes the folders that programs write to, removes earlier outputs.
Status PrepareWorkspace(const Artifacts& artifacts, const std::string& workspace);

// Why an expected output does not count: "working/x_data.npy was not written", "… is empty", "… is
// no file of the workspace"; nothing if it does.
std::optional<std::string> MissingOutput(const std::string& workspace, const std::string& path);

// The artefacts of single mode: one file and how to build and run it. Errors: kInvalidArgument (a
// compiled language without a compiler among `compilers`).
Result<Artifacts> ArtifactsOfCode(const std::string& code, const ParseContext& context);

// `to`, a new file that shares its blocks with `from` until one of them is changed. Errors: kIo,
// where the file system shares none.
Status CloneFile(const std::string& from, const std::string& to);

// Copies a workspace, or another folder, into a folder that is made; files share their blocks where
// the file system can. What is no file, folder or
// link is left out, and what its owner may not read. Errors: kIo.
enum class CopiedLinks : std::uint8_t { kAsLinks, kNone };
Status CopyWorkspace(const std::string& from, const std::string& to,
                     CopiedLinks links = CopiedLinks::kAsLinks);

// Where programs find the data of the experiment (experiment.data_folder), below the workspace.
inline constexpr std::string_view kInputFolder = "input";

// Where what a node's phase 1 installs into system folders is kept (SandboxSpec::system): beside
// its workspace.
std::string SystemBeside(const std::string& workspace);

// A folder of ours in the workspace; whatever else a program put in its place, such as a link,
// goes.
Status MakeOwnFolder(const std::string& workspace, std::string_view name);

// A file of ours in the workspace or in a folder of MakeOwnFolder; a link, a pipe or a folder that
// a program put in its place goes.
Status WriteOwnFile(const std::string& workspace, std::string_view name, std::string_view content);

// A regular file that a program wrote. Errors: kInvalidArgument, where it is none or a link leads
// out of the workspace; kNotFound; kTooLong; kIo.
Result<std::string> ReadWorkspaceFile(const std::string& workspace, const std::string& path,
                                      std::uint64_t max_bytes);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_PHASE_FILES_H_
