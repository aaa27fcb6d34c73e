// tokens: counts tokens of files, folders or stdin, finds the longest prefix that fits, a gate.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <ostream>

#include "app/open_model.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/files/walk.h"
#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/value_kinds.h"
#include "tokens/files/count_cache.h"
#include "tokens/files/open.h"

namespace dossier::cli {
namespace {

struct TokensArguments {
  std::vector<std::string> paths;         // "-" is stdin
  std::string encoding;                   // --encoding; empty: o200k_base
  std::string model;                      // -m
  bool ids = false;                       // --ids
  bool tree = false;                      // --tree
  bool json = false;                      // --json
  std::optional<std::int64_t> fit;        // --fit
  std::optional<std::int64_t> fail_over;  // --fail-over
};

constexpr std::size_t kLargestShown = 10;
constexpr std::size_t kMostFiles = 1'000'000;

struct CountedFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t tokens = 0;
};

Result<std::string> ReadStdin() {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, "stdin");
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

bool LooksBinary(std::string_view text) {
  constexpr std::size_t kLookedAt = 8192;
  return text.substr(0, kLookedAt).find('\0') != std::string_view::npos;
}

Status CheckArguments(const TokensArguments& arguments) {
  if (arguments.paths.empty()) {
    return MakeError(ErrorCode::kUsage, "tokens: name a file, a folder, or - for stdin");
  }
  if (std::count(arguments.paths.begin(), arguments.paths.end(), "") > 0) {
    return MakeError(ErrorCode::kUsage, "tokens: a path is empty; the folder itself is .");
  }
  if (std::count(arguments.paths.begin(), arguments.paths.end(), "-") > 1) {
    return MakeError(ErrorCode::kUsage, "tokens: - can be read only once");
  }
  if (arguments.ids + arguments.tree + arguments.json + arguments.fit.has_value() > 1) {
    return MakeError(ErrorCode::kUsage, "tokens: give one of --ids, --fit, --tree and --json");
  }
  for (const auto& [flag, value] :
       {std::pair("--fit", arguments.fit), std::pair("--fail-over", arguments.fail_over)}) {
    if (value && *value < 0) return MakeError(ErrorCode::kUsage, "{} {}: below 0", flag, *value);
  }
  const bool one_text = arguments.paths.size() == 1 && !IsFolder(arguments.paths[0]);
  if (arguments.fit && !one_text) {
    return MakeError(ErrorCode::kUsage, "tokens: --fit wants one file, or -");
  }
  return {};
}

class Counting {
 public:
  Counting(const TokensArguments& arguments, tokens::Opened opened, Context& context)
      : arguments_(arguments),
        cancel_(context.cancel),
        cache_(tokens::CountCache::Open(app::CountsFolder(opened), opened.identity)),
        counter_(std::move(opened.counter)),
        out_(context.out),
        err_(context.err) {}

  int Run() {
    for (const std::string& path : arguments_.paths) {
      if (cancelled()) break;
      if (path != "-" && IsFolder(path)) {
        CountFolder(path);
      } else {
        CountNamed(path);
      }
    }
    cache_.Save();
    if (cancelled()) return 130;
    Print();
    if (arguments_.fail_over && total_ > *arguments_.fail_over) return ReportOver();
    return failed_;
  }

 private:
  bool cancelled() const { return cancel_.cancelled(); }

  void Fail(const std::string& path, const Error& error) {
    failed_ = PrintError(err_, error);
    errors_.push_back(JsonObject{
        {"path", path}, {"code", ErrorName(error.code)}, {"message", Redact(error.message)}});
  }

  // A pipe made by a shell for `<(command)` is read; a pipe in a folder may never end.
  static Result<std::string> ReadNamed(const std::string& path) {
    struct stat info{};
    const bool odd = stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    if (odd && !path.starts_with("/dev/fd/") && !path.starts_with("/proc/self/fd/")) {
      return MakeError(ErrorCode::kIsDevice, "{}: not a regular file; read it through a pipe",
                       path);
    }
    return ReadNamedFile(path);
  }

  // Makes names and texts safe for a terminal.
  std::string Shown(std::string_view text) const {
    return terminal_ ? utf8::CleanForTerminal(text) : std::string(text);
  }

  void CountNamed(const std::string& path) {
    auto text = path == "-" ? ReadStdin() : ReadNamed(path);
    if (!text) return Fail(path, text.error());
    if (arguments_.ids) return PrintIds(path, *text);
    if (arguments_.fit) {
      const tokens::CountedPart cut = counter_->LongestPrefix(*text, *arguments_.fit);
      out_ << Shown(std::string_view(*text).substr(0, cut.bytes));
      Add(path, cut.bytes, cut.tokens);
      return;
    }
    Add(path, text->size(), cache_.CountText(*text, *counter_));
  }

  void CountFolder(const std::string& folder) {
    auto found = WalkFolder(folder, {.max_files = kMostFiles}, cancel_);
    if (!found) return Fail(folder, found.error());
    for (const SkippedPath& skipped : found->skipped) {
      err_ << utf8::CleanForTerminal(skipped.path) << ": skipped (" << skipped.reason << ")\n";
    }
    for (const std::string& path : found->files) {
      if (cancelled()) return;
      auto text = ReadFile(path);
      if (!text) {
        Fail(path, text.error());
      } else if (LooksBinary(*text)) {
        ++binary_;
      } else if (arguments_.ids) {
        PrintIds(path, *text);
      } else {
        Add(path, text->size(), cache_.CountText(*text, *counter_));
      }
    }
    if (found->stopped) err_ << "stopped at " << GroupDigits(kMostFiles) << " files\n";
  }

  void Add(const std::string& path, std::uint64_t bytes, std::int64_t tokens) {
    files_.push_back({path, bytes, tokens});
    total_ += tokens;
  }

  void PrintIds(const std::string& path, std::string_view text) {
    const auto ids = counter_->Encode(text);
    if (!ids) return Fail(path, ids.error());
    for (std::size_t i = 0; i < ids->size(); ++i) out_ << (i ? " " : "") << (*ids)[i];
    out_ << '\n';
    total_ += static_cast<std::int64_t>(ids->size());
  }

  void Print() {
    if (binary_ > 0) {
      err_ << fmt::format("{} binary {} left out; a file that is named is always counted\n",
                          GroupDigits(binary_), binary_ == 1 ? "file" : "files");
    }
    if (arguments_.json) return PrintJson();
    if (arguments_.ids || arguments_.fit) return;
    if (arguments_.tree) {
      PrintTree();
    } else {
      for (const CountedFile& file : files_) {
        out_ << file.tokens << "  " << Shown(file.path) << '\n';
      }
    }
    if (files_.size() > 1 || (files_.empty() && failed_ == 0)) out_ << total_ << "  total\n";
    if (!counter_->exact() && !arguments_.tree) {
      // The counter without a vocabulary has no more specific name.
      const bool named = counter_->name() != "estimate";
      err_ << fmt::format("estimates by {}, within {:.0f} %\n",
                          named ? counter_->name() : "the length of the text",
                          100 * counter_->margin());
    }
  }

  void PrintJson() {
    JsonArray files;
    for (const CountedFile& file : files_) {
      files.push_back(
          JsonObject{{"path", file.path}, {"bytes", file.bytes}, {"tokens", file.tokens}});
    }
    out_ << ToJson(JsonObject{{"schema", "dossier.tokens/1"},
                              {"encoding", counter_->name()},
                              {"exact", counter_->exact()},
                              {"margin", counter_->margin()},
                              {"tokens", total_},
                              {"files", std::move(files)},
                              {"errors", std::move(errors_)}})
         << '\n';
  }

  // Every folder with the files below it; siblings are sorted largest first.
  struct Node {
    std::int64_t tokens = 0;
    std::map<std::string, Node> below;
  };

  void PrintTree() {
    Node root;
    for (const CountedFile& file : files_) {
      Node* node = &root;
      for (const std::string_view name : Split(file.path, '/')) {
        if (name.empty() || name == ".") continue;
        node = &node->below[std::string(name)];
        node->tokens += file.tokens;
      }
    }
    PrintBelow(root, "");
  }

  void PrintBelow(const Node& node, const std::string& indent) {
    std::vector<const std::pair<const std::string, Node>*> order;
    for (const auto& entry : node.below) order.push_back(&entry);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->second.tokens > b->second.tokens;
    });
    for (const auto* entry : order) {
      const bool folder = !entry->second.below.empty();
      out_ << fmt::format("{:>10}  {}{}{}\n", entry->second.tokens, indent, entry->first,
                          folder ? "/" : "");
      PrintBelow(entry->second, indent + "  ");
    }
  }

  int ReportOver() {
    err_ << fmt::format("{} tokens, more than --fail-over {}", GroupDigits(total_),
                        GroupDigits(*arguments_.fail_over));
    std::stable_sort(files_.begin(), files_.end(), [](const CountedFile& a, const CountedFile& b) {
      return a.tokens > b.tokens;
    });
    files_.resize(std::min(files_.size(), kLargestShown));
    err_ << (files_.empty() ? "\n" : "; the largest files:\n");
    for (const CountedFile& file : files_) err_ << file.tokens << "  " << file.path << '\n';
    return ExitCode(ErrorCode::kTooLong);
  }

  const TokensArguments& arguments_;
  const CancelToken& cancel_;
  tokens::CountCache cache_;
  const std::shared_ptr<const tokens::Counter> counter_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<CountedFile> files_;
  std::int64_t total_ = 0;
  std::uint64_t binary_ = 0;
  JsonArray errors_;
  int failed_ = 0;
  const bool terminal_ = Terminal::Detect().out == Terminal::Kind::kTerminal;
};

Result<int> RunTokens(const TokensArguments& named, Context& context) {
  TokensArguments given = named;
  if (given.paths.empty() && StdinIsPiped(context.flags)) given.paths = {"-"};
  DOSSIER_RETURN_IF_ERROR(CheckArguments(given));
  // The configuration says where a model is, and so which one it is.
  std::optional<config::Config> config;
  if (!given.model.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(config, LoadConfig(context.flags, {}, context.err));
  }
  std::string note;
  DOSSIER_ASSIGN_OR_RETURN(
      tokens::Opened opened,
      app::OpenCounter(
          {.encoding = given.encoding, .model = given.model, .config = config ? &*config : nullptr},
          &note));
  if (!note.empty() && !context.flags.quiet) context.err << "dossier: " << Safe(note) << "\n";
  if (!opened.warning.empty()) PrintWarning(context.err, opened.warning);
  const Result<int> code = Counting(given, std::move(opened), context).Run();
  WarnOfUnreadStdin(given.paths, context.flags, context.err);
  return code;
}

void DeclareTokens(Flags& flags, TokensArguments& to) {
  flags.Add("path", &to.paths, "files, folders (as git sees them), or - for stdin").Kind(kPath);
  flags.Add("--encoding", &to.encoding,
            Join(tokens::EncodingNames(), ", ") + " (default: o200k_base)");
  flags.Add("-m,--model", &to.model, "count as this model does").Kind(kModel);
  flags.Add("--ids", &to.ids, "print the tokens' numbers");
  flags.Add("--fit", &to.fit, "print the longest prefix of at most N tokens");
  flags.Add("--tree", &to.tree, "folders with their sums, largest first");
  flags.Add("--fail-over", &to.fail_over, "exit 9 above N tokens, with the ten largest files");
  flags.Add("--json", &to.json, "one object for all inputs");
}

}  // namespace

Command TokensCommand() {
  return {.name = "tokens",
          .summary = "count the tokens of files, folders or stdin",
          .examples =
              "dossier tokens README.md\n"
              "    how many tokens a file is\n"
              "dossier tokens --fail-over 60000 src\n"
              "    a gate for scripts: exit 9 above",
          .binding = Bind(DeclareTokens, RunTokens)};
}

}  // namespace dossier::cli
