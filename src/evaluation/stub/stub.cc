#include "evaluation/stub/stub.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>

#include "base/files/missing_file.h"
#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kHeadBytes = 8;  // of a text, used to look it up; no text is shorter
constexpr int kMostFaults = 2;         // per item
constexpr std::uint64_t kMostTableBytes = 4ull << 30;
constexpr std::string_view kForeign = "none of these";
constexpr std::string_view kLabelMark = " || Label: ", kTextMark = "Instance: ";

void AddText(std::string_view text, std::string_view label, StubTable* table) {
  table->label_of.emplace(text, label);
}

Status FinishTable(std::string_view name, StubTable* table) {
  std::set<std::string> labels;
  for (const auto& [text, label] : table->label_of) labels.insert(label);
  table->labels.assign(labels.begin(), labels.end());
  if (labels.size() >= 2) return {};
  return MakeError(ErrorCode::kConfig, "{}: {} label; a stub needs two at least", name,
                   labels.empty() ? "no" : "one");
}

// Returns a text as a root model would write it in code.
std::string AsLiteral(const std::string& text) { return ToJson(Json(text)); }

class Stub final : public model::Script {
 public:
  Stub(StubTable table, StubOptions options)
      : table_(std::move(table)), options_(std::move(options)), finder_(table_) {
    if (options_.plan) question_ = std::make_unique<RE2>(options_.plan->question);
  }

  Result<Answer> Next(const model::Request& request) override {
    std::string all = request.messages.SystemText();
    for (const auto& turn : request.messages.turns) all += "\n" + turn.Text();
    Answer answer = IsRoot(all) ? RootAnswer(request, all) : LabelAnswer(all);
    const std::lock_guard lock(mutex_);
    if (!options_.latency.empty()) {
      answer.delay = options_.latency[replies_++ % options_.latency.size()];
    }
    return answer;
  }

 private:
  bool IsRoot(std::string_view all) const {
    return options_.plan && all.find(options_.plan->mark) != std::string_view::npos;
  }

  Answer RootAnswer(const model::Request& request, const std::string& all) const {
    // Counts its own messages; one that the layout writes on its behalf does not count.
    std::size_t turn = 0;
    for (const auto& one : request.messages.turns) {
      if (one.role != assembly::Role::kAssistant) continue;
      for (std::size_t i = turn; i < options_.plan->turns.size(); ++i) {
        if (one.Text().find(FirstLine(Head(options_.plan->turns[i]))) == std::string::npos)
          continue;
        turn = i + 1;
        break;
      }
    }
    turn = std::min(turn, options_.plan->turns.size() - 1);
    std::string question;
    RE2::PartialMatch(all, *question_, &question);
    JsonArray labels(table_.labels.begin(), table_.labels.end());
    std::string text = ReplaceAll(options_.plan->turns[turn], "{question}",
                                  AsLiteral(std::string(TrimSpace(question))));
    return {.text = ReplaceAll(text, "{labels}", ToJson(labels))};
  }

  // Returns the part of a reply before the first placeholder.
  static std::string_view Head(std::string_view turn) { return turn.substr(0, turn.find('{')); }

  Answer LabelAnswer(std::string_view prompt) {
    const std::vector<StubItem> items = finder_.Find(prompt);
    if (items.empty()) return {.text = "unknown"};
    const std::lock_guard lock(mutex_);
    if (const int status = FailureOf(items)) return {.fail_status = status};
    const bool prose = Draw("prose", items, options_.faults.prose);
    std::string text = prose ? "Here is what I make of it:\n" : "";
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string label = LabelOf(items[i].text);
      if (label.empty()) continue;
      if (items.size() == 1 && items[i].number == 0) {
        text += label;
      } else {
        const auto number =
            items[i].number > 0 ? items[i].number : static_cast<std::int64_t>(i + 1);
        text += fmt::format("{}: {}\n", number, label);
      }
    }
    Answer answer{.text = std::move(text)};
    if (Draw("cut", items, options_.faults.cut)) {
      answer.text.resize(answer.text.size() / 2);
      answer.finish = model::Finish::kLength;
    }
    return answer;
  }

  int FailureOf(const std::vector<StubItem>& items) {
    if (Draw("busy", items, options_.faults.busy)) return 429;
    return Draw("broken", items, options_.faults.broken) ? 500 : 0;
  }

  // Returns the label of an item in this reply; empty: its line is dropped.
  std::string LabelOf(std::string_view text) {
    const StubItem item{text};
    if (Draw("dropped", {item}, options_.faults.dropped)) return "";
    if (Draw("foreign", {item}, options_.faults.foreign)) return std::string(kForeign);
    const std::string& right = table_.label_of.at(std::string(text));
    return std::string(StubLabel(table_.labels, text, right, options_.errors));
  }

  // Decides whether a fault affects these items now, and counts it for each of them.
  bool Draw(std::string_view kind, const std::vector<StubItem>& items, double share) {
    if (share <= 0) return false;
    for (const StubItem& item : items) {
      if (faults_[item.text] >= kMostFaults) return false;
    }
    std::uint64_t& asked = asked_[items.front().text];
    const std::string purpose = fmt::format("{}/{}", kind, asked++);
    if (!FallsInto(StubHash(options_.errors.seed, purpose, items.front().text), share))
      return false;
    for (const StubItem& item : items) ++faults_[item.text];
    return true;
  }

  const StubTable table_;
  const StubOptions options_;
  const StubFinder finder_;
  std::unique_ptr<RE2> question_;
  std::mutex mutex_;
  std::size_t replies_ = 0;
  // By text in the table, which must outlive them.
  std::unordered_map<std::string_view, int> faults_;
  std::unordered_map<std::string_view, std::uint64_t> asked_;
};

// Returns the number at the start of the line that contains `at`: "12: …", "[12] …", "12. …".
std::int64_t NumberBefore(std::string_view prompt, std::size_t at) {
  std::size_t begin = prompt.rfind('\n', at == 0 ? 0 : at - 1);
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  if (begin > at) begin = at;
  std::string_view line = TrimSpace(prompt.substr(begin, at - begin));
  while (!line.empty() && (line.front() == '[' || line.front() == '(')) line.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < line.size() && IsDigit(line[digits])) ++digits;
  const bool marked =
      digits < line.size() && std::string_view(":.)]").find(line[digits]) != line.npos;
  return marked ? ExactNumber<std::int64_t>(line.substr(0, digits)).value_or(0) : 0;
}

}  // namespace

StubFinder::StubFinder(const StubTable& table) : table_(table) {
  for (const auto& [text, label] : table_.label_of) {
    by_head_[std::string_view(text).substr(0, kHeadBytes)].push_back(text);
  }
  // Longest first, because one text may be the beginning of another.
  for (auto& [head, texts] : by_head_) {
    std::sort(texts.begin(), texts.end(),
              [](auto a, auto b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
  }
}

std::vector<StubItem> StubFinder::Find(std::string_view prompt) const {
  std::vector<StubItem> items;
  for (std::size_t at = 0; at + kHeadBytes <= prompt.size();) {
    const auto found = by_head_.find(prompt.substr(at, kHeadBytes));
    std::string_view text;
    if (found != by_head_.end()) {
      for (const std::string_view one : found->second) {
        if (prompt.substr(at).starts_with(one)) {
          text = one;
          break;
        }
      }
    }
    if (!text.empty()) items.push_back({text, NumberBefore(prompt, at)});
    at += text.empty() ? 1 : text.size();
  }
  return items;
}

Result<StubTable> StubTable::Parse(std::string_view lines, std::string_view name) {
  StubTable table;
  std::size_t line = 0;
  for (const std::string_view one : Split(lines, '\n')) {
    ++line;
    if (TrimSpace(one).empty()) continue;
    const auto value = ParseJson(one);
    const auto text = value ? FindString(*value, "text") : std::nullopt;
    const auto label = value ? FindString(*value, "label") : std::nullopt;
    if (!text || !label || text->size() < kHeadBytes) {
      return MakeError(ErrorCode::kConfig,
                       "{}:{}: {{\"text\": …, \"label\": …}} is wanted, with a text of {} bytes at "
                       "least",
                       name, line, kHeadBytes);
    }
    AddText(*text, *label, &table);
  }
  DOSSIER_RETURN_IF_ERROR(FinishTable(name, &table));
  return table;
}

Result<StubTable> StubTable::Load(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string lines, ReadNamedFile(path, kMostTableBytes));
  return Parse(lines, path);
}

Result<StubTable> StubTable::FromSet(const TaskSet& set) {
  StubTable table;
  for (const ContextFile& file : set.manifest.files) {
    if (!file.path.starts_with("labelled/")) continue;
    DOSSIER_ASSIGN_OR_RETURN(const std::string window, set.ReadContext(file));
    for (const std::string_view line : Split(window, '\n')) {
      const std::size_t label = line.rfind(kLabelMark);
      const std::size_t text = line.find(kTextMark);
      if (label == line.npos || text == line.npos) continue;
      const std::size_t begin = text + kTextMark.size();
      if (label < begin + kHeadBytes) continue;
      AddText(line.substr(begin, label - begin), line.substr(label + kLabelMark.size()), &table);
    }
  }
  DOSSIER_RETURN_IF_ERROR(FinishTable("the labelled windows", &table));
  return table;
}

Result<StubPlan> StubPlan::Parse(std::string_view yaml, const std::string& name) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(yaml, name));
  StubPlan plan;
  constexpr std::array<std::string_view, 3> kNames = {"mark", "question", "turns"};
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "mark") {
      plan.mark = entry.value.scalar;
    } else if (entry.key == "question") {
      plan.question = entry.value.scalar;
    } else if (entry.key == "turns") {
      for (const YamlNode& turn : entry.value.items) plan.turns.push_back(turn.scalar);
    } else {
      return tl::unexpected(
          PlaceError(name, entry.line, entry.column,
                     fmt::format("no such field: {}{}", entry.key, DidYouMean(entry.key, kNames))));
    }
  }
  if (plan.mark.empty() || plan.turns.empty()) {
    return MakeError(ErrorCode::kConfig, "{}: a plan needs `mark:` and `turns:`", name);
  }
  if (const RE2 question(plan.question); !question.ok()) {
    return MakeError(ErrorCode::kConfig, "{}: question: {}", name, question.error());
  }
  return plan;
}

std::shared_ptr<model::Script> MakeStub(StubTable table, StubOptions options) {
  return std::make_shared<Stub>(std::move(table), std::move(options));
}

}  // namespace dossier::evaluation
