// What the parts behind the nodes work with, in a folder of its own: a caller that replies by
// label, a scripted sandbox, a journal.
//
//   ResearchRig rig;
//   rig.caller.Reply("review_1", R"({"Summary": …})");
//   rig.script->On("python3 plot.py").Writes("working/loss.png", TinyPng());
//   auto reviewed = ReviewPaper(rig.services, rig.results, {});
//   EXPECT_EQ(rig.caller.requests.size(), 1U);
//
// Thread-safety: none.

#ifndef DOSSIER_TESTING_RESEARCH_RIG_FOR_TEST_H_
#define DOSSIER_TESTING_RESEARCH_RIG_FOR_TEST_H_

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "research/files/png.h"
#include "research/node/phases.h"
#include "research/node/results.h"
#include "research/paper/latex.h"
#include "testing/exec_scripted_for_test.h"

namespace dossier::research {

// Three attempts a call, as the real one; a label without a reply left fails.
class FakeCaller final : public RoleCaller {
 public:
  // For the label, else for all labels of the site of this name; each reply is given once.
  void Reply(std::string_view label, std::string reply) {
    replies_[std::string(label)].push_back(std::move(reply));
  }

  Result<CallOutcome> Call(const CallRequest& request, const CancelToken&) override {
    requests.push_back(request);
    CallOutcome outcome;
    CallFailure failure{.reason = "no_reply"};
    for (int attempt = 0; attempt < 3; ++attempt) {
      std::deque<std::string>* replies = &replies_[request.label];
      if (replies->empty()) replies = &replies_[request.site];
      if (replies->empty()) break;
      outcome.payload = std::move(replies->front());
      replies->pop_front();
      const Status checked = request.check ? request.check(outcome.payload) : Status();
      if (checked) return outcome;
      failure = {.reason = "refused", .detail = checked.error().message};
      refusals.push_back(checked.error().message);
    }
    outcome.payload.clear();
    outcome.failure = std::move(failure);
    return outcome;
  }
  Result<JsonObject> Preview(const CallRequest&) override { return JsonObject(); }

  // The section of the newest request of this site; null: none.
  const OwnSection* Section(std::string_view site, std::string_view name) const {
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
      if (request->site != site) continue;
      for (const OwnSection& section : request->sections) {
        if (section.name == name) return &section;
      }
    }
    return nullptr;
  }
  std::size_t Count(std::string_view site) const {
    std::size_t count = 0;
    for (const CallRequest& request : requests) count += request.site == site ? 1 : 0;
    return count;
  }

  std::vector<CallRequest> requests;
  std::vector<std::string> refusals;  // what checks said

 private:
  std::map<std::string, std::deque<std::string>> replies_;
};

inline std::string TinyPng(std::uint32_t width = 4, char shade = 'x') {
  return *EncodePng({.width = width, .height = 3, .rgba = std::string(width * 12, shade)});
}

// The built-in template with text in every part of it.
inline std::string WrittenPaper() {
  std::string tex;
  const auto given = BuiltInAsset("data/research/paper.tex");
  for (const std::string_view line : Split(*given, '\n')) {
    tex += line.starts_with(kToBeWritten) ? "It sorts." : std::string(line);
    tex += '\n';
  }
  return ReplaceAll(tex, kTitlePlace, "Sorting");
}

class ResearchRig {
 public:
  ResearchRig() {
    auto started = ResearchLog::Start(folder(), {{"idea", "Sorting"}}, SystemClock(), {});
    EXPECT_TRUE(started) << started.error().message;
    log = *std::move(started);
    services = {.config = &config,
                .log = log.get(),
                .caller = &caller,
                .clock = SystemClock(),
                .backend = ScriptedBackends(script),
                .run_folder = folder(),
                .run_name = "sorting"};
    services.vision = Services::Vision::kYes;
    results.title = "Sorting & <speed>";
  }

  const std::string& folder() const { return temp_.path(); }
  bool Has(std::string_view path) const { return Exists(folder() + "/" + std::string(path)); }
  std::string Read(std::string_view path) const {
    const auto text = ReadFile(folder() + "/" + std::string(path));
    EXPECT_TRUE(text) << text.error().message;
    return text ? *text : "";
  }
  Json ReadJson(std::string_view path) const {
    const auto json = ParseJson(Read(path));
    EXPECT_TRUE(json) << json.error().message;
    return json ? *json : Json();
  }
  void Write(std::string_view path, std::string_view content) const {
    const std::string whole = folder() + "/" + std::string(path);
    ASSERT_TRUE(MakeFolders(whole.substr(0, whole.rfind('/'))));
    ASSERT_TRUE(WriteFileAtomic(whole, content));
  }

  RunConfig config;
  FakeCaller caller;
  std::shared_ptr<CommandScript> script = std::make_shared<CommandScript>();
  std::unique_ptr<ResearchLog> log;
  Services services;
  RunResults results;

 private:
  TempFolder temp_ = *TempFolder::Make("research");
};

// A stage with a good node and its buggy child.
inline StageResults TwoNodes(int stage = 1) {
  Node good{.id = std::string(32, 'a'), .stage = "1_initial", .kind = NodeKind::kDraft};
  good.plan = "Sort by merging.";
  good.code = "int main() {}";
  good.analysis = "It is fast.";
  good.metric = Metric{{.name = "speedup", .values = {{"large", 3.12}}}};
  good.plots = {"nodes/" + good.id + "/plots/loss.png"};
  good.plot_analyses = {"The curve falls."};
  good.vlm_feedback_summary = "Clear plots.";
  good.workspace_path = "nodes/" + good.id + "/workspace";
  good.phase_artifacts = JsonObject{
      {"phase_artifacts",
       JsonObject{{"run", JsonObject{{"commands", JsonArray{"./bin/a.out"}},
                                     {"expected_outputs", JsonArray{"working/x.npy"}}}}}}};
  Node bad{.id = std::string(32, 'b'), .parent_id = good.id, .stage = "1_initial"};
  bad.kind = NodeKind::kDebug;
  bad.is_buggy = true;
  bad.exc_type = "CompilationError";
  bad.exc_info = "main.cc:3: error: expected ';'";
  good.children = {bad.id};
  return {
      .stage = stage, .name = "1_initial", .tree = {.nodes = {good, bad}}, .best_node = good.id};
}

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_RESEARCH_RIG_FOR_TEST_H_
