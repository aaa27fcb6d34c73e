#include "base/files/secret_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/files/file.h"
#include "base/files/glob.h"

namespace dossier {
namespace {

// What programs call files whose content is nothing but secrets.
constexpr std::string_view kSecret[] = {".env",
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
                                        "terraform.tfstate",
                                        "*.tfvars"};
// Names like these that are there to be read.
constexpr std::string_view kHarmless[] = {".env.example", ".env.sample", ".env.template",
                                          ".env.dist", ".env.defaults"};

std::vector<Glob> GlobsOf(std::span<const std::string_view> patterns) {
  return {patterns.begin(), patterns.end()};
}

bool MatchesOne(const std::vector<Glob>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const Glob& glob) { return glob.Matches(name); });
}

// "-----BEGIN OPENSSH PRIVATE KEY-----" and its kin, at the start of a file.
bool IsPrivateKey(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return false;
  char begin[64];
  const ssize_t got = read(fd.get(), begin, sizeof(begin));
  const std::string_view text(begin, got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.starts_with("-----BEGIN ") && line.find("PRIVATE KEY-----") != std::string_view::npos;
}

}  // namespace

bool HasSecretName(std::string_view path) {
  static const std::vector<Glob> kSecretGlobs = GlobsOf(kSecret),
                                 kHarmlessGlobs = GlobsOf(kHarmless);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return MatchesOne(kSecretGlobs, name) && !MatchesOne(kHarmlessGlobs, name);
}

bool IsSecretFile(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (HasSecretName(path)) return true;
  constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;
  return (info.st_mode & kOthersRead) == 0 && info.st_size > 0 && IsPrivateKey(path);
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
