#include "research/files/phase_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/ascii.h"
#include "research/files/languages.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResultsFolder = "working";
constexpr std::size_t kMaxFieldName = 64;
constexpr int kDeepest = 256;  // maximum depth of nested folders that are copied

bool IsFieldName(std::string_view name) {
  if (name.empty() || name.size() > kMaxFieldName) return false;
  for (const char c : name) {
    const bool word = IsWordByte(c);
    if (!word) return false;
  }
  return true;
}

std::string FieldText(const Json& value) {
  if (value.is_string()) return std::string(std::string_view(value.get_string()));
  if (value.is_null()) return "";
  const auto* list = value.if_array();
  if (list == nullptr) return ToJson(value);
  std::string text;
  for (const Json& item : *list) text += (text.empty() ? "" : " ") + FieldText(item);
  return text;
}

Result<fs::path> RootOf(const std::string& workspace) {
  std::error_code error;
  fs::path root = fs::canonical(workspace, error);
  if (error) return MakeError(ErrorCode::kIo, "{}: {}", workspace, error.message());
  return root;
}

// Errors: kInvalidArgument if a file of the program is in the way.
Status MakeFolderBelow(const fs::path& root, const fs::path& relative) {
  const auto place = PlaceInside(root, relative);
  if (!place) return {};
  const Status made = MakeFolders(place->string());
  if (made || made.error().code != ErrorCode::kNotFound) return made;
  return MakeError(ErrorCode::kInvalidArgument, "\"{}\": a file stands in the way of this folder",
                   relative.string());
}

// Removes the name itself, not what a link points to, and nothing behind a folder that is a link.
Status RemoveBelow(const fs::path& root, const fs::path& relative) {
  const auto folder = PlaceInside(root, relative.parent_path());
  if (!folder && !relative.parent_path().empty()) return {};
  return RemoveAll(((folder ? *folder : root) / relative.filename()).string());
}

struct LanguageFacts {
  std::string_view language, ending;
  std::array<std::string_view, 4> compilers;  // the first that exists is used; "": none
};
constexpr std::array<LanguageFacts, 5> kPhaseLanguages = {{
    {"python", "py", {}},
    {"c", "c", {"gcc", "clang", "cc", "icx"}},
    {"cpp", "cpp", {"g++", "clang++", "c++", "icpx"}},
    {"fortran", "f90", {"gfortran", "ifx", "ifort", "flang"}},
    {"cuda", "cu", {"nvcc", "", "", ""}},
}};

const LanguageFacts& FactsOf(std::string_view language) {
  for (const LanguageFacts& facts : kPhaseLanguages) {
    if (facts.language == language) return facts;
  }
  return kPhaseLanguages[0];
}

std::string_view ChooseCompiler(const LanguageFacts& facts, const std::vector<std::string>& found) {
  for (const std::string_view name : facts.compilers) {
    for (const std::string& compiler : found) {
      if (!name.empty() && compiler == name) return name;
    }
  }
  return found.empty() ? facts.compilers[0] : std::string_view();
}

}  // namespace

std::string FillCommand(std::string_view command, const BuildPlan& build) {
  std::string filled;
  while (!command.empty()) {
    const std::size_t open = command.find('{');
    filled.append(command.substr(0, open));
    if (open == std::string_view::npos) break;
    command.remove_prefix(open);
    const std::size_t close = command.find('}');
    const std::string_view name =
        close == std::string_view::npos ? std::string_view() : command.substr(1, close - 1);
    const Json* field = IsFieldName(name) ? Find(build.fields, name) : nullptr;
    filled += field != nullptr ? FieldText(*field) : "{";
    command.remove_prefix(field != nullptr ? close + 1 : 1);
  }
  return filled;
}

Status PrepareWorkspace(const Artifacts& artifacts, const std::string& workspace) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(workspace));
  DOSSIER_ASSIGN_OR_RETURN(const fs::path root, RootOf(workspace));
  for (const std::string& output : artifacts.expected_outputs) {
    DOSSIER_RETURN_IF_ERROR(RemoveBelow(root, output));
  }
  // An earlier program run may have left a link or a pipe in its place.
  std::error_code ignored;
  const fs::path results = root / kResultsFolder;
  if (fs::symlink_status(results, ignored).type() != fs::file_type::directory) {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(results.string()));
  }
  DOSSIER_RETURN_IF_ERROR(WriteFiles(artifacts, workspace));
  DOSSIER_RETURN_IF_ERROR(MakeFolderBelow(root, kResultsFolder));
  for (const std::string& output : artifacts.expected_outputs) {
    DOSSIER_RETURN_IF_ERROR(MakeFolderBelow(root, fs::path(output).parent_path()));
  }
  const fs::path binary(artifacts.build.output);
  if (binary.is_absolute()) return {};
  return MakeFolderBelow(root, binary.parent_path());
}

std::optional<std::string> MissingOutput(const std::string& workspace, const std::string& path) {
  const auto root = RootOf(workspace);
  const auto place = root ? PlaceInside(*root, path) : std::nullopt;
  if (!place) return path + " is no file of the workspace";
  std::error_code error;
  const fs::file_status status = fs::status(*place, error);
  if (status.type() == fs::file_type::not_found) return path + " was not written";
  if (status.type() != fs::file_type::regular) return path + " is no file of the workspace";
  const auto size = fs::file_size(*place, error);
  if (error || size == 0) return path + " is empty";
  return {};
}

Result<Artifacts> ArtifactsOfCode(const std::string& code, const ParseContext& context) {
  const LanguageFacts& facts = FactsOf(LanguageOf(context.language));
  const std::string file = fmt::format("main.{}", facts.ending);
  JsonObject plan{{"language", facts.language}};
  JsonArray compile, run;
  if (facts.compilers[0].empty()) {
    run.emplace_back("python3 " + file);
  } else {
    const std::string_view compiler = ChooseCompiler(facts, context.compilers);
    if (compiler.empty()) {
      return MakeError(ErrorCode::kInvalidArgument, "there is no compiler for {} here",
                       facts.language);
    }
    plan["compiler_selected"] = compiler;
    plan["cflags"] = JsonArray{"-O2"};
    compile.emplace_back("{compiler_selected} {cflags} " + file + " -o {output}");
    run.emplace_back("./bin/a.out");
    plan["output"] = "bin/a.out";
  }
  const JsonObject artifacts{
      {"coding",
       JsonObject{{"workspace", JsonObject{{"files", JsonArray{JsonObject{{"path", file},
                                                                          {"content", code}}}}}}}},
      {"compile", JsonObject{{"build_plan", std::move(plan)}, {"commands", std::move(compile)}}},
      {"run", JsonObject{{"commands", std::move(run)}}}};
  return ReadArtifacts(artifacts, context);
}

Status CloneFile(const std::string& from, const std::string& to) {
  const UniqueFd source(open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts{};
  if (!source.valid() || fstat(source.get(), &facts) != 0) return MakeErrnoError(errno, from);
  const UniqueFd target(
      open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, facts.st_mode & 0777));
  if (target.valid() && ioctl(target.get(), FICLONE, source.get()) == 0 &&
      fchmod(target.get(), facts.st_mode & 07777) == 0) {
    return {};
  }
  const int reason = errno;
  if (target.valid()) unlink(to.c_str());
  return MakeErrnoError(reason, to);
}

Status CopyWorkspace(const std::string& from, const std::string& to, CopiedLinks links) {
  DOSSIER_RETURN_IF_ERROR(RemoveAll(to));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(to));
  const fs::path source(from), target(to);
  std::vector<std::pair<fs::path, fs::perms>>
      folders;  // their modes are set last, as they may deny us access
  std::error_code error;
  const auto pass_over_shut = [&error] {
    if (error == std::errc::permission_denied) error.clear();
  };
  fs::recursive_directory_iterator entry(source, fs::directory_options::skip_permission_denied,
                                         error),
      end;
  while (!error && entry != end) {
    const fs::path place = target / entry->path().lexically_relative(source);
    const fs::file_status status = entry->symlink_status(error);
    if (status.type() == fs::file_type::symlink) {
      if (links == CopiedLinks::kAsLinks) fs::copy_symlink(entry->path(), place, error);
    } else if (status.type() == fs::file_type::directory) {
      fs::create_directory(place, error);
      folders.emplace_back(place, status.permissions());
      // No longer path is possible, here or there, and each level uses a descriptor: a program that
      // nests so deeply harms only itself.
      const std::size_t longest = std::max(place.native().size(), entry->path().native().size());
      const bool deepest = entry.depth() >= kDeepest || longest + NAME_MAX + 2 > PATH_MAX;
      if (deepest) entry.disable_recursion_pending();
    } else if (status.type() == fs::file_type::regular) {
      if (!CloneFile(entry->path(), place)) fs::copy_file(entry->path(), place, error);
    }
    pass_over_shut();
    if (!error) entry.increment(error);
    pass_over_shut();
  }
  for (auto folder = folders.rbegin(); !error && folder != folders.rend(); ++folder) {
    fs::permissions(folder->first, folder->second, error);
  }
  if (error) return MakeError(ErrorCode::kIo, "copy {} to {}: {}", from, to, error.message());
  return {};
}

std::string SystemBeside(const std::string& workspace) {
  return workspace.substr(0, workspace.rfind('/')) + "/system";
}

Status MakeOwnFolder(const std::string& workspace, std::string_view name) {
  const std::string path = fmt::format("{}/{}", workspace, name);
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type != fs::file_type::directory) DOSSIER_RETURN_IF_ERROR(RemoveAll(path));
  return MakeFolders(path);
}

Status WriteOwnFile(const std::string& workspace, std::string_view name, std::string_view content) {
  const std::string path = fmt::format("{}/{}", workspace, name);
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type != fs::file_type::regular) DOSSIER_RETURN_IF_ERROR(RemoveAll(path));
  return WriteRunFile(path, content);
}

Result<std::string> ReadWorkspaceFile(const std::string& workspace, const std::string& path,
                                      std::uint64_t max_bytes) {
  DOSSIER_ASSIGN_OR_RETURN(const fs::path root, RootOf(workspace));
  const auto no_file = [&] {
    return MakeError(ErrorCode::kInvalidArgument, "{} is no file of the workspace", path);
  };
  const auto place = PlaceInside(root, path);
  if (!place) return no_file();
  // Without O_NONBLOCK, opening a pipe would block.
  const UniqueFd file(open(place->c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts{};
  if (!file.valid() || fstat(file.get(), &facts) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(facts.st_mode)) return no_file();
  return ReadFile(fmt::format("/proc/self/fd/{}", file.get()), max_bytes);
}

}  // namespace dossier::research
