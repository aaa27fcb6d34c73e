#include "sources/pack/pack_file.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "sources/pack/pack_render.h"
#include "sources/repository/path_globs.h"

namespace dossier::sources {
namespace {

constexpr std::uint64_t kMaxWhole = 1 << 20;  // bytes
constexpr std::uint64_t kMaxData = 64 << 10;  // bytes
constexpr std::size_t kSniffed = 8000;        // bytes in which a NUL makes a file binary, as in git

constexpr std::string_view kDataEndings[] = {".csv", ".tsv", ".ndjson", ".jsonl", ".json"};

// Names whose content is nothing but secrets.
const PathGlobs& SecretNames() {
  static const PathGlobs names({".env",
                                ".env.*",
                                "*.pem",
                                "*.key",
                                "*.p12",
                                "*.pfx",
                                "*.jks",
                                "*.keystore",
                                "*.kdbx",
                                "id_rsa",
                                "id_dsa",
                                "id_ecdsa",
                                "id_ed25519",
                                ".netrc",
                                "_netrc",
                                ".npmrc",
                                ".pypirc",
                                ".pgpass",
                                ".htpasswd",
                                ".git-credentials",
                                ".dockercfg",
                                "credentials",
                                "credentials.json",
                                "service-account*.json",
                                "secrets.{yml,yaml,json,toml}",
                                "*.gpg",
                                "*.ovpn",
                                ".vault_pass",
                                "terraform.tfstate",
                                "*.tfvars"});
  return names;
}

// Names like the above that are there to be read.
const PathGlobs& HarmlessNames() {
  static const PathGlobs names({".env.{example,sample,template,dist,defaults}"});
  return names;
}

bool HasSecretName(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return SecretNames().Matches(name) && !HarmlessNames().Matches(name);
}

bool IsBinary(std::string_view content) {
  if (content.substr(0, kSniffed).find('\0') != std::string_view::npos) return true;
  const utf8::Census census = utf8::Count(content);
  return census.invalid * 10 > census.bytes * 3;  // more than Latin-1 prose would have
}

// What a byte order mark says that a file with NULs is; git, too, takes it for binary.
std::string_view WideText(std::string_view content) {
  if (content.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ||
      content.starts_with(std::string_view("\0\0\xFE\xFF", 4))) {
    return "UTF-32 text";
  }
  const bool wide = content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF");
  return wide ? "UTF-16 text" : "";
}

bool IsData(const std::string& path) {
  const std::string lower = ToLowerAscii(path);
  return std::any_of(std::begin(kDataEndings), std::end(kDataEndings),
                     [&](std::string_view ending) { return lower.ends_with(ending); });
}

class FilePacker {
 public:
  FilePacker(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
             const Ranking* ranking, tokens::CountCache* counts, ReadFileFacts* facts)
      : file_(file),
        options_(options),
        git_(git),
        ranking_(ranking),
        counts_(counts),
        facts_(facts) {
    packed_.path = file.path;
    shown_ = PathForText(file.path);
  }

  PackedFile Run() {
    if (ranking_) facts_->ranked = ranking_->Read(file_.path, {}, "");
    struct stat info{};
    if (stat(file_.full.c_str(), &info) != 0) return LeaveOut(LeftOut::kUnreadable, "it is gone");
    packed_.bytes = static_cast<std::uint64_t>(info.st_size);
    const bool secret =
        options_.secrets != SecretPolicy::kAllow && !file_.named && HasSecretName(file_.path);
    if (secret) return LeaveOut(LeftOut::kSecretName, "");
    if (packed_.bytes > kMaxWhole || (packed_.bytes > kMaxData && IsData(file_.path))) {
      return Describe();
    }
    auto content = ReadFile(file_.full, kMaxWhole + 1);
    if (!content) return LeaveOut(LeftOut::kUnreadable, content.error().message);
    packed_.bytes = content->size();
    facts_->unchanged = git_ && IsUnchanged(*git_, file_.path, *content);
    if (IsBinary(*content)) return LeaveOut(LeftOut::kBinary, std::string(WideText(*content)));
    return Show(std::move(*content));
  }

 private:
  PackedFile LeaveOut(LeftOut why, std::string detail) {
    packed_.form = Form::kNames;
    packed_.why = why;
    packed_.detail = std::move(detail);
    return std::move(packed_);
  }

  // A large file is shown as what `inspect` says of it.
  PackedFile Describe() {
    // It is not read for its hash: by name and index it counts as unchanged.
    facts_->unchanged =
        git_ && git_->index.contains(file_.path) && !git_->staged.contains(file_.path);
    const auto source = inspect::OpenFileSource(file_.full);
    if (!source) return LeaveOut(LeftOut::kUnreadable, source.error().message);
    const auto about = inspect::Describe(**source, {.threads = 1}, {});
    if (!about) return LeaveOut(LeftOut::kUnreadable, about.error().message);
    if (about->format == inspect::Format::kBinary) return LeaveOut(LeftOut::kBinary, "");
    packed_.why = LeftOut::kLarge;
    packed_.full = RenderFile({options_.format, shown_, "description"},
                              utf8::Sanitize(inspect::RenderHint(*about, {.variable = "file"})));
    packed_.full_tokens = Count(packed_.full);
    return std::move(packed_);
  }

  PackedFile Show(std::string text) {
    if (!utf8::IsValid(text)) {
      text = utf8::Sanitize(text);
      facts_->sanitized = true;
    }
    if (text.find('\0') != std::string::npos) {
      text = ReplaceAll(text, std::string_view("\0", 1), "\xEF\xBF\xBD");
      facts_->sanitized = true;
    }
    if (options_.secrets != SecretPolicy::kAllow) {
      const std::vector<Secret> found = FindSecrets(text);
      const std::vector<std::size_t> lines = LinesOf(text, found);
      for (std::size_t i = 0; i < found.size(); ++i) {
        packed_.secrets.push_back({lines[i], std::string(found[i].kind)});
      }
      if (!found.empty()) {
        if (options_.secrets == SecretPolicy::kExclude && !file_.named) {
          return LeaveOut(LeftOut::kSecretFound, "");
        }
        text = Redact(text, found);
      }
    }
    const bool outline = options_.forms == PackOptions::Forms::kAll || options_.budget;
    if (outline || ranking_) {
      const CodeFacts code = ReadCode(LanguageOf(file_.path), text);
      if (ranking_) facts_->ranked = ranking_->Read(file_.path, code, text);
      if (outline) RenderOutline(text, code);
    }
    const bool numbered = options_.line_numbers == LineNumbers::kYes;
    packed_.full =
        RenderFile({options_.format, shown_, ""}, numbered ? WithLineNumbers(text) : text);
    packed_.full_tokens = Count(packed_.full);
    if (packed_.outline.size() >= packed_.full.size()) packed_.outline.clear();
    if (!packed_.outline.empty()) packed_.outline_tokens = Count(packed_.outline);
    return std::move(packed_);
  }

  // Tokens to budget with.
  std::int64_t Count(std::string_view text) {
    const tokens::Counter& counter = *options_.counter;
    if (!counter.exact()) return counter.CountText(text).upper();
    return counts_->CountText(text, counter);
  }

  void RenderOutline(std::string_view text, const CodeFacts& code) {
    const std::string body = Outline(text, code);
    if (!body.empty()) packed_.outline = RenderFile({options_.format, shown_, "outline"}, body);
  }

  const SelectedFile& file_;
  const PackOptions& options_;
  const GitFacts* git_;
  const Ranking* ranking_;
  tokens::CountCache* counts_;
  ReadFileFacts* facts_;
  PackedFile packed_;
  std::string shown_;
};

}  // namespace

PackedFile PackOneFile(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
                       const Ranking* ranking, tokens::CountCache* counts, ReadFileFacts* facts) {
  return FilePacker(file, options, git, ranking, counts, facts).Run();
}

std::string PathForText(std::string_view path) {
  const bool plain =
      utf8::IsValid(path) && std::none_of(path.begin(), path.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '"' || c == '\\';
      });
  const bool spaced = path.starts_with(' ') || path.ends_with(' ');
  if (plain && !spaced) return std::string(path);
  return ToJson(Json(utf8::Sanitize(path)));
}

}  // namespace dossier::sources
