#include "research/search/tree_page.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "base/text/html.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/png.h"

namespace dossier::research {
namespace {

std::string CostText(const model::UsageSum& usage) {
  const std::optional<std::int64_t>& cost = usage.total.cost_nano_usd;
  return cost ? "$" + UsdText(static_cast<double>(*cost) / 1e9) : "not known";
}

// The texts of prompts, each stored once, up to the page's limit.
class TextTable {
 public:
  std::size_t Add(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    std::string kept = CutText(text, kMaxPageText);
    if (bytes_ + kept.size() > kMaxPageBytes) {
      kept = "(left out: this page is full; the prompt's log has it)";
    }
    bytes_ += kept.size();
    texts_.emplace_back(std::move(kept));
    numbers_.emplace(text, texts_.size() - 1);
    return texts_.size() - 1;
  }
  JsonArray Take() && { return std::move(texts_); }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  JsonArray texts_;
  std::size_t bytes_ = 0;
};

class PageWriter {
 public:
  PageWriter(std::string_view title, const std::vector<PageStage>& stages, const PageRun* run)
      : title_(title), stages_(stages), run_(run) {
    for (const PageStage& stage : stages) {
      for (const PageNode& node : stage.nodes) {
        all_.push_back({&stage, &node});
        anchors_.emplace(node.node, fmt::format("n{}", all_.size() - 1));
        latest_[node.node->id] = node.node;
      }
    }
  }

  std::string Write() && {
    WriteHead();
    WriteTools();
    html_ += "<main>\n<div class=\"drawn\">\n<nav class=\"canvas\" aria-label=\"Nodes\">";
    html_ +=
        all_.empty() ? "<p class=\"dim\">There is no node yet.</p>\n" : DrawTree(stages_, anchors_);
    html_ += "</nav>\n" + DrawMetrics(stages_, anchors_) + "</div>\n<div>\n";
    for (const auto& [stage, node] : all_) WriteNode(*stage, *node);
    if (run_) WriteRun();
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
    model::UsageSum sum = run_ ? run_->usage : model::UsageSum();
    Tree counted;
    std::size_t running = 0;
    for (const auto& [stage, page] : all_) {
      const Node& node = *page->node;
      sum.Add(node.usage);
      const bool runs = page->state == PageNode::State::kRunning;
      running += runs ? 1 : 0;
      if (!runs) counted.nodes.push_back(node);
    }
    const NodeCount count = CountNodes(counted);
    Add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        "script-src {}; style-src {}; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style>\n</head>\n<body data-first=\"{}\">\n",
        HashSource(TreePageScript()), HashSource(TreePageStyle()), EscapeHtml(title_),
        TreePageStyle(), First());
    Add("<header><h1>{}</h1><small>nodes: {} done, {} good, {} buggy, {} running; stages: {}; "
        "calls: {}, tokens in: {}, out: {}; cost: {}</small>\n",
        EscapeHtml(title_), count.done, count.good, count.buggy, running, stages_.size(),
        GroupDigits(Unsigned(sum.calls)), GroupDigits(Unsigned(sum.total.input)),
        GroupDigits(Unsigned(sum.total.output)), CostText(sum));
  }

  void WriteTools() {
    html_ +=
        "<div class=\"tools\"><input id=\"search\" type=\"search\" placeholder=\"Search nodes "
        "(/)\" "
        "aria-label=\"Search nodes\"><output id=\"found\" for=\"search\"></output>"
        "<button type=\"button\" data-zoom=\"-1\" aria-label=\"Smaller\">−</button>"
        "<button type=\"button\" data-zoom=\"0\">100 %</button>"
        "<button type=\"button\" data-zoom=\"1\" aria-label=\"Larger\">+</button>"
        "<button type=\"button\" data-zoom=\"fit\">Fit</button>";
    if (run_) Add("<a href=\"#run\">calls of no node, {}</a>", CostText(run_->usage));
    html_ +=
        "<span class=\"dim legend\"><span class=\"best\">★ best</span> <span class=\"good\">✓ good"
        "</span> <span class=\"buggy\">✕ buggy</span> ~ running, s seed, ⚑ pinned</span></div>"
        "</header>\n";
  }

  static std::uint64_t Unsigned(std::int64_t number) {
    return number < 0 ? 0 : static_cast<std::uint64_t>(number);
  }

  // Returns the best node of the last stage that has one.
  std::string First() const {
    for (auto entry = all_.rbegin(); entry != all_.rend(); ++entry) {
      if (entry->second->node->id == entry->first->best_node) {
        return anchors_.find(entry->second->node)->second;
      }
    }
    return all_.empty() ? "" : "n0";
  }

  void Fact(std::string_view name, std::string_view value) {
    if (!value.empty()) Add("<dt>{}</dt><dd>{}</dd>", name, EscapeHtml(value));
  }

  static std::string_view NameOf(const Node& node) {
    return node.name.empty() ? NodeKindName(node.kind) : std::string_view(node.name);
  }

  // Links to the latest node with this id: a substage has a copy of it.
  void Link(std::string_view name, std::string_view id) {
    const auto found = id.empty() ? latest_.end() : latest_.find(id);
    if (found == latest_.end()) return Fact(name, id.substr(0, 8));
    Add("<dt>{}</dt><dd><a href=\"#{}\">{}</a></dd>", name, anchors_.find(found->second)->second,
        EscapeHtml(NameOf(*found->second)));
  }

  void Usage(const model::UsageSum& usage) {
    Fact("Calls", fmt::format("{}; {} tokens in, {} out", usage.calls,
                              GroupDigits(Unsigned(usage.total.input)),
                              GroupDigits(Unsigned(usage.total.output))));
    Fact("Cost", CostText(usage));
  }

  void Text(std::string_view name, std::string_view text) {
    if (TrimSpace(text).empty()) return;
    Add("<details><summary>{}</summary><pre>{}</pre></details>\n", name,
        EscapeHtml(CutText(text, kMaxPageText)));
  }

  void WriteNode(const PageStage& stage, const PageNode& page) {
    const Node& node = *page.node;
    const NodeMark mark = MarkOf(page, stage.best_node);
    Add("<article id=\"{}\"><h3><span class=\"mark {}\">{}</span> {}</h3>\n<dl>",
        anchors_.find(&node)->second, mark.name, mark.sign, EscapeHtml(NameOf(node)));
    Fact("Stage", stage.name);
    Fact("Kind", NodeKindName(node.kind));
    Fact("State", mark.name);
    if (node.steer != Steer::kFree) {
      Fact("Steered", node.steer == Steer::kPinned ? "pinned" : "pruned");
    }
    Fact("Hint", node.hint);
    Fact("Metric", node.metric ? MetricText(*node.metric) : "N/A");
    Fact("Run time", SecondsText(node.exec_time));
    Fact("Error", node.exc_type);
    Fact("Failure", node.failure);
    Link("Parent", node.parent_id);
    Link("Copy of", node.inherited_from_node_id);
    Fact("Tuned", node.hyperparam_name);
    Fact("Ablation", node.ablation_name);
    Fact("Seed", node.seed_value ? std::to_string(*node.seed_value) : "");
    Fact("Data sets", Join(node.datasets_successfully_tested, ", "));
    Usage(node.usage);
    Fact("Id", node.id);
    html_ += "</dl>\n";
    WriteImages(page.images);
    Text("Plan", node.plan);
    Text("Analysis", node.analysis);
    Text("Feedback on the plots", node.vlm_feedback_summary);
    Text("Output", node.term_out);
    Text("Error", node.exc_info);
    Text("Code", node.code);
    Text("Plot code", node.plot_code);
    WritePrompts(page.prompts);
    html_ += "</article>\n";
  }

  // Writes what belongs to no node: report, figures, citations, paper, review.
  void WriteRun() {
    html_ += "<article id=\"run\"><h3>Run</h3>\n<dl>";
    Usage(run_->usage);
    html_ += "</dl>\n";
    WriteImages(run_->images);
    WritePrompts(run_->prompts);
    html_ += "</article>\n";
  }

  void WriteImages(const std::vector<PageImage>& images) {
    if (images.empty()) return;
    html_ += "<div class=\"figures\">";
    for (const PageImage& image : images) {
      const Result<std::string> png = FitPng(image.png, kPageImageSide);
      if (!png || image_bytes_ + png->size() > kMaxPageBytes) {
        Add("<figure><figcaption>{} (left out: {})</figcaption></figure>", EscapeHtml(image.name),
            png ? "this page is full" : "it does not decode");
        continue;
      }
      image_bytes_ += png->size();
      Add("<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\"><figcaption>{}</figcaption>"
          "</figure>",
          EscapeHtml(image.name), Base64(*png), EscapeHtml(image.name));
    }
    html_ += "</div>\n";
  }

  void WritePrompts(const std::vector<PagePrompt>& prompts) {
    for (const PagePrompt& prompt : prompts) {
      JsonArray sections;
      for (const auto& [name, text] : prompt.sections) {
        sections.push_back(JsonArray{name, texts_.Add(text)});
      }
      Add("<details data-prompt=\"{}\"><summary>{} <span class=\"dim\">{} sections</span></summary>"
          "</details>\n",
          prompts_.size(), EscapeHtml(prompt.name), prompt.sections.size());
      prompts_.push_back(std::move(sections));
    }
  }

  void WriteScripts() {
    const JsonObject data{{"texts", std::move(texts_).Take()}, {"prompts", std::move(prompts_)}};
    Add("<script type=\"application/json\" id=\"texts\">{}</script>\n<script>{}</script>\n"
        "</body>\n</html>\n",
        EscapeForScript(ToJson(data)), TreePageScript());
  }

  const std::string_view title_;
  const std::vector<PageStage>& stages_;
  const PageRun* const run_;
  std::vector<std::pair<const PageStage*, const PageNode*>> all_;
  PageAnchors anchors_;
  std::map<std::string_view, const Node*> latest_;  // by id
  TextTable texts_;
  JsonArray prompts_;
  std::size_t image_bytes_ = 0;
  std::string html_;
};

}  // namespace

std::string TreePage(std::string_view title, const std::vector<PageStage>& stages,
                     const PageRun* run) {
  return PageWriter(title, stages, run).Write();
}

}  // namespace dossier::research
