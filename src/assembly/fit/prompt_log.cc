#include "assembly/fit/prompt_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "assembly/sources/fence.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/text/ascii.h"
#include "base/text/redact.h"

namespace dossier::assembly {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxTries = 100;  // numbers that other processes may take in the meantime

// Returns the highest number of a file of `session` in the folder; 0 if there is none.
int HighestNumber(const std::string& folder, const std::string& session) {
  int highest = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(session + "_")) continue;
    const char* begin = name.data() + session.size() + 1;
    int number = 0;
    const auto read = std::from_chars(begin, name.data() + name.size(), number);
    const bool numbered = read.ec == std::errc() && read.ptr != begin && *read.ptr == '_';
    if (numbered) highest = std::max(highest, number);
  }
  return highest;
}

// Removes partial files of processes that were killed long ago.
void RemoveOldPartials(const std::string& folder) {
  constexpr time_t kOldSeconds = 3600;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    struct stat info{};
    const bool old = at->path().filename().string().starts_with(kPartialFile) &&
                     lstat(at->path().c_str(), &info) == 0 &&
                     info.st_mtime + kOldSeconds < time(nullptr);
    if (old) unlink(at->path().c_str());
  }
}

// Redacts a prompt as JSON, and records what was removed from which section.
class Redactor {
 public:
  std::string Text(std::string_view text, std::string_view section) {
    const std::vector<Secret> secrets = FindSecrets(text);
    for (const Secret& secret : secrets) {
      found_.push_back(JsonObject{{"section", section},
                                  {"offset", secret.offset},
                                  {"length", secret.length},
                                  {"kind", secret.kind}});
    }
    return Redact(text, secrets);
  }

  // Redacts all texts inside `value`; a block names its section.
  void Values(Json* value, std::string section) {
    if (value->is_string()) {
      *value = Text(value->get_string(), section);
    } else if (value->is_array()) {
      for (Json& item : value->get_array()) Values(&item, section);
    } else if (value->is_object()) {
      if (const auto own = FindString(*value, "section")) section = *own;
      for (auto& [key, item] : value->get_object()) Values(&item, section);
    }
  }

  JsonArray TakeFound() { return std::move(found_); }

 private:
  JsonArray found_;
};

struct LoggedSection {
  std::string name, role, text;
};

// Returns the texts of the redacted messages by section, in prompt order.
std::vector<LoggedSection> SectionsOf(const Json& messages) {
  std::vector<LoggedSection> out;
  const auto add = [&](const Json& block, std::string_view role) {
    const std::string name = TextAt(block, "section");
    const auto text = FindString(block, "text");
    const std::string body = text ? std::string(*text) : dossier::ToJson(block);
    if (!out.empty() && out.back().name == name && out.back().role == role) {
      out.back().text += "\n\n" + body;
    } else {
      out.push_back({name, std::string(role), body});
    }
  };
  for (const Json& tool : Find(messages, "tools")->get_array()) add(tool, "tools");
  for (const Json& block : Find(messages, "system")->get_array()) add(block, "system");
  for (const Json& turn : Find(messages, "turns")->get_array()) {
    const std::string_view role = *FindString(turn, "role");
    for (const Json& block : Find(turn, "blocks")->get_array()) add(block, role);
  }
  return out;
}

std::string AsMarkdown(const std::string& name, const std::vector<LoggedSection>& sections) {
  std::string out = "# " + name + "\n";
  for (const LoggedSection& section : sections) {
    const std::string fence(GrowingFenceLength(section.text), '`');
    out += fmt::format("\n## {} ({})\n\n{}\n{}\n{}\n", section.name.empty() ? "tool" : section.name,
                       section.role, fence, section.text, fence);
  }
  return out;
}

JsonObject AsJson(const PromptCall& call, int number, const Json& messages, Json report,
                  const std::vector<LoggedSection>& sections, JsonArray redactions) {
  JsonArray prompt;
  for (const LoggedSection& section : sections) {
    prompt.push_back(
        JsonObject{{"name", section.name}, {"role", section.role}, {"text", section.text}});
  }
  return {{"meta", JsonObject{{"schema", "dossier.prompt-log/1"},
                              {"stage", call.stage},
                              {"timestamp", call.time},
                              {"label", call.label},
                              {"counter", number},
                              {"attempt", call.attempt},
                              {"round", call.round},
                              {"model", call.model}}},
          {"prompt", std::move(prompt)},
          {"messages", messages},
          {"report", std::move(report)},
          {"redactions", std::move(redactions)}};
}

}  // namespace

std::string SafeFileName(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const bool safe = IsWordByte(c) || c == '-' || (c == '.' && !out.empty());
    out += safe ? c : '_';
  }
  return out.empty() ? "_" : out;
}

// Creating a link is exclusive and atomic, also on network file systems.
Status CreateWhole(const std::string& path, std::string_view content, Durability durability) {
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string partial = fmt::format("{}/{}{}", folder, kPartialFile, RandomHex(16));
  UniqueFd fd(open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return MakeErrnoError(errno, partial);
  Status written = WriteAll(fd.get(), content);
  const bool to_disk = durability == Durability::kSurvivesPowerLoss;
  if (written && to_disk && fsync(fd.get()) != 0) written = MakeErrnoError(errno, partial);
  if (written && link(partial.c_str(), path.c_str()) != 0) {
    written = errno == EEXIST ? MakeError(ErrorCode::kLocked, "{} exists", path)
                              : MakeErrnoError(errno, path);
  }
  unlink(partial.c_str());
  return written;
}

Status PointAlias(const std::string& folder, const std::string& alias, const std::string& target) {
  const std::string path = folder + "/" + alias;
  if (symlink(target.c_str(), path.c_str()) == 0) return {};
  std::string now(target.size() + 1, '\0');
  const ssize_t length = readlink(path.c_str(), now.data(), now.size());
  if (length < 0 && errno == EINVAL) {
    return MakeError(ErrorCode::kFailed, "{} is a file of its own: no link was made", path);
  }
  if (length >= 0 && now.substr(0, static_cast<std::size_t>(length)) == target) return {};
  const std::string partial = fmt::format("{}/{}{}", folder, kPartialFile, RandomHex(16));
  if (symlink(target.c_str(), partial.c_str()) != 0) return MakeErrnoError(errno, partial);
  if (rename(partial.c_str(), path.c_str()) == 0) return {};
  const Error error = ErrnoError(errno, path);
  unlink(partial.c_str());
  return tl::unexpected(error);
}

Result<std::string> PromptLog::Write(const PromptCall& call, const Assembled& prompt) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, 0700));
  RemoveOldPartials(folder_);
  Redactor redactor;
  Json messages = ToCanonicalJson(prompt.messages);
  redactor.Values(&messages, "");
  JsonArray redactions = redactor.TakeFound();
  Json report = prompt.report;
  redactor.Values(&report, "");  // references of sources; their content is in no section
  const std::vector<LoggedSection> sections = SectionsOf(messages);

  const std::string session = SafeFileName(call.session);
  int number = HighestNumber(folder_, session);
  for (int tries = 0; tries < kMaxTries; ++tries) {
    ++number;
    const std::string name = fmt::format("{}_{:03}_{}_attempt{}_round{}", session, number,
                                         SafeFileName(call.label), call.attempt, call.round);
    const std::string path = folder_ + "/" + name;
    const Status markdown = CreateWhole(path + ".md", AsMarkdown(name, sections));
    if (!markdown && markdown.error().code == ErrorCode::kLocked) continue;
    DOSSIER_RETURN_IF_ERROR(markdown);
    DOSSIER_RETURN_IF_ERROR(CreateWhole(
        path + ".json",
        ToPrettyJson(AsJson(call, number, messages, report, sections, redactions)) + "\n"));
    if (call.alias.empty()) return name;
    for (const std::string_view ending : {".md", ".json"}) {
      DOSSIER_RETURN_IF_ERROR(PointAlias(folder_, SafeFileName(call.alias) + std::string(ending),
                                         name + std::string(ending)));
    }
    return name;
  }
  return MakeError(ErrorCode::kIo, "{}: no free number for a prompt log of {}", folder_, session);
}

Status PromptLog::WriteReply(std::string_view name, const Json& reply, std::string_view text) {
  Json redacted = reply;
  Redactor().Values(&redacted, "");
  const std::string path = fmt::format("{}/{}_response", folder_, SafeFileName(name));
  DOSSIER_RETURN_IF_ERROR(CreateWhole(path + ".txt", Redact(text)));
  return CreateWhole(path + ".json", ToPrettyJson(redacted) + "\n");
}

}  // namespace dossier::assembly
