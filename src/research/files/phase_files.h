// File work of phase 2 and later phases: writes files into the workspace, fills fields of the build
// plan into commands, and finds missing expected outputs.
//
//   FillCommand("{compiler_selected} {cflags} -o {x}", build)     // "g++ -O3 -o {x}"
//   const auto missing = MissingOutput(workspace, "working/x_data.npy");
//
// Links that lead out of the workspace are never followed. Thread-safety: functions over files.

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

// Replaces a known `{name}` by the field's text, a list by its items joined with spaces; an unknown
// one stays. One pass: values are literal.
std::string FillCommand(std::string_view command, const BuildPlan& build);

// Writes the files, creates the folders that programs write to, and removes earlier outputs.
Status PrepareWorkspace(const Artifacts& artifacts, const std::string& workspace);

// Returns why an expected output does not count: "working/x_data.npy was not written", "… is
// empty", "… is no file of the workspace"; nothing if it counts.
std::optional<std::string> MissingOutput(const std::string& workspace, const std::string& path);

// Makes the artefacts of single mode: one file and how to build and run it. Errors:
// kInvalidArgument (a compiled language without a compiler in `compilers`).
Result<Artifacts> ArtifactsOfCode(const std::string& code, const ParseContext& context);

// Makes `to`, a new file that shares its blocks with `from` until one of them is changed. Errors:
// kIo if the file system cannot share blocks.
Status CloneFile(const std::string& from, const std::string& to);

// Copies a workspace, or another folder, into a folder that is created; files share blocks if the
// file system can. Anything that is not a file, folder or link, or that its owner cannot read, is
// left out. Errors: kIo.
enum class CopiedLinks : std::uint8_t { kAsLinks, kNone };
Status CopyWorkspace(const std::string& from, const std::string& to,
                     CopiedLinks links = CopiedLinks::kAsLinks);

// Folder below the workspace in which programs find the experiment's data (experiment.data_folder).
inline constexpr std::string_view kInputFolder = "input";

// Returns the folder, beside the workspace, for what phase 1 of a node installs into system folders
// (SandboxSpec::system).
std::string SystemBeside(const std::string& workspace);

// Makes a folder of ours in the workspace; anything else that a program put there, such as a link,
// is removed.
Status MakeOwnFolder(const std::string& workspace, std::string_view name);

// Writes a file of ours in the workspace or in a folder of MakeOwnFolder; a link, pipe or folder
// that a program put there is removed.
Status WriteOwnFile(const std::string& workspace, std::string_view name, std::string_view content);

// Reads a regular file that a program wrote. Errors: kInvalidArgument if it is not one or a link
// leads out of the workspace; kNotFound; kTooLong; kIo.
Result<std::string> ReadWorkspaceFile(const std::string& workspace, const std::string& path,
                                      std::uint64_t max_bytes);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_PHASE_FILES_H_
