// Ranked search of memory, in process: what `dossier memory load` and `search --queries` do.

#include <fmt/format.h>

#include <cstdio>

#include "base/files/file.h"
#include "base/json/json.h"
#include "benches.h"
#include "measure.h"
#include "memory/records/embedder.h"
#include "memory/store/store.h"

namespace dossier::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kHits = 50;  // a query
constexpr std::size_t kBatch = 5'000;

struct Line {
  std::string text, thread, ref;
};

Result<std::vector<Line>> ReadLines(const std::string& path, std::string_view text_field) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  std::vector<Line> lines;
  for (std::size_t start = 0; start < content.size();) {
    const std::size_t end = std::min(content.find('\n', start), content.size());
    DOSSIER_ASSIGN_OR_RETURN(const Json line,
                             ParseJson(std::string_view(content).substr(start, end - start)));
    const auto field = [&](std::string_view name) {
      const Json* value = line.as_object().if_contains(name);
      return value != nullptr ? std::string(value->as_string()) : std::string();
    };
    lines.push_back({field(text_field), field("thread"), field("ref")});
    start = end + 1;
  }
  return lines;
}

Status Load(memory::Store& store, const std::vector<Line>& lines) {
  for (std::size_t start = 0; start < lines.size(); start += kBatch) {
    const std::size_t end = std::min(start + kBatch, lines.size());
    const auto add = [&](memory::BranchTransaction& session) -> Status {
      for (std::size_t i = start; i < end; ++i) {
        const auto added = session.Add({.tier = memory::Tier::kRecall,
                                        .kind = "turn",
                                        .text = lines[i].text,
                                        .thread = lines[i].thread,
                                        .ref = lines[i].ref,
                                        .at = static_cast<memory::Micros>(i + 1)});
        if (!added) return tl::unexpected(added.error());
      }
      return {};
    };
    DOSSIER_RETURN_IF_ERROR(store.Transact(memory::kRootBranch, {}, add));
  }
  return {};
}

Result<std::string> SearchAll(const memory::View& view, const std::vector<Line>& queries) {
  std::string refs;  // a line of JSON a query
  for (const Line& query : queries) {
    DOSSIER_ASSIGN_OR_RETURN(const auto hits, view.Search({.text = query.text, .k = kHits}));
    JsonArray found;
    for (const memory::Hit& hit : hits) found.emplace_back(hit.record.ref);
    refs += ToJson(found) + "\n";
  }
  return refs;
}

}  // namespace

Status RunMemoryBench(const std::string& folder, const std::string& embedding) {
  const std::string path = folder + "/memory.sqlite";
  const bool is_new = !Exists(path);
  memory::StoreOptions options{.path = path, .mode = memory::OpenMode::kCreate};
  if (!embedding.empty()) {
    options.embedder = memory::MakeTokenEmbedder({.name = "embedding",
                                                  .weights = embedding + "/weights.safetensors",
                                                  .tokenizer = embedding + "/tokenizer.json"});
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto store, memory::Store::Open(std::move(options)));
  if (is_new) {
    DOSSIER_ASSIGN_OR_RETURN(const auto texts, ReadLines(folder + "/texts.jsonl", "text"));
    Samples load;
    const double before = CpuSeconds();
    DOSSIER_RETURN_IF_ERROR(Load(*store, texts));
    load.Add(CpuSeconds() - before);
    Report("memory.load", load);
    return {};  // the next run measures, in a process that is as small as one search
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto queries, ReadLines(folder + "/queries.jsonl", "query"));
  const std::vector<Line> first(queries.begin(), queries.begin() + 1);
  Samples peak, one, all;
  for (int round = 0; round < kRounds; ++round) {
    DOSSIER_ASSIGN_OR_RETURN(const memory::View view, store->Snapshot(memory::kRootBranch));
    const MemoryGrowth memory;
    const double start = CpuSeconds();
    const auto found = SearchAll(view, first);
    if (!found) return tl::unexpected(found.error());
    one.Add(CpuSeconds() - start);
    if (round == 0) peak.Add(static_cast<double>(memory.Grown()));
  }
  for (int round = 0; round < kRounds; ++round) {
    // What is kept between queries is made in each round.
    DOSSIER_ASSIGN_OR_RETURN(const memory::View view, store->Snapshot(memory::kRootBranch));
    const double start = CpuSeconds();
    DOSSIER_ASSIGN_OR_RETURN(const std::string refs, SearchAll(view, queries));
    all.Add((CpuSeconds() - start) / static_cast<double>(queries.size()));
    if (round == 0) DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder + "/hits.jsonl", refs));
  }
  Report("memory.peak", peak);
  Report("memory.first", one);
  Report("memory.search", all);
  return {};
}

}  // namespace dossier::bench
