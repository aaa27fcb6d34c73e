#include "research/run/run_history.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/files/file.h"
#include "memory/records/operations.h"
#include "research/files/run_folder.h"
#include "research/node/select.h"
#include "research/run/run_record.h"
#include "research/search/stage_rules.h"
#include "research/setup/config.h"
#include "store/event_data.h"

namespace dossier::research {
namespace {

std::string Text(const JsonObject& data, std::string_view key) {
  const Json* value = Find(data, key);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::string PrimaryMetric(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, run_files::kConfig);
  const auto text = ReadRegularFile(path, 1 << 20);
  const auto config = text ? ReadConfig(*text, path, {}) : Result<RunConfig>(RunConfig());
  return config ? config->primary_metric : "";
}

class Replay {
 public:
  explicit Replay(const ResearchLog& log) : log_(log) {}

  Result<RunHistory> Read() {
    WorkingTime time;
    DOSSIER_RETURN_IF_ERROR(log_.ForEach([&](const store::StoredEvent& stored) -> Status {
      time.See(stored.type, stored.time);
      // Most events are of other types, and long: they are skipped.
      if (std::ranges::find(kSeen, stored.type) == std::end(kSeen)) return {};
      DOSSIER_ASSIGN_OR_RETURN(Json data, ParseJson(stored.data, store::kMaxEventDepth + 1));
      if (!data.is_object()) {
        return MakeError(ErrorCode::kDamaged, "journal: event {} is no object", stored.seq);
      }
      return See({.type = std::string(stored.type), .data = std::move(data.get_object())});
    }));
    for (StageResults& stage : out_.results.stages) Complete(&stage);
    for (auto& [id, node] : created_) {
      if (!finished_.contains(id)) out_.unfinished.push_back(std::move(node));
    }
    std::ranges::stable_sort(out_.unfinished, {}, &Node::step);
    Steer();
    SetBest();
    out_.run = log_.run();
    out_.folder = log_.folder();
    out_.spend = RunSpend{.usage = log_.UsageOutside({}), .seconds = time.Seconds()};
    out_.usage = log_.UsageOutside(out_.results.Ids());
    return std::move(out_);
  }

 private:
  static constexpr std::string_view kSeen[] = {"node.created",  "node.finished", "round.selected",
                                               "stage.ended",   "run.finished",  "run.resumed",
                                               "run.broken",    kSteered,        "call.sent",
                                               "block.applied", "warning"};

  Status See(const store::Event& event) {
    if (event.type == "node.created") {
      return Create(log_.Whole(event.data));
    } else if (event.type == "node.finished") {
      return Finish(log_.Whole(event.data));
    } else if (event.type == "round.selected") {
      StageOf(Text(event.data, "stage"));
      out_.round = FindInt(Json(event.data), "round").value_or(0);
    } else if (event.type == "stage.ended") {
      EndStage(log_.Whole(event.data));
    } else if (event.type == "run.finished") {
      End(log_.Whole(event.data));
    } else if (event.type == "run.resumed") {
      out_.end.reset();
      out_.reason.clear();
    } else if (event.type == "run.broken") {
      out_.reason = Text(log_.Whole(event.data), "reason");
    } else if (event.type == kSteered) {
      return orders_.SeeTaken(log_.Whole(event.data));
    } else if (event.type == "call.sent" || event.type == "block.applied") {
      CountReads(event);
    } else if (event.type == "warning") {
      out_.warnings.push_back(Text(log_.Whole(event.data), "text"));
    }
    return {};
  }

  StageResults& StageOf(const std::string& name) {
    auto& stages = out_.results.stages;
    const auto found = std::find_if(stages.begin(), stages.end(),
                                    [&](const StageResults& one) { return one.name == name; });
    if (found != stages.end()) return *found;
    const auto parsed = ParseStageName(name);
    stages.push_back({.stage = parsed ? parsed->main : 1, .name = name});
    return stages.back();
  }

  Status Create(const JsonObject& data) {
    DOSSIER_ASSIGN_OR_RETURN(
        Node node, ReadNode(JsonObject{{"id", Text(data, "node")},
                                       {"parent_id", Text(data, "parent")},
                                       {"kind", Text(data, "kind")},
                                       {"stage", Text(data, "stage")},
                                       {"ctime", Text(data, "ctime")},
                                       {"branch_id", Text(data, "branch")},
                                       {"step", FindInt(Json(data), "step").value_or(0)}}));
    StageOf(node.stage);
    std::string id = node.id;
    created_.emplace(std::move(id), std::move(node));
    return {};
  }

  Status Finish(const JsonObject& data) {
    const Json* json = Find(data, "node");
    if (!json) return MakeError(ErrorCode::kDamaged, "journal: node.finished without a node");
    DOSSIER_ASSIGN_OR_RETURN(Node node, ReadNode(*json));
    finished_.insert(node.id);
    node.children.clear();
    node.usage = log_.UsageOf(node.id);  // includes calls made after its end
    StageOf(node.stage).tree.nodes.push_back(std::move(node));
    return {};
  }

  void EndStage(const JsonObject& data) {
    StageResults& stage = StageOf(Text(data, "stage"));
    stage.best_node = Text(data, "best");
    stage.notes = Text(data, "notes");
    if (FindBool(Json(data), "over").value_or(false)) out_.over = stage.name;
    if (const Json* statistics = Find(data, "seed_statistics")) stage.seed_statistics = *statistics;
  }

  void End(const JsonObject& data) {
    const std::string status = Text(data, "status");
    for (const RunEnd end : {RunEnd::kDone, RunEnd::kFailed, RunEnd::kLimited, RunEnd::kStopped}) {
      if (RunEndName(end) == status) out_.end = end;
    }
    out_.reason = Text(data, "reason");
    out_.results.best_node = Text(data, "best_node");
  }

  // A prompt that shows memory counts as one read, plus the reads that the model requested.
  void CountReads(const store::Event& event) {
    const Json* shown = Find(event.data, "memory");
    std::int64_t reads = shown ? 1 : 0;
    const Json* operations = Find(event.data, "operations");
    if (operations && operations->is_array()) {
      for (const Json& operation : operations->get_array()) {
        const memory::MemoryOperation* known = memory::FindOperation(TextAt(operation, "type"));
        reads += known && known->access == memory::Access::kRead ? 1 : 0;
      }
    }
    if (reads > 0) out_.memory_reads[Text(event.data, "phase")] += reads;
  }

  // Names apply at once, other orders from the round that took them.
  void Steer() {
    out_.steered = orders_.taken;
    for (auto& [line, order] : orders_.NotTaken(log_.folder())) {
      (order.kind == SteerKind::kName ? out_.steered : out_.left).push_back(std::move(order));
    }
    SteerNodes(out_.steered, &out_.results, out_.unfinished);
  }

  // Sorts nodes by step, whichever slot ended first, and sets their children.
  static void Complete(StageResults* stage) {
    auto& nodes = stage->tree.nodes;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const Node& a, const Node& b) { return a.step < b.step; });
    std::unordered_map<std::string_view, Node*> by_id;
    for (Node& node : nodes) by_id.try_emplace(node.id, &node);
    for (const Node& node : nodes) {
      const auto parent = by_id.find(node.parent_id);
      if (parent != by_id.end()) parent->second->children.push_back(node.id);
    }
  }

  // Until the run records it: the best by metric of the last stage that has a good node.
  void SetBest() {
    const std::string& primary = out_.primary_metric = PrimaryMetric(log_.folder());
    for (StageResults& stage : out_.results.stages) {
      if (!stage.best_node.empty()) continue;
      if (const Node* best = BestNode(stage.tree, primary)) stage.best_node = best->id;
    }
    const std::string at_end = out_.end ? out_.results.best_node : "";
    KeepBest(&out_.results, primary);
    const Node* best = out_.results.Find(at_end);
    if (best && best->steer != Steer::kPruned) out_.results.best_node = at_end;
  }

  const ResearchLog& log_;
  RunHistory out_;
  std::map<std::string, Node> created_;
  std::set<std::string> finished_;
  Orders orders_;
};

}  // namespace

Result<RunHistory> HistoryOf(const ResearchLog& log) { return Replay(log).Read(); }

Json PlanHistory(const RunHistory& history) {
  Json last;
  for (const StageResults& stage : history.results.stages) {
    for (const Node& node : stage.tree.nodes) {
      if (node.history.is_null()) continue;
      if (node.id == history.results.best_node) return node.history;
      last = node.history;
    }
  }
  return last;
}

Result<RunHistory> ReadRunHistory(const std::string& folder) {
  DOSSIER_ASSIGN_OR_RETURN(const auto log, ResearchLog::Reopen(folder, SystemClock(), {}));
  DOSSIER_ASSIGN_OR_RETURN(RunHistory history, HistoryOf(*log));
  DOSSIER_ASSIGN_OR_RETURN(const RunRecord record, ReadRunRecord(folder));
  history.results.title = record.title;
  return history;
}

}  // namespace dossier::research
