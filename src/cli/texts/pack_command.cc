// pack: a folder as text for a model. The pack goes to stdout (or --out), the table to stderr.

#include <algorithm>
#include <climits>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>

#include "app/open_model.h"
#include "assembly/assemble.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/files/output_file.h"
#include "base/random.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/value_kinds.h"
#include "sources/pack/pack.h"
#include "sources/pack/pack_rank.h"
#include "sources/repository/repo_facts.h"
#include "tokens/files/open.h"

namespace dossier::cli {
namespace {

struct PackArguments {
  std::vector<std::string> paths, include, exclude, priority;
  std::optional<std::int64_t> budget;
  std::string encoding, model;  // empty: o200k_base
  std::string format = "xml", order = "auto", secrets = "redact";
  std::string manifest, task, out, files_from;
  std::optional<std::int64_t> top, seed;
  bool line_numbers = false, explain = false, hidden = false, submodules = false;
  bool tree = false, names = false;
  bool json = false, nul = false, no_cache = false;
};

using sources::PackedFiles;
using sources::PackOptions;

constexpr std::size_t kDefaultTop = 20;

// Maps a word of a flag to its value.
template <typename T>
struct Choice {
  std::string_view name;
  T value;
};

template <typename T, std::size_t kCount>
Status Choose(std::string_view flag, const std::string& given, const Choice<T> (&choices)[kCount],
              T* value) {
  std::vector<std::string_view> names;
  for (const Choice<T>& choice : choices) {
    if (choice.name == given) {
      *value = choice.value;
      return {};
    }
    names.push_back(choice.name);
  }
  return MakeError(ErrorCode::kUsage, "{} {}: must be {}", flag, given, OneOf(given, names));
}

Status SetChoices(const PackArguments& arguments, PackOptions* options) {
  using sources::PackFormat, sources::PackOrder, sources::SecretPolicy;
  constexpr Choice<PackFormat> kFormats[] = {{"xml", PackFormat::kXml},
                                             {"markdown", PackFormat::kMarkdown},
                                             {"plain", PackFormat::kPlain}};
  constexpr Choice<PackOrder> kOrders[] = {{"auto", PackOrder::kDefault},
                                           {"changed", PackOrder::kChanged},
                                           {"path", PackOrder::kPath},
                                           {"sticky", PackOrder::kSticky}};
  constexpr Choice<SecretPolicy> kPolicies[] = {{"redact", SecretPolicy::kRedact},
                                                {"exclude", SecretPolicy::kExclude},
                                                {"allow", SecretPolicy::kAllow}};
  DOSSIER_RETURN_IF_ERROR(Choose("--format", arguments.format, kFormats, &options->format));
  DOSSIER_RETURN_IF_ERROR(Choose("--order", arguments.order, kOrders, &options->order));
  return Choose("--secrets", arguments.secrets, kPolicies, &options->secrets);
}

// Parses "GLOB=N"; the glob may contain equals signs.
Result<std::pair<std::string, double>> ParsePriority(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto value =
      ParseNumber(equals == text.npos ? "" : std::string_view(text).substr(equals + 1));
  if (equals == 0 || !value) {
    return MakeError(ErrorCode::kUsage, "--priority {}: must be GLOB=N with N from 0 to 1", text);
  }
  return std::pair{text.substr(0, equals), *value};
}

// Handles --files-from: one path per line, or NUL-terminated paths with -0.
Status AddListed(const PackArguments& arguments, std::istream& in, PackOptions* options) {
  if (arguments.files_from.empty()) {
    if (arguments.nul && !arguments.names) {
      return MakeError(ErrorCode::kUsage, "-0: needs --files-from FILE, or --names");
    }
    return {};
  }
  std::string text;
  if (arguments.files_from == "-") {
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadNamedFile(arguments.files_from, 256 << 20));
  }
  options->paths = arguments.paths;
  for (std::string_view path : Split(text, arguments.nul ? '\0' : '\n')) {
    if (!arguments.nul && path.ends_with('\r')) path.remove_suffix(1);
    if (!path.empty()) options->paths.emplace_back(path);
  }
  if (options->paths.empty()) {
    return MakeError(ErrorCode::kUsage, "--files-from {}: it names no file", arguments.files_from);
  }
  return {};
}

Status ReadOrder(const PackArguments& arguments, PackOptions* options) {
  if (arguments.manifest.empty()) {
    if (options->order == sources::PackOrder::kSticky) {
      return MakeError(ErrorCode::kUsage, "--order sticky: needs --manifest FILE");
    }
    return {};
  }
  if (options->order != sources::PackOrder::kSticky &&
      options->order != sources::PackOrder::kDefault) {
    return MakeError(ErrorCode::kUsage, "--manifest: goes with --order sticky, not --order {}",
                     arguments.order);
  }
  options->order = sources::PackOrder::kSticky;
  if (!Exists(arguments.manifest)) return {};  // the first time it is only written
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.manifest, 256 << 20));
  DOSSIER_ASSIGN_OR_RETURN(options->manifest, sources::ReadManifest(text, arguments.manifest));
  return {};
}

// A comma separates globs, as in similar programs, but not within braces.
std::vector<std::string> GlobsOf(const std::vector<std::string>& given) {
  std::vector<std::string> globs;
  for (const std::string& text : given) {
    globs.emplace_back();
    int braces = 0;
    for (const char c : text) {
      if (c == ',' && braces == 0) {
        globs.emplace_back();
        continue;
      }
      if (c == '{') ++braces;
      if (c == '}') --braces;
      globs.back() += c;
    }
  }
  std::erase(globs, "");
  return globs;
}

// Returns true if each line names an existing file, as in a list that was piped in.
bool NamesFiles(std::string_view text) {
  constexpr std::size_t kLooked = 100;  // lines
  std::size_t seen = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty() || seen == kLooked) continue;
    if (line.size() > PATH_MAX || !Exists(std::string(line))) return false;
    ++seen;
  }
  return seen > 0;
}

Result<PackOptions> MakeOptions(const PackArguments& arguments, const GlobalFlags& flags,
                                std::istream& in, std::ostream& err) {
  PackOptions options{.include = GlobsOf(arguments.include),
                      .exclude = GlobsOf(arguments.exclude),
                      .budget = arguments.budget,
                      .hidden = arguments.hidden,
                      .submodules = arguments.submodules,
                      .task = arguments.task};
  if (!arguments.paths.empty()) options.paths = arguments.paths;
  if (arguments.line_numbers) options.line_numbers = sources::LineNumbers::kYes;
  DOSSIER_RETURN_IF_ERROR(SetChoices(arguments, &options));
  for (const std::string& text : arguments.priority) {
    DOSSIER_ASSIGN_OR_RETURN(auto priority, ParsePriority(text));
    options.priority.push_back(std::move(priority));
  }
  if (arguments.budget && *arguments.budget < 1) {
    return MakeError(ErrorCode::kUsage, "--budget {}: must be above 0", *arguments.budget);
  }
  if (arguments.task.empty() && (arguments.top || arguments.explain)) {
    return MakeError(ErrorCode::kUsage, "--{}: needs --task TEXT",
                     arguments.top ? "top" : "explain");
  }
  if (arguments.top && *arguments.top < 1) {
    return MakeError(ErrorCode::kUsage, "--top {}: must be above 0", *arguments.top);
  }
  if (arguments.seed && *arguments.seed < 0) {
    return MakeError(ErrorCode::kUsage, "--seed {}: must not be negative", *arguments.seed);
  }
  if (arguments.top) {
    options.top = static_cast<std::size_t>(*arguments.top);
  } else if (!arguments.task.empty() && !arguments.budget) {
    options.top = kDefaultTop;
  }
  DOSSIER_RETURN_IF_ERROR(ReadOrder(arguments, &options));
  DOSSIER_RETURN_IF_ERROR(AddListed(arguments, in, &options));
  // The configuration says where a model is, and so which one it is.
  std::optional<config::Config> config;
  if (!arguments.model.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(config, LoadConfig(flags, {}, err));
  }
  std::string note;
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened,
                           app::OpenCounter({.encoding = arguments.encoding,
                                             .model = arguments.model,
                                             .config = config ? &*config : nullptr},
                                            &note));
  if (!note.empty() && !flags.quiet) err << "dossier: " << Safe(note) << "\n";
  if (!opened.warning.empty()) PrintWarning(err, opened.warning);
  if (!arguments.no_cache) options.counts_folder = app::CountsFolder(opened);
  options.counts_name = opened.identity;
  options.counter = std::move(opened.counter);
  options.reserve = sources::FenceTokens(*options.counter, options.format);
  return options;
}

// Returns the boundary of --seed, else the project's, or a random one if none can be stored.
std::string Boundary(const PackArguments& arguments, PackedFiles* packed) {
  if (arguments.seed) {
    return assembly::MakeBoundary(static_cast<std::uint64_t>(*arguments.seed), 0);
  }
  const auto folder = sources::ProjectStateFolder(packed->root);
  const auto kept = folder ? sources::ProjectBoundary(*folder) : folder;
  if (kept) return *kept;
  packed->warnings.push_back(
      fmt::format("the boundary cannot be kept, so caches will miss: {}", kept.error().message));
  return RandomHex(32);
}

void Report(const PackArguments& arguments, const PackedFiles& packed, std::string_view encoding,
            const GlobalFlags& flags, std::ostream& err) {
  for (const std::string& warning : packed.warnings) PrintWarning(err, warning);
  if (arguments.explain) err << sources::PackRanks(packed, 50);
  if (!flags.quiet) err << sources::PackTable(packed, arguments.budget, encoding);
}

// Packs piped input as a file named stdin; no file if there is nothing to pack.
class PipedText {
 public:
  // Errors: kUsage (- beside other paths), kTimeout (a pipe that stays silent), kIo.
  static Result<PipedText> Take(const PackArguments& arguments, Context& context) {
    PipedText text;
    const auto& paths = arguments.paths;
    const bool named = std::find(paths.begin(), paths.end(), "-") != paths.end();
    if (named && (paths.size() > 1 || !arguments.files_from.empty())) {
      return MakeError(ErrorCode::kUsage, "pack: - is packed alone, without other paths");
    }
    if (!named) {
      if (!paths.empty() || !arguments.files_from.empty()) return text;
      DOSSIER_ASSIGN_OR_RETURN(const bool piped,
                               StdinHoldsText(context.flags, context.cancel, context.err));
      if (!piped) return text;
    }
    DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-pack"));
    const std::string bytes(std::istreambuf_iterator<char>(context.in), {});
    if (NamesFiles(bytes)) {
      PrintWarning(context.err,
                   "stdin is packed as a text; to pack the files that it names, use "
                   "--files-from -");
    }
    text.path_ = folder.path() + "/stdin";
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(text.path_, bytes));
    text.folder_.emplace(std::move(folder));
    return text;
  }

  const std::string& path() const { return path_; }  // "": stdin is not packed

 private:
  std::optional<TempFolder> folder_;
  std::string path_;
};

// Prints the text, unless it went to a file, or what was requested instead.
void Print(const PackArguments& arguments, const PackedFiles& packed,
           const sources::FencedText& text, std::ostream& out) {
  const auto kind = Terminal::Detect().out;
  const auto print = [&](std::string_view part) {
    if (kind == Terminal::Kind::kPipe) {
      out << part;
    } else {
      out << utf8::CleanForTerminal(part);
    }
  };
  if (arguments.tree) return print(sources::PackTree(packed));
  if (arguments.names) return print(sources::PackNames(packed, arguments.nul ? '\0' : '\n'));
  if (!arguments.out.empty()) return;
  for (const std::string_view part : text.Parts()) print(part);
}

Status RunPack(const PackArguments& given, Context& context) {
  PackArguments arguments = given;
  DOSSIER_ASSIGN_OR_RETURN(const PipedText piped, PipedText::Take(arguments, context));
  if (!piped.path().empty()) arguments.paths = {piped.path()};
  DOSSIER_ASSIGN_OR_RETURN(const PackOptions options,
                           MakeOptions(arguments, context.flags, context.in, context.err));
  DOSSIER_ASSIGN_OR_RETURN(PackedFiles packed, sources::Pack(options, context.cancel));
  std::optional<std::uint64_t> seed;
  if (arguments.seed) seed = static_cast<std::uint64_t>(*arguments.seed);
  const std::string boundary = Boundary(arguments, &packed);
  const sources::FencedText text = sources::FencedPack(*options.counter, boundary, seed, &packed);
  if (!arguments.manifest.empty()) {
    DOSSIER_RETURN_IF_ERROR(WriteOutput(arguments.manifest, {sources::WriteManifest(packed)}));
  }
  if (!arguments.out.empty()) {
    // A pack can be made again, so it is not synced to disk.
    if (Status put =
            WriteOutput(arguments.out, text.Parts(), {.durability = Durability::kSurvivesCrash});
        !put) {
      return tl::unexpected(ExplainMissing(std::move(put.error()), arguments.out));
    }
  }
  arguments.paths.push_back(arguments.files_from);
  if (piped.path().empty()) WarnOfUnreadStdin(arguments.paths, context.flags, context.err);
  const std::string encoding = options.counter->name();
  Report(arguments, packed, encoding, context.flags, context.err);
  if (arguments.json) {
    Json report = sources::PackReportJson(packed, arguments.budget, encoding);
    if (arguments.out.empty()) report.as_object()["text"] = text.Text();
    context.out << ToJson(report) << '\n';
    return {};
  }
  Print(arguments, packed, text, context.out);
  return {};
}

void DeclarePack(Flags& flags, PackArguments& to) {
  flags.Add("path", &to.paths, "files, folders or globs; default: this folder").Kind(kPath);
  flags.Add("--budget", &to.budget, "at most so many tokens, all included");
  flags.Add("-e,--encoding", &to.encoding,
            "how tokens are counted (o200k_base); see `dossier tokens --help`");
  flags.Add("-m,--model", &to.model, "count as this model does").Kind(kModel);
  flags.Add("--format", &to.format, "xml, markdown or plain").ShowDefault();
  flags.Add("--line-numbers", &to.line_numbers, "number the lines of files");
  flags.Add("--include", &to.include, "only what a glob matches: GLOB,GLOB (repeat)");
  flags.Add("--exclude", &to.exclude, "nothing that a glob matches: GLOB,GLOB (repeat)");
  flags.Add("--priority", &to.priority,
            "GLOB=N, 0 to 1: the lowest shrink first to fit the budget (repeat)");
  flags.Add("--order", &to.order, "auto, changed, path or sticky").ShowDefault();
  flags.Add("--manifest", &to.manifest, "keep the order of files in this file (order sticky)")
      .Kind(kPath);
  flags.Add("--task", &to.task, "rank files by the words of a task");
  flags.Add("--top", &to.top, "with --task: show so many (20 without --budget)");
  flags.Add("--explain", &to.explain, "with --task: scores and their reasons");
  flags.Add("--tree", &to.tree, "print tokens by folder and file instead of the text");
  flags.Add("--names", &to.names, "print the names of the files instead").Excludes("--tree");
  flags.Add("--hidden", &to.hidden, "hidden files too");
  flags.Add("--submodules", &to.submodules, "repositories inside, too");
  flags.Add("--secrets", &to.secrets, "redact, exclude or allow").ShowDefault();
  flags.Add("-o,--out", &to.out, "write the pack to FILE").Kind(kPath);
  flags.Add("--json", &to.json, "report and text as one object");
  flags.Add("--files-from", &to.files_from, "read paths from FILE, or - for stdin").Kind(kPath);
  flags.Add("-0,--null", &to.nul, "NUL ends the paths of --files-from and --names");
  flags.Add("--seed", &to.seed, "the same bytes each time and everywhere");
  flags.Add("--no-cache", &to.no_cache, "count everything anew");
}

}  // namespace

Command PackCommand() {
  return {.name = "pack",
          .summary = "a folder as text for a model, exactly counted",
          .examples =
              "dossier pack --budget 60000 src\n"
              "    a folder as text for a model\n"
              "dossier pack --tree --include '*.py,*.md'\n"
              "    what it would take, file by file\n"
              "git diff --name-only | dossier pack --files-from -\n"
              "    the files that a list names",
          .binding = Bind(DeclarePack, RunPack)};
}

}  // namespace dossier::cli
