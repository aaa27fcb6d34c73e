#include <array>

#include "base/text/utf8.h"
#include "sources/header/agent_header.h"
#include "sources/header/header_tokens.h"

namespace dossier::sources {
namespace {

// Code points that must not stand as they are: controls, line ends of YAML 1.1, marks that turn the
// direction of text, what is no character.
bool NeedsEscape(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

void AppendEscape(char32_t code, std::string* out) {
  constexpr std::pair<char32_t, std::string_view> kShort[] = {
      {'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
  for (const auto& [known, escape] : kShort) {
    if (known == code) {
      *out += escape;
      return;
    }
  }
  const auto number = static_cast<unsigned>(code);
  *out += code < 0x100 ? fmt::format("\\x{:02X}", number) : fmt::format("\\u{:04X}", number);
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x20 && byte < 0x7F) {
      if (byte == '"' || byte == '\\') *out += '\\';
      *out += static_cast<char>(byte);
      ++at;
      continue;
    }
    const char32_t code = utf8::Next(text, &at);
    if (NeedsEscape(code)) {
      AppendEscape(code, out);
    } else {
      utf8::Append(code, out);
    }
  }
  *out += '"';
}

// Writes the block of a header, key by key.
class YamlWriter {
 public:
  std::string Write(const Header& header) {
    out_.reserve(2048);
    out_ = "---  # agent_context\n";
    WriteRepo(header);
    Each("pending", header.pending, [&](const Header::Pending& note) {
      Text("id: ", note.id).Text("\n    age: ", note.age).List("\n    files: ", note.files);
    });
    Each("backlog", header.backlog, [&](const Header::Backlog& task) {
      Text("{id: ", task.id).Text(", summary: ", task.summary).Raw("}");
    });
    Each("hotspots", header.hotspots, [&](const Header::Hotspot& spot) {
      Text("{path: ", spot.path).Text(", age: ", spot.age).Raw("}");
    });
    List("targets: ", header.targets).List("\npolicy: ", header.policy).Raw("\n");
    Each("next_work", header.next_work, [&](const std::string& entry) { Text("", entry); });
    Text("mode: ", header.mode).Raw("\n...\n");
    return std::move(out_);
  }

 private:
  YamlWriter& Raw(std::string_view text) {
    out_ += text;
    return *this;
  }
  YamlWriter& Text(std::string_view lead, std::string_view text) {
    out_ += lead;
    AppendQuoted(text, &out_);
    return *this;
  }
  YamlWriter& List(std::string_view lead, const std::vector<std::string>& list) {
    out_ += lead;
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) Text(i == 0 ? "" : ", ", list[i]);
    out_ += ']';
    return *this;
  }

  template <typename T, typename Item>
  void Each(std::string_view key, const std::vector<T>& items, Item item) {
    Raw(key).Raw(items.empty() ? ": []\n" : ":\n");
    for (const T& one : items) {
      out_ += "  - ";
      item(one);
      out_ += '\n';
    }
  }

  void WriteRepo(const Header& header) {
    Text("repo:\n  branch: ", header.branch).Text("\n  head: ", header.head);
    Text("\n  recent_window: ", header.recent_window).Raw("\n");
    if (header.dirty) Raw("  dirty: ").Raw(*header.dirty ? "true\n" : "false\n");
    if (header.upstream) {
      const auto& upstream = *header.upstream;
      Raw("  upstream: ");
      Raw(upstream ? fmt::format("{{ahead: {}, behind: {}}}\n", upstream->ahead, upstream->behind)
                   : "null\n");
    }
    if (header.commits) List("  commits: ", *header.commits).Raw("\n");
    if (header.date) Text("  date: ", *header.date).Raw("\n");
    if (header.environment) {
      const HeaderEnvironment& environment = *header.environment;
      Text("  environment: {os: ", environment.os).Text(", sandbox: ", environment.sandbox);
      Text(", network: ", environment.network).List(", tools: ", environment.tools).Raw("}\n");
    }
  }

  std::string out_;
};

JsonArray TextList(const std::vector<std::string>& texts) {
  return JsonArray(texts.begin(), texts.end());
}

JsonObject RepoJson(const Header& header) {
  JsonObject repo{
      {"branch", header.branch}, {"head", header.head}, {"recent_window", header.recent_window}};
  if (header.dirty) repo["dirty"] = *header.dirty;
  if (header.upstream) {
    repo["upstream"] = nullptr;
    if (const auto& upstream = *header.upstream) {
      repo["upstream"] = JsonObject{{"ahead", upstream->ahead}, {"behind", upstream->behind}};
    }
  }
  if (header.commits) repo["commits"] = TextList(*header.commits);
  if (header.date) repo["date"] = *header.date;
  if (header.environment) {
    repo["environment"] = JsonObject{{"os", header.environment->os},
                                     {"sandbox", header.environment->sandbox},
                                     {"network", header.environment->network},
                                     {"tools", TextList(header.environment->tools)}};
  }
  return repo;
}

// Sections of bullets; an empty one says so.
class MarkdownWriter {
 public:
  void Section(std::string_view key, std::string_view empty) {
    if (!out_.empty()) out_ += "\n";
    out_ += fmt::format("### {}\n", key);
    empty_ = empty;
    start_ = out_.size();
  }
  void Bullet(std::string_view text) { out_ += fmt::format("- {}\n", text); }
  void End() {
    if (out_.size() == start_) Bullet(empty_);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_, empty_;
  std::size_t start_ = 0;
};

std::string CodeSpans(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + CodeSpan(text);
  return out;
}

void WriteRepo(const Header& header, MarkdownWriter* out) {
  out->Section("repo", "");
  out->Bullet("branch: " + CodeSpan(header.branch));
  out->Bullet("head: " + CodeSpan(header.head));
  out->Bullet("recent_window: " + header.recent_window);
  if (header.dirty) out->Bullet(*header.dirty ? "dirty: true" : "dirty: false");
  if (header.upstream) {
    const auto& upstream = *header.upstream;
    out->Bullet(
        upstream ? fmt::format("upstream: {} ahead, {} behind", upstream->ahead, upstream->behind)
                 : "upstream: (none)");
  }
  if (header.commits) {
    for (const std::string& subject : *header.commits)
      out->Bullet("commit: " + SingleLine(subject));
  }
  if (header.date) out->Bullet("date: " + *header.date);
  if (header.environment) {
    const HeaderEnvironment& environment = *header.environment;
    out->Bullet("os: " + SingleLine(environment.os));
    out->Bullet("sandbox: " + SingleLine(environment.sandbox));
    out->Bullet("network: " + SingleLine(environment.network));
    out->Bullet("tools: " + CodeSpans(environment.tools));
  }
}

}  // namespace

std::string ToYaml(const Header& header) { return YamlWriter().Write(header); }

Json ToJsonValue(const Header& header) {
  JsonArray pending, backlog, hotspots;
  for (const Header::Pending& note : header.pending) {
    pending.push_back(
        JsonObject{{"id", note.id}, {"age", note.age}, {"files", TextList(note.files)}});
  }
  for (const Header::Backlog& task : header.backlog) {
    backlog.push_back(JsonObject{{"id", task.id}, {"summary", task.summary}});
  }
  for (const Header::Hotspot& spot : header.hotspots) {
    hotspots.push_back(JsonObject{{"path", spot.path}, {"age", spot.age}});
  }
  return JsonObject{{"schema", "dossier.header/1"},
                    {"repo", RepoJson(header)},
                    {"pending", std::move(pending)},
                    {"backlog", std::move(backlog)},
                    {"hotspots", std::move(hotspots)},
                    {"targets", TextList(header.targets)},
                    {"policy", TextList(header.policy)},
                    {"next_work", TextList(header.next_work)},
                    {"mode", header.mode}};
}

std::string ToMarkdown(const Header& header) {
  MarkdownWriter out;
  WriteRepo(header, &out);
  out.Section("pending", "(none)");
  for (const Header::Pending& note : header.pending) {
    out.Bullet(fmt::format("{} ({}): {}", CodeSpan(note.id), note.age, CodeSpans(note.files)));
  }
  out.End();
  out.Section("backlog", "(empty)");
  for (const Header::Backlog& task : header.backlog) {
    out.Bullet(fmt::format("{} • {}", CodeSpan(task.id), SingleLine(task.summary)));
  }
  out.End();
  out.Section("hotspots", "(none)");
  for (const Header::Hotspot& spot : header.hotspots) {
    out.Bullet(fmt::format("{} ({})", CodeSpan(spot.path), spot.age));
  }
  out.End();
  out.Section("targets", "(any)");
  for (const std::string& target : header.targets) out.Bullet(CodeSpan(target));
  out.End();
  out.Section("policy", "(none)");
  for (const std::string& rule : header.policy) out.Bullet(SingleLine(rule));
  out.End();
  out.Section("next_work", "noop");
  for (const std::string& entry : header.next_work) out.Bullet(SingleLine(entry));
  out.End();
  out.Section("mode", "");
  out.Bullet(header.mode);
  return out.Take();
}

}  // namespace dossier::sources
