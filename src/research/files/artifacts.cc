#include "research/files/artifacts.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "assembly/sources/fence.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "research/files/languages.h"
#include "research/files/replies.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

constexpr std::size_t kMostFiles = 1000;
constexpr std::size_t kMostBytes = 64 << 20;  // of all files together
constexpr std::size_t kLongestPath = 1024;    // bytes
constexpr unsigned kModeBits = 0777;          // no set-user-id, no sticky bit

tl::unexpected<Error> Wrong(std::string_view path, std::string_view reason) {
  return MakeError(ErrorCode::kInvalidArgument, "{}: {}", path, reason);
}

std::string_view View(const boost::json::string& text) { return {text.data(), text.size()}; }

// A list with one element is treated as that element.
const Json& Unwrapped(const Json& value) {
  const auto* list = value.if_array();
  return list && list->size() == 1 ? list->front() : value;
}

// Returns a field, unwrapped; null if it is missing.
const Json* Part(const Json* value, std::string_view key) {
  const Json* part = value ? Find(*value, key) : nullptr;
  return part ? &Unwrapped(*part) : nullptr;
}

std::string TextOf(const Json* value, std::string_view key, std::string_view fallback = {}) {
  const auto text = value ? FindString(*value, key) : std::nullopt;
  const std::string_view trimmed = TrimSpace(text.value_or(""));
  return std::string(trimmed.empty() ? fallback : trimmed);
}

// Returns a path below the root, without "." and doubled slashes.
Result<std::string> RelativePath(std::string_view place, std::string_view path) {
  const auto refuse = [&](std::string_view reason) {
    return Wrong(place, fmt::format("\"{}\": {}", path.substr(0, 200), reason));
  };
  if (path.size() > kLongestPath) return refuse("path is too long");
  const bool plain = std::ranges::all_of(
      path, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7F; });
  if (!plain) return refuse("path holds a control character");
  if (path.starts_with('/')) return refuse("path is absolute; write it relative to the root");
  std::string clean;
  for (const std::string_view name : Split(path, '/')) {
    if (name.empty() || name == ".") continue;
    if (name == "..") return refuse("path leaves the workspace");
    clean += fmt::format("{}{}", clean.empty() ? "" : "/", name);
  }
  if (clean.empty()) return refuse("path names no file");
  return clean;
}

// The same for a path that may start with the root, or be the root: "".
Result<std::string> BelowRoot(std::string_view place, std::string_view path,
                              std::string_view root) {
  if (path == root || path == "." || path == "./") return std::string();
  if (path.starts_with(std::string(root) + "/")) path.remove_prefix(root.size() + 1);
  return RelativePath(place, path);
}

class ArtifactReader {
 public:
  explicit ArtifactReader(const ParseContext& context) : context_(context) {}

  Result<Artifacts> Read(const Json& value) && {
    const Json& whole = Unwrapped(value);
    const Json* artifacts = Found(whole);
    if (!artifacts || !artifacts->is_object()) {
      return Wrong("phase_artifacts", "there is none; it holds download, coding, compile and run");
    }
    const Json* download = Part(artifacts, "download");
    DOSSIER_ASSIGN_OR_RETURN(out_.download_commands, Texts(download, "commands", "download"));
    out_.download_notes = TextOf(download, "notes");
    DOSSIER_RETURN_IF_ERROR(ReadWorkspace(Part(Part(artifacts, "coding"), "workspace")));
    const Json* compile = Part(artifacts, "compile");
    DOSSIER_RETURN_IF_ERROR(ReadBuildPlan(Part(compile, "build_plan")));
    DOSSIER_ASSIGN_OR_RETURN(out_.compile_commands, Texts(compile, "commands", "compile"));
    const Json* run = Part(artifacts, "run");
    DOSSIER_ASSIGN_OR_RETURN(out_.run_commands, Texts(run, "commands", "run"));
    DOSSIER_RETURN_IF_ERROR(ReadExpectedOutputs(run));
    if (const Json* constraints = Find(whole, "constraints")) out_.constraints = *constraints;
    return std::move(out_);
  }

 private:
  static const Json* Found(const Json& whole) {
    if (const Json* named = Part(&whole, "phase_artifacts")) return named;
    if (const Json* plan = Part(&whole, "plan"); plan && plan->is_object()) return plan;
    return Find(whole, "coding") ? &whole : nullptr;
  }

  // Reads a list of texts; a single text is a list of one, and {"command": text} is a text.
  static Result<std::vector<std::string>> Texts(const Json* of, std::string_view key,
                                                std::string_view place) {
    std::vector<std::string> texts;
    const Json* value = of ? Find(*of, key) : nullptr;
    if (!value) return texts;
    const JsonArray list = value->is_array() ? value->get_array() : JsonArray{*value};
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json* item = &list[i];
      if (const Json* command = Find(*item, "command")) item = command;
      if (!item->is_string()) {
        return Wrong(fmt::format("{}.{}[{}]", place, key, i), "is no text");
      }
      if (const auto text = TrimSpace(View(item->get_string())); !text.empty()) {
        texts.emplace_back(text);
      }
    }
    return texts;
  }

  // As Texts, for flags: one text may contain several.
  static Result<std::vector<std::string>> Flags(const Json* of, std::string_view key,
                                                std::string_view place) {
    const auto text = of ? FindString(*of, key) : std::nullopt;
    if (!text) return Texts(of, key, place);
    std::vector<std::string> flags;
    for (const std::string_view flag : Split(*text, ' ')) {
      if (!TrimSpace(flag).empty()) flags.emplace_back(TrimSpace(flag));
    }
    return flags;
  }

  Status ReadWorkspace(const Json* workspace) {
    out_.root = TextOf(workspace, "root", context_.mount);
    while (out_.root.size() > 1 && out_.root.ends_with('/')) out_.root.pop_back();
    if (out_.root != context_.mount) {
      return Wrong("coding.workspace.root",
                   fmt::format("\"{}\"; it must be {}", out_.root, context_.mount));
    }
    DOSSIER_ASSIGN_OR_RETURN(out_.tree, Texts(workspace, "tree", "coding.workspace"));
    const Json* files = workspace ? Find(*workspace, "files") : nullptr;
    if (files && files->is_object()) {
      for (const auto& [path, content] : files->get_object()) {
        DOSSIER_RETURN_IF_ERROR(AddFile(JsonObject{{"path", path}, {"content", content}}));
      }
    } else if (files && files->is_array()) {
      for (const Json& file : files->get_array()) DOSSIER_RETURN_IF_ERROR(AddFile(file));
    }
    if (out_.files.empty()) return Wrong("coding.workspace.files", "there are no files");
    return CheckPaths();
  }

  Status AddFile(const Json& value) {
    const std::string place = fmt::format("coding.workspace.files[{}]", out_.files.size());
    if (out_.files.size() >= kMostFiles) {
      return Wrong(place, fmt::format("more than {} files", kMostFiles));
    }
    const auto path = FindString(value, "path"), content = FindString(value, "content");
    if (!path) return Wrong(place + ".path", "is no text");
    if (!content) return Wrong(place + ".content", "is no text");
    bytes_ += content->size();
    if (bytes_ > kMostBytes) {
      return Wrong(place, fmt::format("the files hold more than {}", FormatSize(kMostBytes)));
    }
    ArtifactFile file{.content = std::string(*content)};
    DOSSIER_ASSIGN_OR_RETURN(file.path, RelativePath(place + ".path", *path));
    const std::string encoding = ToLowerAscii(TextOf(&value, "encoding", "utf-8"));
    if (encoding != "utf-8" && encoding != "utf8") {
      return Wrong(place + ".encoding", fmt::format("\"{}\"; it must be utf-8", encoding));
    }
    DOSSIER_RETURN_IF_ERROR(ReadMode(value, place + ".mode", &file.mode));
    out_.files.push_back(std::move(file));
    return {};
  }

  // "0755", "755" or the number 755; four octal digits are kept.
  static Status ReadMode(const Json& file, std::string_view place, std::string* mode) {
    std::string text = TextOf(&file, "mode");
    if (const auto number = FindInt(file, "mode")) text = std::to_string(*number);
    if (text.empty()) return {};
    const std::string_view digits =
        std::string_view(text).substr(text.starts_with("0o") ? std::size_t{2} : 0);
    const char* const last = digits.data() + digits.size();
    unsigned bits = 0;
    const auto read = std::from_chars(digits.data(), last, bits, 8);
    if (read.ec != std::errc() || read.ptr != last || (bits & ~kModeBits) != 0) {
      return Wrong(place, fmt::format("\"{}\" is no mode like 0644", text.substr(0, 40)));
    }
    *mode = fmt::format("{:04o}", bits);
    return {};
  }

  // Checks that no path occurs twice, and that no file is also a folder of another.
  Status CheckPaths() const {
    std::set<std::string, std::less<>> paths;
    for (const ArtifactFile& file : out_.files) {
      if (!paths.insert(file.path).second) {
        return Wrong("coding.workspace.files", fmt::format("\"{}\" is there twice", file.path));
      }
    }
    for (const std::string& path : paths) {
      for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1)) {
        if (paths.contains(path.substr(0, at))) {
          return Wrong("coding.workspace.files",
                       fmt::format("\"{}\" is a file and a folder", path.substr(0, at)));
        }
      }
    }
    return {};
  }

  // Decided by the plan, else the configuration, else the files, else Python.
  Result<std::string> Language(const Json* plan) const {
    const bool is_free = context_.language == "auto" || context_.language.empty();
    const std::string named = TextOf(plan, "language");
    if (!named.empty()) {
      std::string language = LanguageOf(named);
      if (language.empty() || (!is_free && language != LanguageOf(context_.language))) {
        return Wrong("compile.build_plan.language",
                     fmt::format("\"{}\"; it must be {}", named,
                                 is_free ? "one of " + KnownLanguages() : context_.language));
      }
      return language;
    }
    if (!is_free) return LanguageOf(context_.language);
    for (const ArtifactFile& file : out_.files) {
      if (std::string language = LanguageOfFile(file.path); !language.empty()) return language;
    }
    return std::string("python");
  }

  Status CheckCompiler() const {
    constexpr std::string_view kPlace = "compile.build_plan.compiler_selected";
    if (!IsCompiled(out_.build.language)) return {};
    const std::string found = Join(context_.compilers, ", ");
    if (out_.build.compiler.empty()) {
      return Wrong(kPlace, fmt::format("{} needs a compiler; there are: {}", out_.build.language,
                                       found.empty() ? "(none found)" : found));
    }
    const bool is_known =
        context_.compilers.empty() ||
        std::ranges::find(context_.compilers, out_.build.compiler) != context_.compilers.end();
    if (is_known) return {};
    return Wrong(kPlace,
                 fmt::format("\"{}\" is not there; there are: {}", out_.build.compiler, found));
  }

  Status ReadBuildPlan(const Json* plan) {
    constexpr std::string_view kPlace = "compile.build_plan";
    BuildPlan& build = out_.build;
    DOSSIER_ASSIGN_OR_RETURN(build.language, Language(plan));
    build.compiler = TextOf(plan, "compiler_selected");
    DOSSIER_RETURN_IF_ERROR(CheckCompiler());
    DOSSIER_ASSIGN_OR_RETURN(build.cflags, Flags(plan, "cflags", kPlace));
    DOSSIER_ASSIGN_OR_RETURN(build.ldflags, Flags(plan, "ldflags", kPlace));
    build.workdir = TextOf(plan, "workdir", out_.root);
    DOSSIER_ASSIGN_OR_RETURN(const std::string below,
                             BelowRoot("compile.build_plan.workdir", build.workdir, out_.root));
    build.workdir = below.empty() ? out_.root : fmt::format("{}/{}", out_.root, below);
    const std::string data = "working/" + context_.output_name;
    build.output = TextOf(plan, "output", IsCompiled(build.language) ? "bin/a.out" : data);
    if (plan && plan->is_object()) build.fields = plan->get_object();
    build.fields["language"] = build.language;
    build.fields["compiler_selected"] = build.compiler;
    build.fields["cflags"] = JsonArray(build.cflags.begin(), build.cflags.end());
    build.fields["ldflags"] = JsonArray(build.ldflags.begin(), build.ldflags.end());
    build.fields["workdir"] = build.workdir;
    build.fields["output"] = build.output;
    return {};
  }

  Status ReadExpectedOutputs(const Json* run) {
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> named,
                             Texts(run, "expected_outputs", "run"));
    for (const std::string& path : named) {
      DOSSIER_ASSIGN_OR_RETURN(std::string below,
                               BelowRoot("run.expected_outputs", path, out_.root));
      if (below.empty()) return Wrong("run.expected_outputs", "the root is no output");
      out_.expected_outputs.push_back(std::move(below));
    }
    if (named.empty()) out_.expected_outputs.push_back("working/" + context_.output_name);
    return {};
  }

  const ParseContext& context_;
  Artifacts out_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<Artifacts> ReadArtifacts(const Json& value, const ParseContext& context) {
  return ArtifactReader(context).Read(value);
}

Result<Artifacts> ParseArtifacts(std::string_view payload, const ParseContext& context) {
  DOSSIER_ASSIGN_OR_RETURN(JsonReply reply, ReadJsonReply(payload));
  DOSSIER_ASSIGN_OR_RETURN(Artifacts artifacts, ReadArtifacts(reply.value, context));
  artifacts.warnings = std::move(reply.warnings);
  return artifacts;
}

JsonObject ArtifactsJson(const Artifacts& artifacts) {
  JsonArray files;
  for (const ArtifactFile& file : artifacts.files) {
    files.push_back(JsonObject{{"path", file.path},
                               {"mode", file.mode},
                               {"encoding", file.encoding},
                               {"content", file.content}});
  }
  return {{"phase_artifacts",
           JsonObject{
               {"download", JsonObject{{"commands", TextArray(artifacts.download_commands)},
                                       {"notes", artifacts.download_notes}}},
               {"coding", JsonObject{{"workspace", JsonObject{{"root", artifacts.root},
                                                              {"tree", TextArray(artifacts.tree)},
                                                              {"files", std::move(files)}}}}},
               {"compile", JsonObject{{"build_plan", artifacts.build.fields},
                                      {"commands", TextArray(artifacts.compile_commands)}}},
               {"run", JsonObject{{"commands", TextArray(artifacts.run_commands)},
                                  {"expected_outputs", TextArray(artifacts.expected_outputs)}}}}},
          {"constraints",
           artifacts.constraints.is_null() ? Json(JsonObject()) : artifacts.constraints}};
}

Result<PlanAndCode> ParsePlanAndCode(std::string_view payload) {
  const std::vector<FencedCode> fences = CodeFences(payload);
  PlanAndCode out;
  if (!fences.empty()) out.plan = TrimSpace(payload.substr(0, fences.front().begin));
  for (const FencedCode& fence : fences) {
    if (TrimSpace(fence.code).empty()) continue;
    out.code += (out.code.empty() ? "" : "\n") + fence.code;
  }
  if (out.code.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply holds no code; write the plan, then the program in one fence");
  }
  if (out.plan.empty()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply holds no plan; write some sentences before the first fence");
  }
  return out;
}

// The files of artefacts: on disk, and as text in prompts.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileLine = "// File: ";
// Follows the path if the file's last line has no line end. Paths contain no control characters.
constexpr std::string_view kNoLineEnd = "\t(no line end)";

tl::unexpected<Error> Refuse(std::string_view path, std::string_view reason) {
  return MakeError(ErrorCode::kInvalidArgument, "\"{}\": {}", path, reason);
}

// Checks that no existing component of `path` below `root` leads out of it or is not a folder.
Status CheckPlace(const fs::path& root, const std::string& path) {
  fs::path at = root;
  const fs::path relative(path);
  for (auto name = relative.begin(); name != relative.end(); ++name) {
    at /= *name;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(at, error);
    if (status.type() == fs::file_type::not_found) return {};
    if (error) return MakeError(ErrorCode::kIo, "{}: {}", at.string(), error.message());
    const bool is_last = std::next(name) == relative.end();
    if (status.type() == fs::file_type::symlink) {
      const fs::path target = fs::canonical(at, error);
      if (error || !IsInside(root, target)) {
        return Refuse(path, "a link leads out of the workspace, or nowhere");
      }
    }
    const bool is_folder = fs::is_directory(at, error);
    if (is_folder == is_last) {
      return Refuse(path, is_last ? "a folder of that name is there" : "a file stands in the way");
    }
  }
  return {};
}

// Returns the line of `text` at `at`, without its end; moves `at` to the next line.
std::string_view NextLine(std::string_view text, std::size_t* at) {
  const std::size_t end = std::min(text.find('\n', *at), text.size());
  const std::string_view line = text.substr(*at, end - *at);
  *at = std::min(end + 1, text.size());
  return line;
}

}  // namespace

Status WriteFiles(const Artifacts& artifacts, const std::string& workspace) {
  std::error_code error;
  const fs::path root = fs::canonical(workspace, error);
  if (error) return MakeError(ErrorCode::kIo, "{}: {}", workspace, error.message());
  for (const ArtifactFile& file : artifacts.files) {
    DOSSIER_RETURN_IF_ERROR(CheckPlace(root, file.path));
  }
  for (const ArtifactFile& file : artifacts.files) {
    const fs::path path = root / file.path;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(path.parent_path().string()));
    // Something that a program left there, such as a pipe, must not be written to.
    if (fs::symlink_status(path, error).type() != fs::file_type::regular) {
      DOSSIER_RETURN_IF_ERROR(RemoveAll(path.string()));
    }
    const auto mode = static_cast<unsigned>(std::stoul(file.mode, nullptr, 8));
    DOSSIER_RETURN_IF_ERROR(ReplaceFile(path.string(), {file.content},
                                        {.mode = mode, .durability = Durability::kSurvivesCrash}));
  }
  return {};
}

std::string SourcesText(std::span<const ArtifactFile> files) {
  std::string out;
  for (const ArtifactFile& file : files) {
    const std::string fence(assembly::GrowingFenceLength(file.content), '`');
    const bool ends = file.content.empty() || file.content.ends_with('\n');
    out += fmt::format("{}{}{}\n{}{}{}\n{}{}{}\n", out.empty() ? "" : "\n", fence,
                       LanguageOfFile(file.path), kFileLine, file.path, ends ? "" : kNoLineEnd,
                       file.content, ends ? "" : "\n", fence);
  }
  return out;
}

std::vector<ArtifactFile> SplitSources(std::string_view text) {
  std::vector<ArtifactFile> files;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view opening = NextLine(text, &at);
    const std::string_view fence = opening.substr(0, opening.find_first_not_of('`'));
    if (fence.size() < 3 || !text.substr(at).starts_with(kFileLine)) continue;
    std::string_view path = NextLine(text, &at).substr(kFileLine.size());
    const bool ends = !path.ends_with(kNoLineEnd);
    if (!ends) path.remove_suffix(kNoLineEnd.size());
    ArtifactFile file{.path = std::string(path)};
    while (at < text.size()) {
      const std::string_view line = NextLine(text, &at);
      if (line == fence) break;
      file.content += std::string(line) + "\n";
    }
    if (!ends && !file.content.empty()) file.content.pop_back();
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace dossier::research
