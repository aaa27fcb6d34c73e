#include "base/files/secret_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/files/file.h"
#include "base/files/glob.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier {
namespace {

// Names that programs give to files with only secrets.
constexpr std::string_view kSecret[] = {".env",
                                        ".env.*",
                                        "*.env",
                                        ".envrc",
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
                                        ".credentials.json",
                                        "credentials.json",
                                        "service-account*.json",
                                        "secrets.yml",
                                        "secrets.yaml",
                                        "secrets.json",
                                        "secrets.toml",
                                        "*.gpg",
                                        "*.ovpn",
                                        ".vault_pass",
                                        ".vault-token",
                                        "terraform.tfstate",
                                        "*.tfvars"};
// Similar names of files that are meant to be read.
constexpr std::string_view kHarmless[] = {".env.example", ".env.sample", ".env.template",
                                          ".env.dist", ".env.defaults", "example.env",
                                          "sample.env",   "template.env"};
// A name that means nothing without its folder.
constexpr std::string_view kDockerLogins = ".docker/config.json";

// The beginnings of key files.
constexpr std::string_view kKeyLines[] = {"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY",
                                          "AGE-SECRET-KEY-1", "PuTTY-User-Key-File-"};
// The first keys of a client's cluster settings, and the keys whose values are credentials.
constexpr std::string_view kClusterKeys[] = {
    "apiVersion:", "clusters:", "contexts:", "current-context:", "kind:", "preferences:", "users:"};
constexpr std::string_view kLogins[] = {
    "client-key-data:", "token:", "password:", "id-token:", "refresh-token:", "client-secret:"};

// Ignores case: some file systems do not distinguish it.
std::vector<Glob> GlobsOf(std::span<const std::string_view> patterns) {
  std::vector<Glob> globs;
  for (const std::string_view pattern : patterns) {
    globs.emplace_back(pattern, CaseSensitivity::kInsensitive);
  }
  return globs;
}

bool MatchesOne(const std::vector<Glob>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const Glob& glob) { return glob.Matches(name); });
}

bool BeginsWithOne(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

// "    client-key-data: LS0t…", with or without the dash of a list.
bool IsLogin(std::string_view line) {
  if (line.starts_with("- ")) line = TrimSpace(line.substr(2));
  return BeginsWithOne(line, kLogins) && line.find(':') + 1 < line.size();
}

// Returns the next significant line, without its indent; "" at the end. Skips comments and the
// markers of YAML.
std::string_view NextLine(std::string_view* text) {
  while (!text->empty()) {
    const std::size_t end = std::min(text->find('\n'), text->size());
    const std::string_view line = TrimSpace(text->substr(0, end));
    text->remove_prefix(std::min(end + 1, text->size()));
    if (!line.empty() && !line.starts_with('#') && line != "---") return line;
  }
  return "";
}

// "*.[pP][eE][mM]": git compares attributes with case.
std::string EitherCase(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    out += IsLetter(c) ? fmt::format("[{}{}]", c, static_cast<char>(c ^ ' ')) : std::string(1, c);
  }
  return out;
}

constexpr std::size_t kBeginning = 4096;   // bytes that are searched for a key
constexpr std::size_t kLongest = 1 << 20;  // bytes of cluster settings

bool HasSecretContent(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return false;
  std::string text(kBeginning, '\0');
  const ssize_t got = read(fd.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (IsSecretText(text)) return true;
  std::string_view rest = text;
  if (text.size() < kBeginning || !BeginsWithOne(NextLine(&rest), kClusterKeys)) return false;
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return false;
  return IsSecretText(ReadAll(fd.get(), path, kLongest).value_or(""));
}

}  // namespace

bool HasSecretName(std::string_view path) {
  static const std::vector<Glob> kSecretGlobs = GlobsOf(kSecret),
                                 kHarmlessGlobs = GlobsOf(kHarmless);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return (MatchesOne(kSecretGlobs, name) && !MatchesOne(kHarmlessGlobs, name)) ||
         ("/" + ToLowerAscii(path)).ends_with(fmt::format("/{}", kDockerLogins));
}

std::string SecretAttributes(std::string_view secret, std::string_view harmless) {
  std::string out;
  for (const auto name : kSecret) out += fmt::format("{} {}\n", EitherCase(name), secret);
  for (const auto name : kHarmless) out += fmt::format("{} {}\n", EitherCase(name), harmless);
  return out + fmt::format("**/{} {}\n", EitherCase(kDockerLogins), secret);
}

bool IsSecretText(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string_view line = NextLine(&text);
  if (line.starts_with("-----BEGIN ")) {
    return line.find(" PRIVATE KEY") != std::string_view::npos;
  }
  if (BeginsWithOne(line, kKeyLines)) return true;
  if (!BeginsWithOne(line, kClusterKeys)) return false;
  bool clusters = false, users = false, login = false;
  for (; !line.empty(); line = NextLine(&text)) {
    clusters = clusters || line.starts_with("clusters:");
    users = users || line.starts_with("users:");
    login = login || IsLogin(line);
  }
  return clusters && users && login;
}

bool IsSecretFile(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  return HasSecretName(path) || (info.st_size > 0 && HasSecretContent(path));
}

Result<std::vector<std::string>> FindSecretFiles(const std::string& folder, std::size_t most) {
  namespace fs = std::filesystem;
  std::vector<std::string> found;
  std::vector<fs::path> folders = {folder};
  std::size_t entries = 0;
  while (!folders.empty()) {
    const fs::path one = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator at(one, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      if (++entries > most) {
        return MakeError(ErrorCode::kLimit,
                         "{} holds more than {} files: those with secrets cannot all be found and "
                         "hidden",
                         folder, most);
      }
      std::error_code gone;
      if (fs::is_directory(at->symlink_status(gone))) {
        folders.push_back(at->path());
      } else if (IsSecretFile(at->path().string())) {
        found.push_back(at->path().string());
      }
    }
    const bool passed_over = error == std::errc::permission_denied ||
                             error == std::errc::no_such_file_or_directory ||
                             error == std::errc::not_a_directory;
    if (error && !passed_over) return MakeErrnoError(error.value(), one.string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace dossier
