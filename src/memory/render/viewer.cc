#include "memory/render/viewer.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <unordered_map>

#include "base/text/html.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/records/connection.h"
#include "memory/search/branches.h"
#include "memory/transfer/transfer.h"

namespace dossier::memory {
namespace {

struct CoreLine {
  Seq seq = 0;
  std::optional<std::string> value;  // unset: deleted
  std::string note;
};
struct HiddenLine {
  Seq seq = 0;
  std::string reason;
};
// All history of one branch.
struct ViewerLines {
  std::map<std::string, std::vector<CoreLine>> core;  // by key, oldest first
  std::vector<Json> records;
  std::map<std::string, std::vector<HiddenLine>> hidden;  // by uid of the record, oldest first
};

// Returns "2026-03-01 10:00:00" for "2026-03-01T10:00:00.000000Z".
std::string ShortTime(std::string_view time) {
  return ReplaceAll(time.substr(0, std::min(time.find('.'), time.size())), "T", " ");
}
Seq SeqOf(const Json& line) { return FindInt(line, "seq").value_or(0); }

class ViewerGathering {
 public:
  Result<ViewerData> Run(const Store& store, const ViewerExtras& extras) {
    data_.store_id = store.store_id();
    data_.best_nodes = extras.best_nodes;
    DOSSIER_RETURN_IF_ERROR(ReadLines(store));
    DOSSIER_RETURN_IF_ERROR(ReadWrites(store));
    for (const auto& [phase, reads] : extras.reads) PhaseOf(phase).reads += reads;
    PlaceBranches();
    for (ViewerBranch& branch : data_.branches) {
      FillBranch(branch);
      const auto name = extras.node_names.find(branch.node);
      if (name != extras.node_names.end()) branch.node = name->second;
    }
    return std::move(data_);
  }

 private:
  Status ReadLines(const Store& store) {
    return ExportStore(store, {.scope = ExportScope::kAll},
                       [this](std::string_view text) -> Status {
                         for (const std::string_view one : Split(text, '\n')) {
                           if (one.empty()) continue;
                           DOSSIER_ASSIGN_OR_RETURN(Json line, ParseJson(one));
                           TakeLine(std::move(line));
                         }
                         return {};
                       });
  }

  void TakeLine(Json line) {
    const std::string type = TextAt(line, "type");
    ViewerLines& lines = lines_[TextAt(line, "branch")];
    if (type == "branch") {
      branches_.push_back({.name = TextAt(line, "name"),
                           .parent = TextAt(line, "parent"),
                           .node = TextAt(line, "node"),
                           .time = ShortTime(TextAt(line, "time")),
                           .fork_seq = FindInt(line, "fork_seq").value_or(0),
                           .seq = SeqOf(line)});
    } else if (type == "core") {
      const auto value = FindString(line, "value");
      lines.core[TextAt(line, "key")].push_back(
          {.seq = SeqOf(line),
           .value = value ? std::optional(std::string(*value)) : std::nullopt,
           .note = CoreNote(line)});
    } else if (type == "record") {
      ids_[TextAt(line, "uid")] = FindInt(line, "id").value_or(0);
      lines.records.push_back(std::move(line));
    } else if (type == "hidden") {
      lines.hidden[TextAt(line, "record")].push_back({SeqOf(line), TextAt(line, "reason")});
    }
  }

  static std::string CoreNote(const Json& line) {
    std::string note = fmt::format("importance {}", FindInt(line, "importance").value_or(0));
    if (FindBool(line, "pinned").value_or(false)) note += ", pinned";
    const std::string expires = TextAt(line, "expires");
    if (!expires.empty()) note += ", expires " + ShortTime(expires);
    return note;
  }

  ViewerPhase& PhaseOf(std::string_view phase) {
    const auto [found, is_new] = phases_.try_emplace(std::string(phase), data_.phases.size());
    if (is_new) data_.phases.push_back({.phase = found->first});
    return data_.phases[found->second];
  }

  Status ReadWrites(const Store& store) {
    return store.ReadRows([this](const RowAccess& rows) -> Status {
      return ForEachRow(rows.connection,
                        "SELECT o.seq, o.at, b.name, o.op, o.phase FROM ops AS o "
                        "JOIN branches AS b ON b.id = o.branch_id ORDER BY o.seq",
                        [this](const store::Statement& row) {
                          ViewerWrite write{.seq = row.Int(0),
                                            .time = ShortTime(FormatMicrosTime(row.Int(1))),
                                            .branch = row.Text(2),
                                            .op = row.Text(3)};
                          ViewerPhase& phase = PhaseOf(row.Text(4));
                          ++(write.op == "fork" ? phase.forks : phase.writes);
                          data_.newest = write.seq;
                          data_.writes.push_back(std::move(write));
                        });
    });
  }

  // Places each under its parent; branches with a missing parent or in a cycle come at the end.
  void PlaceBranches() {
    for (const ViewerBranch& branch : branches_) by_name_.emplace(branch.name, &branch);
    for (const ViewerBranch& branch : std::views::reverse(branches_)) {
      children_[branch.parent].push_back(&branch);
    }
    PlaceBelow("", 0);
    if (placed_.size() == branches_.size()) return;
    data_.branches.push_back({.name = std::string(kVirtualRoot)});
    for (const ViewerBranch& branch : branches_) {
      if (!by_name_.contains(branch.parent)) PlaceBelow(branch.parent, 1);
    }
    for (const ViewerBranch& branch : branches_) PlaceBelow(branch.parent, 1);
  }

  // Uses an explicit stack, because forks may be nested without limit.
  void PlaceBelow(const std::string& parent, int depth) {
    std::vector<std::pair<const ViewerBranch*, int>> open;  // and its depth; the next one last
    const auto add = [&](const std::string& name, int below) {
      for (const ViewerBranch* branch : children_[name]) open.emplace_back(branch, below);
    };
    for (add(parent, depth); !open.empty();) {
      const auto [branch, at] = open.back();
      open.pop_back();
      if (!placed_.insert(branch->name).second) continue;
      data_.branches.push_back(*branch);
      data_.branches.back().depth = at;
      add(branch->name, at + 1);
    }
  }

  void FillBranch(ViewerBranch& branch) {
    const ViewerLines& lines = lines_[branch.name];
    for (const auto& [key, writes] : lines.core) AddOwnCore(key, writes, branch);
    AddInheritedCore(lines, branch);
    for (const Json& record : lines.records) AddRecord(record, lines, branch);
    for (const auto& [uid, hidden] : lines.hidden) {
      for (const HiddenLine& line : hidden) {
        branch.exclusions.push_back({.label = fmt::format("#{}", ids_[uid]),
                                     .text = line.reason,
                                     .note = fmt::format("write {}", line.seq),
                                     .spans = {{line.seq, 0}}});
      }
    }
    std::ranges::stable_sort(branch.exclusions, {},
                             [](const ViewerItem& item) { return item.spans[0].from; });
  }

  static void AddOwnCore(const std::string& key, const std::vector<CoreLine>& writes,
                         ViewerBranch& branch) {
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (!writes[i].value) continue;
      const Seq next = i + 1 < writes.size() ? writes[i + 1].seq : 0;
      branch.own_core.push_back({.label = key,
                                 .text = *writes[i].value,
                                 .note = writes[i].note,
                                 .spans = {{writes[i].seq, next}}});
    }
  }

  const ViewerBranch* FindBranch(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  // Adds what the ancestors had at the fork, until the branch writes that key itself.
  void AddInheritedCore(const ViewerLines& own, ViewerBranch& branch) {
    std::set<std::string> decided;
    Seq last = branch.fork_seq;
    std::set<std::string> seen;
    for (const ViewerBranch* link = FindBranch(branch.parent);
         link && seen.insert(link->name).second;
         last = std::min(last, link->fork_seq), link = FindBranch(link->parent)) {
      for (const auto& [key, writes] : lines_[link->name].core) {
        const CoreLine* newest = nullptr;
        for (const CoreLine& line : writes) newest = line.seq <= last ? &line : newest;
        if (!newest || !decided.insert(key).second || !newest->value) continue;
        const auto written = own.core.find(key);
        branch.inherited_core.push_back(
            {.label = key,
             .text = *newest->value,
             .note = fmt::format("of {}, {}", link->name, newest->note),
             .spans = {{branch.seq, written == own.core.end() ? 0 : written->second[0].seq}}});
      }
    }
    std::ranges::stable_sort(branch.inherited_core, {}, &ViewerItem::label);
  }

  // A record is shown until hidden and again once restored; consolidated ones stay shown.
  static std::vector<SeqSpan> SpansOf(Seq seq, const std::vector<HiddenLine>& hidden) {
    std::vector<SeqSpan> spans = {{seq, 0}};
    for (const HiddenLine& line : hidden) {
      const bool shown = line.reason == "restored" || line.reason == "consolidated";
      const bool open = spans.back().to == 0;
      if (shown && !open) spans.push_back({line.seq, 0});
      if (!shown && open) spans.back().to = line.seq;
    }
    return spans;
  }

  void AddRecord(const Json& record, const ViewerLines& lines, ViewerBranch& branch) {
    const std::string tier = TextAt(record, "tier");
    const std::string kind = TextAt(record, "kind");
    const auto hidden = lines.hidden.find(TextAt(record, "uid"));
    ViewerItem item{
        .label = fmt::format("#{}{}{}", FindInt(record, "id").value_or(0), kind.empty() ? "" : " ",
                             kind),
        .text = TextAt(record, "text"),
        .note = ShortTime(TextAt(record, "time")),
        .spans = SpansOf(SeqOf(record), hidden == lines.hidden.end() ? std::vector<HiddenLine>{}
                                                                     : hidden->second)};
    if (const Json* tags = Find(record, "tags"); tags && tags->is_array()) {
      for (const Json& tag : tags->get_array()) {
        if (const auto* name = tag.if_string()) item.note += fmt::format(" · {}", name->c_str());
      }
    }
    if (hidden != lines.hidden.end() && hidden->second.back().reason == "consolidated") {
      item.note += fmt::format(" · left the window at write {}", hidden->second.back().seq);
    }
    (tier == "recall"    ? branch.events
     : tier == "summary" ? branch.summaries
                         : branch.archival)
        .push_back(std::move(item));
  }

  ViewerData data_;
  std::vector<ViewerBranch> branches_;
  std::map<std::string, ViewerLines> lines_;   // by branch
  std::map<std::string, std::int64_t> ids_;    // record ids by uid
  std::map<std::string, std::size_t> phases_;  // places in data_.phases
  std::unordered_map<std::string, const ViewerBranch*> by_name_;
  std::unordered_map<std::string, std::vector<const ViewerBranch*>>
      children_;  // the last one first
  std::set<std::string> placed_;
};

}  // namespace

Result<ViewerData> GatherViewer(const Store& store, const ViewerExtras& extras) {
  return ViewerGathering().Run(store, extras);
}

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

  // Returns how many of them exist at the newest write.
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

std::string ViewerPage(const ViewerData& data) { return PageWriter(data).Write(); }

}  // namespace dossier::memory
