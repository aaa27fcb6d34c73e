#include "memory/render/viewer_page.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

std::string Policy() {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; "
      "form-action 'none'",
      HashSource(ViewerScript()), HashSource(ViewerStyle()));
}

std::string SpansText(const std::vector<SeqSpan>& spans) {
  std::string text;
  for (const SeqSpan& span : spans) {
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", span.from,
                        span.to == 0 ? "" : std::to_string(span.to));
  }
  return text;
}

class PageWriter {
 public:
  explicit PageWriter(const ViewerData& data) : data_(data) {}

  std::string Write() && {
    WriteHead();
    html_ += "<main>\n";
    WriteTree();
    html_ += "<div>\n";
    WriteBestNodes();
    WritePhases();
    for (std::size_t i = 0; i < data_.branches.size(); ++i) WriteBranch(data_.branches[i], i);
    html_ += "</div>\n</main>\n";
    WriteScripts();
    return std::move(html_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Args>(args)...);
  }

  void WriteHead() {
    Add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Memory</title>\n<style>{}</style>\n</head>\n<body>\n",
        Policy(), ViewerStyle());
    Add("<header><h1>Memory</h1> <small>store {}, {} branches, {} writes</small>\n"
        "<div class=\"slider\"><label for=\"seq\">Write</label>"
        "<input id=\"seq\" type=\"range\" min=\"0\" max=\"{}\" value=\"{}\">"
        "<output id=\"shown\" for=\"seq\">{} of {}</output></div>\n<div "
        "id=\"at\"></div></header>\n",
        EscapeHtml(utf8::Prefix(data_.store_id, 8)), data_.branches.size(), data_.newest,
        data_.newest, data_.newest, data_.newest, data_.newest);
  }

  void WriteTree() {
    html_ += "<nav aria-label=\"Branches\"><h2>Branches</h2>\n<ul>";
    int depth = 0;
    for (std::size_t i = 0; i < data_.branches.size(); ++i) {
      const ViewerBranch& branch = data_.branches[i];
      if (i > 0 && branch.depth > depth) {
        html_ += "<ul>";
      } else if (i > 0) {
        html_ += "</li>";
        for (int level = depth; level > branch.depth; --level) html_ += "</ul></li>";
      }
      depth = branch.depth;
      Add("<li><a href=\"#b{}\">{} <span class=\"count\" data-count=\"b{}\"></span></a>", i,
          EscapeHtml(branch.name), i);
    }
    for (int level = depth; level > 0; --level) html_ += "</li></ul>";
    html_ += data_.branches.empty() ? "</ul></nav>\n" : "</li></ul></nav>\n";
  }

  void WriteBestNodes() {
    if (data_.best_nodes.empty()) return;
    html_ +=
        "<section class=\"facts\"><h2>Best nodes</h2><table><tr><th>Node<th class=\"number\">Score"
        "<th>Summary</tr>\n";
    for (const ViewerNode& node : data_.best_nodes) {
      Add("<tr><td>{}<td class=\"number\">{}<td>{}</tr>\n", EscapeHtml(node.name), node.score,
          EscapeHtml(node.summary));
    }
    html_ += "</table></section>\n";
  }

  void WritePhases() {
    if (data_.phases.empty()) return;
    html_ +=
        "<section class=\"facts\"><h2>By phase</h2><table><tr><th>Phase<th class=\"number\">Reads"
        "<th class=\"number\">Writes<th class=\"number\">Forks</tr>\n";
    for (const ViewerPhase& phase : data_.phases) {
      Add("<tr><td>{}<td class=\"number\">{}<td class=\"number\">{}<td class=\"number\">{}</tr>\n",
          phase.phase.empty() ? "none" : EscapeHtml(phase.phase), phase.reads, phase.writes,
          phase.forks);
    }
    html_ += "</table></section>\n";
  }

  void WriteBranch(const ViewerBranch& branch, std::size_t index) {
    Add("<details class=\"card\" id=\"b{}\" open><summary>{} <span class=\"note\">{}</span>"
        "</summary>\n",
        index, EscapeHtml(branch.name), EscapeHtml(About(branch)));
    const std::pair<std::string_view, const std::vector<ViewerItem>*> groups[] = {
        {"Core", &branch.own_core},       {"Core, inherited", &branch.inherited_core},
        {"Summaries", &branch.summaries}, {"Events", &branch.events},
        {"Archival", &branch.archival},   {"Exclusions", &branch.exclusions}};
    std::size_t live = 0;
    for (const auto& [title, items] : groups) live += WriteGroup(title, *items);
    Add("<p class=\"none\"{}>Nothing here at this write.</p></details>\n",
        live > 0 ? " hidden" : "");
  }

  static std::string About(const ViewerBranch& branch) {
    if (branch.name == kVirtualRoot) return "branches whose parent is not in this store";
    if (branch.parent.empty()) return "the first branch";
    std::string about = fmt::format("from {} at write {}", branch.parent, branch.fork_seq);
    if (!branch.node.empty()) about += ", node " + branch.node;
    return about + ", " + branch.time;
  }

  // How many of them are there at the newest write.
  std::size_t WriteGroup(std::string_view title, const std::vector<ViewerItem>& items) {
    if (items.empty()) return 0;
    const auto lives = [this](const ViewerItem& item) {
      return std::ranges::any_of(item.spans,
                                 [this](const SeqSpan& span) { return span.Holds(data_.newest); });
    };
    const auto live = static_cast<std::size_t>(std::ranges::count_if(items, lives));
    Add("<section class=\"group\"{}><h3>{}</h3><ul>\n", live > 0 ? "" : " hidden", title);
    for (const ViewerItem& item : items) {
      Add("<li data-spans=\"{}\"{}><div class=\"label\">{}</div><div><div class=\"text\">{}</div>",
          SpansText(item.spans), lives(item) ? "" : " hidden", EscapeHtml(item.label),
          EscapeHtml(item.text));
      if (!item.note.empty()) Add("<div class=\"note\">{}</div>", EscapeHtml(item.note));
      html_ += "</div></li>\n";
    }
    html_ += "</ul></section>\n";
    return live;
  }

  void WriteScripts() {
    JsonArray writes;
    for (const ViewerWrite& write : data_.writes) {
      writes.push_back(JsonArray{write.seq, write.time, write.branch, write.op});
    }
    Add("<script type=\"application/json\" id=\"writes\">{}</script>\n<script>{}</script>\n"
        "</body>\n</html>\n",
        EscapeForScript(ToJson(writes)), ViewerScript());
  }

  const ViewerData& data_;
  std::string html_;
};

}  // namespace

std::string HashSource(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(HexValue(hex[i]) << 4 | HexValue(hex[i + 1]));
  }
  return fmt::format("'sha256-{}'", Base64(bytes));
}

std::string EscapeHtml(std::string_view text) {
  const std::string valid = utf8::Sanitize(text);
  std::string html;
  html.reserve(valid.size());
  for (const char c : valid) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default: {
        const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
        html += control ? std::string("\xEF\xBF\xBD") : std::string(1, c);
      }
    }
  }
  return html;
}

std::string EscapeForScript(std::string_view json) {
  return ReplaceAll(ReplaceAll(ReplaceAll(json, "<", "\\u003c"), ">", "\\u003e"), "&", "\\u0026");
}

std::string ViewerPage(const ViewerData& data) { return PageWriter(data).Write(); }

}  // namespace dossier::memory
