#include "agents/engine/agent_tools.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <re2/re2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/glob.h"
#include "base/files/walk.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sandbox/jail/jail.h"

namespace dossier::agents {
namespace {

// Limits of one result: several results must fit the window of a small model.
constexpr std::size_t kMaxResult = 16 << 10;  // bytes
constexpr std::size_t kMaxPaths = 300;        // for list_files
constexpr std::size_t kMaxMatches = 100;      // for search
constexpr std::size_t kMaxMatchLine = 200;    // code points
constexpr std::int64_t kDefaultLines = 400;   // for read_file
constexpr std::size_t kMaxPattern = 1000;     // bytes
constexpr Millis kRunLimit{120'000};

std::string Cut(std::string text, std::size_t limit = kMaxResult) {
  if (text.size() <= limit) return text;
  const std::size_t end = utf8::FloorBoundary(text, limit);
  return fmt::format("{}\n[left out: {} more bytes]", text.substr(0, end), text.size() - end);
}

// Keeps the end of the output, because it says how a program ended.
std::string Tail(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  std::size_t at = text.size() - limit;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return fmt::format("[left out: {} bytes]\n{}", at, text.substr(at));
}

Result<std::string> NeedText(const Json& arguments, std::string_view name) {
  if (const auto text = FindString(arguments, name)) return std::string(*text);
  return MakeError(ErrorCode::kInvalidArgument, "`{}` must be given, as a text", name);
}

Result<std::vector<std::string>> NeedTexts(const Json& arguments, std::string_view name) {
  const Json* list = Find(arguments, name);
  std::vector<std::string> texts = StringsOf(list);
  if (!texts.empty() && texts.size() == list->get_array().size()) return texts;
  return MakeError(ErrorCode::kInvalidArgument, "`{}` must be a list of texts", name);
}

bool IsText(std::string_view content) { return content.find('\0') == std::string_view::npos; }

}  // namespace

struct AgentTools::Tool {
  std::string_view name, about;
  enum class For { kBoth, kEngineer, kReviewer } whom;
  // For each argument: name, type, description; the name of an optional one ends in "?".
  struct Argument {
    std::string_view name, type, about;
  };
  std::vector<Argument> arguments;
  Result<std::string> (AgentTools::*run)(const Json& arguments, const CancelToken& cancel);

  Json Schema() const {
    JsonObject properties;
    JsonArray required;
    for (const Argument& argument : arguments) {
      const bool optional = argument.name.ends_with('?');
      const std::string_view name =
          argument.name.substr(0, argument.name.size() - (optional ? 1 : 0));
      JsonObject property{{"type", argument.type}, {"description", argument.about}};
      if (argument.type == "array") property["items"] = JsonObject{{"type", "string"}};
      if (name == "verdict") property["enum"] = JsonArray{"approved", "needs_changes", "rejected"};
      properties[name] = std::move(property);
      if (!optional) required.push_back(Json(name));
    }
    return JsonObject{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)},
                      {"additionalProperties", false}};
  }
};

const AgentTools::Tool AgentTools::kTools[] = {
    {"list_files",
     "Paths of the files that a glob fits.",
     Tool::For::kBoth,
     {{"glob?", "string", "such as src/**/*.py; all files without it"}},
     &AgentTools::ListFiles},
    {"read_file",
     "Lines of a file.",
     Tool::For::kBoth,
     {{"path", "string", "from the root"},
      {"offset?", "integer", "the first line, from 1"},
      {"limit?", "integer", "how many lines"}},
     &AgentTools::ReadOne},
    {"search",
     "Lines that a regular expression fits.",
     Tool::For::kBoth,
     {{"pattern", "string", "RE2 syntax"}, {"glob?", "string", "only in these files"}},
     &AgentTools::Search},
    {"write_file",
     "Makes a file, or replaces all of it.",
     Tool::For::kEngineer,
     {{"path", "string", "from the root"}, {"content", "string", "all of the file"}},
     &AgentTools::WriteOne},
    {"replace_in_file",
     "Replaces a text that stands in a file exactly once.",
     Tool::For::kEngineer,
     {{"path", "string", "from the root"},
      {"old", "string", "the exact text"},
      {"new", "string", "what stands there then"}},
     &AgentTools::ReplaceIn},
    {"delete_file",
     "Removes a file.",
     Tool::For::kEngineer,
     {{"path", "string", "from the root"}},
     &AgentTools::DeleteOne},
    {"run",
     "Runs a program in the root, without network. Only some are allowed.",
     Tool::For::kEngineer,
     {{"argv", "array", "the program and its arguments"}},
     &AgentTools::RunProgram},
    {"finish",
     "Ends the work: the change is complete.",
     Tool::For::kEngineer,
     {{"summary", "string", "what was changed"}},
     &AgentTools::FinishWork},
    {"verdict",
     "Ends the review.",
     Tool::For::kReviewer,
     {{"verdict", "string", "the decision"},
      {"token?", "string", "the approval token, to approve"},
      {"comments", "string", "why; what to change"}},
     &AgentTools::GiveVerdict},
};

bool AgentTools::Offers(const Tool& tool) const {
  if (tool.run == &AgentTools::RunProgram && options_.commands.empty()) return false;
  return tool.whom == Tool::For::kBoth ||
         (tool.whom == Tool::For::kEngineer) == (options_.role == Role::kEngineer);
}

std::vector<assembly::ToolSpec> AgentTools::Specs() const {
  std::vector<assembly::ToolSpec> specs;
  for (const Tool& tool : kTools) {
    if (!Offers(tool)) continue;
    specs.push_back({std::string(tool.name), std::string(tool.about), tool.Schema()});
    if (tool.run != &AgentTools::RunProgram) continue;
    for (const auto& command : options_.commands) {
      specs.back().description += fmt::format(" `{}`", Join(command, " "));
    }
  }
  return specs;
}

std::string AgentTools::Answer(const model::ToolCall& call, const CancelToken& cancel) {
  for (const Tool& tool : kTools) {
    if (tool.name != call.name || !Offers(tool)) continue;
    auto answer = (this->*tool.run)(call.arguments, cancel);
    return answer ? Cut(std::move(*answer)) : "error: " + answer.error().message;
  }
  return fmt::format("error: there is no tool {}", call.name);
}

Status AgentTools::MayWrite(const std::string& path) const {
  if (!options_.refuse_write) return {};
  const auto why = options_.refuse_write(path);
  if (!why) return {};
  return MakeError(ErrorCode::kRefused, "{} must not be changed: {}", path, *why);
}

Result<std::string> AgentTools::ListFiles(const Json& arguments, const CancelToken& cancel) {
  const std::string glob = TextAt(arguments, "glob");
  DOSSIER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files_.List(glob, cancel));
  const std::size_t all = paths.size();
  if (all == 0) return std::string("no file");
  paths.resize(std::min(all, kMaxPaths));
  std::string text = Join(paths, "\n");
  if (all > paths.size()) text += fmt::format("\n[left out: {} more files]", all - paths.size());
  return text;
}

Result<std::string> AgentTools::ReadOne(const Json& arguments, const CancelToken&) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, NeedText(arguments, "path"));
  DOSSIER_ASSIGN_OR_RETURN(const std::string content, files_.Read(path));
  if (!IsText(content)) {
    return MakeError(ErrorCode::kInvalidArgument, "{} is no text ({} bytes)", path, content.size());
  }
  const std::int64_t first = std::max<std::int64_t>(FindInt(arguments, "offset").value_or(1), 1);
  const std::int64_t count =
      std::max<std::int64_t>(FindInt(arguments, "limit").value_or(kDefaultLines), 1);
  const std::vector<std::string_view> lines = Split(content, '\n');
  const auto total = static_cast<std::int64_t>(lines.size()) - (lines.back().empty() ? 1 : 0);
  std::string text;
  const std::int64_t end = count > total - first + 1 ? total : first + count - 1;
  for (std::int64_t line = first; line <= end; ++line) {
    text += fmt::format("{}\n", lines[static_cast<std::size_t>(line - 1)]);
  }
  if (first > 1 || end < total) text += fmt::format("[lines {} to {} of {}]", first, end, total);
  return utf8::Sanitize(text);
}

Result<std::string> AgentTools::Search(const Json& arguments, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string pattern, NeedText(arguments, "pattern"));
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(8 << 20);
  const RE2 expression(pattern.substr(0, kMaxPattern + 1), options);
  if (!expression.ok() || pattern.size() > kMaxPattern) {
    return MakeError(ErrorCode::kInvalidArgument, "`pattern`: {}",
                     expression.ok() ? "too long" : expression.error());
  }
  const std::string glob = TextAt(arguments, "glob");
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, files_.List(glob, cancel));
  std::string text;
  std::size_t matches = 0;
  for (const std::string& path : paths) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    const auto content = files_.Read(path);
    if (!content || !IsText(*content)) continue;
    std::size_t number = 0;
    for (const std::string_view line : Split(*content, '\n')) {
      ++number;
      if (!RE2::PartialMatch({line.data(), line.size()}, expression)) continue;
      if (++matches > kMaxMatches) continue;
      text += fmt::format("{}:{}: {}\n", path, number,
                          utf8::Prefix(utf8::Sanitize(line), kMaxMatchLine));
    }
  }
  if (matches == 0) return std::string("no match");
  if (matches > kMaxMatches) text += fmt::format("[left out: {} more]", matches - kMaxMatches);
  return text;
}

Result<std::string> AgentTools::WriteOne(const Json& arguments, const CancelToken&) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, NeedText(arguments, "path"));
  DOSSIER_ASSIGN_OR_RETURN(const std::string content, NeedText(arguments, "content"));
  DOSSIER_RETURN_IF_ERROR(MayWrite(path));
  DOSSIER_RETURN_IF_ERROR(files_.Write(path, content));
  return fmt::format("{} has {} bytes", path, content.size());
}

Result<std::string> AgentTools::ReplaceIn(const Json& arguments, const CancelToken&) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, NeedText(arguments, "path"));
  DOSSIER_ASSIGN_OR_RETURN(const std::string old_text, NeedText(arguments, "old"));
  DOSSIER_ASSIGN_OR_RETURN(const std::string new_text, NeedText(arguments, "new"));
  DOSSIER_RETURN_IF_ERROR(MayWrite(path));
  DOSSIER_ASSIGN_OR_RETURN(std::string content, files_.Read(path));
  const std::size_t at = old_text.empty() ? std::string::npos : content.find(old_text);
  if (at == std::string::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "`old` does not stand in {}", path);
  }
  if (content.find(old_text, at + 1) != std::string::npos) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "`old` stands in {} more than once; give more of the text around it", path);
  }
  content.replace(at, old_text.size(), new_text);
  DOSSIER_RETURN_IF_ERROR(files_.Write(path, content));
  return fmt::format("replaced in {}", path);
}

Result<std::string> AgentTools::DeleteOne(const Json& arguments, const CancelToken&) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, NeedText(arguments, "path"));
  DOSSIER_RETURN_IF_ERROR(MayWrite(path));
  DOSSIER_RETURN_IF_ERROR(files_.Remove(path));
  return fmt::format("{} is removed", path);
}

Result<std::string> AgentTools::RunProgram(const Json& arguments, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> argv, NeedTexts(arguments, "argv"));
  const bool allowed =
      std::any_of(options_.commands.begin(), options_.commands.end(), [&](const auto& prefix) {
        return !prefix.empty() && prefix.size() <= argv.size() &&
               std::equal(prefix.begin(), prefix.end(), argv.begin());
      });
  if (!allowed) {
    return MakeError(ErrorCode::kRefused, "`{}` is not among the commands that may run",
                     Join(argv, " "));
  }
  sandbox::JailSpec jail;
  jail.read = jail.write = {options_.root};
  jail.folder = options_.root;
  jail.environment = options_.environment;
  jail.limits.wall = kRunLimit;
  if (!options_.degraded.empty()) sandbox::AcceptMissing(options_.degraded, &jail);
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit,
                           sandbox::RunJailed(jail, argv, {.cancel = cancel}));
  return fmt::format("exit code {}{}\n{}{}", exit.shell_status(),
                     exit.timed_out() ? " (out of time)" : "",
                     utf8::Sanitize(Tail(exit.out, kMaxResult / 2)),
                     utf8::Sanitize(Tail(exit.err, kMaxResult / 3)));
}

Result<std::string> AgentTools::FinishWork(const Json& arguments, const CancelToken&) {
  ending_ = Ending{.summary = TextAt(arguments, "summary")};
  return std::string("finished");
}

Result<std::string> AgentTools::GiveVerdict(const Json& arguments, const CancelToken&) {
  DOSSIER_ASSIGN_OR_RETURN(std::string verdict, NeedText(arguments, "verdict"));
  verdict = ToLowerAscii(verdict);
  if (verdict != "approved" && verdict != "needs_changes" && verdict != "rejected") {
    return MakeError(ErrorCode::kInvalidArgument,
                     "`verdict` must be approved, needs_changes or rejected");
  }
  ending_ = Ending{.summary = TextAt(arguments, "comments"),
                   .verdict = verdict,
                   .token = TextAt(arguments, "token")};
  return std::string("noted");
}

namespace {

constexpr std::size_t kMaxListed = 100'000;
constexpr std::size_t kReadBlock = 64 << 10;

enum class Links { kInside, kNone };

UniqueFd OpenBeneath(int folder, const std::string& path, int flags, Links links) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? 0644 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::kNone) how.resolve |= RESOLVE_NO_SYMLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how))));
}

tl::unexpected<Error> Failure(int reason, const std::string& path) {
  switch (reason) {
    case EXDEV:
      return MakeError(ErrorCode::kPermission, "{} leads out of the worktree", path);
    case ELOOP:
      return MakeError(ErrorCode::kPermission, "{} goes through a link", path);
    case ENOENT:
    case ENOTDIR:
      return MakeError(ErrorCode::kNotFound, "there is no file {}", path);
    default:
      return MakeErrnoError(reason, path);
  }
}

Result<std::string> ReadAll(int fd, const std::string& path) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kNotFound, "{} is not a regular file", path);
  }
  if (static_cast<std::uint64_t>(info.st_size) > kMaxToolFile) {
    return MakeError(ErrorCode::kTooLong, "{} has {} bytes; at most {} are read", path,
                     info.st_size, kMaxToolFile);
  }
  std::string text;
  while (text.size() <= kMaxToolFile) {
    const std::size_t before = text.size();
    text.resize(before + kReadBlock);
    const ssize_t got = read(fd, text.data() + before, kReadBlock);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) return MakeErrnoError(errno, path);
    if (got == 0) return text;
  }
  return MakeError(ErrorCode::kTooLong, "{} grows while it is read", path);
}

bool IsOurs(std::string_view path) {
  return path == ".git" || path.starts_with(".git/") || path.starts_with(".agent/");
}

}  // namespace

Result<TreeFiles> TreeFiles::Open(const std::string& root) {
  UniqueFd folder(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return MakeErrnoError(errno, root);
  return TreeFiles(root, std::move(folder));
}

Result<std::string> TreeFiles::Read(const std::string& path) const {
  const UniqueFd fd = OpenBeneath(folder_.get(), path, O_RDONLY | O_NONBLOCK, Links::kInside);
  if (!fd.valid()) return Failure(errno, path);
  return ReadAll(fd.get(), path);
}

// Opens the folder of `path`; `name` receives the rest.
Result<UniqueFd> TreeFiles::OpenParent(const std::string& path, bool make,
                                       std::string* name) const {
  UniqueFd at = OpenBeneath(folder_.get(), ".", O_RDONLY | O_DIRECTORY, Links::kNone);
  std::vector<std::string_view> parts = Split(path, '/');
  if (path.empty() || parts.back().empty() || parts.back() == "." || parts.back() == "..") {
    return MakeError(ErrorCode::kNotFound, "'{}' names no file", path);
  }
  *name = parts.back();
  parts.pop_back();
  if (path.front() == '/') return Failure(EXDEV, path);
  for (const std::string_view part : parts) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return Failure(EXDEV, path);
    const std::string folder(part);
    if (make && mkdirat(at.get(), folder.c_str(), 0755) != 0 && errno != EEXIST) {
      return Failure(errno, path);
    }
    at = OpenBeneath(at.get(), folder, O_RDONLY | O_DIRECTORY, Links::kNone);
    if (!at.valid()) return Failure(errno, path);
  }
  return at;
}

Status TreeFiles::Write(const std::string& path, std::string_view content) const {
  std::string name;
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd parent, OpenParent(path, /*make=*/true, &name));
  const UniqueFd fd =
      OpenBeneath(parent.get(), name, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, Links::kNone);
  if (!fd.valid()) return Failure(errno, path);
  return WriteAll(fd.get(), content);
}

Status TreeFiles::Remove(const std::string& path) const {
  std::string name;
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd parent, OpenParent(path, /*make=*/false, &name));
  if (unlinkat(parent.get(), name.c_str(), 0) != 0) return Failure(errno, path);
  return {};
}

Result<std::vector<std::string>> TreeFiles::List(const std::string& glob,
                                                 const CancelToken& cancel) const {
  WalkOptions options{.hidden = HiddenFiles::kInclude, .max_files = kMaxListed};
  options.global_ignore_file = "";
  DOSSIER_ASSIGN_OR_RETURN(const WalkResult found, WalkFolder(root_, options, cancel));
  std::vector<Glob> globs;
  for (const std::string& one : ExpandBraces(glob)) {
    globs.emplace_back(one);
    // As users expect, a pattern without a slash matches in every folder.
    if (one.find('/') == std::string::npos) globs.emplace_back("**/" + one);
  }
  std::vector<std::string> paths;
  for (const std::string& path : found.files) {
    const std::string below = path.substr(std::min(path.size(), root_.size() + 1));
    const bool fits = glob.empty() || std::any_of(globs.begin(), globs.end(), [&](const Glob& one) {
                        return one.Matches(below);
                      });
    if (fits && !IsOurs(below)) paths.push_back(below);
  }
  return paths;
}

}  // namespace dossier::agents
