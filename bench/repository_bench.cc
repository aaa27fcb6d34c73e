// The readers and the writer of the repository header, in process.

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/files/file.h"
#include "benches.h"
#include "measure.h"
#include "sources/header/agent_header.h"
#include "sources/header/data_file.h"
#include "sources/header/header_source.h"
#include "sources/header/note.h"

namespace dossier::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kHeaders = 2'000;  // in one sample

// Adds CPU seconds of `work`, over `times`.
template <typename Work>
void TimeCpu(int times, Samples* samples, Work work) {
  const double before = CpuSeconds();
  for (int i = 0; i < times; ++i) work();
  samples->Add((CpuSeconds() - before) / times);
}

// About 1.2 KB, as in a busy repository.
sources::Header ExampleHeader() {
  static constexpr int kItems = 7;
  sources::Header header{.branch = "main", .head = "0123456", .recent_window = "180s"};
  for (int i = 0; i < kItems; ++i) {
    header.pending.push_back({fmt::format("task-{}", 200 + i),
                              fmt::format("{}m ago", i + 2),
                              {"src/auth/", "docs/api.md"}});
    header.backlog.push_back({fmt::format("fact-00{}", i), "Build src/factorial.py"});
  }
  header.hotspots = {{"scratch/2026-01-17__a__b.md", "just now"}};
  header.targets = {"src/factorial.py", "tests/test_factorial.py"};
  header.policy = {"patch-only",      ".agent/* only", "minimal diff",
                   "respect targets", "+≤800 lines",   "files≤10"};
  header.next_work = {"CTO: review task-200 (2m ago)",
                      "Engineer: pick fact-000 — Build src/factorial.py"};
  header.mode = "propose";
  return header;
}

void EmitList(YAML::Emitter& out, const char* key, const std::vector<std::string>& texts) {
  out << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const std::string& text : texts) out << YAML::DoubleQuoted << text;
  out << YAML::EndSeq;
}

void EmitText(YAML::Emitter& out, const char* key, const std::string& text) {
  out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << text;
}

// The same data by yaml-cpp.
std::size_t EmitByYamlCpp(const sources::Header& header) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "repo" << YAML::Value << YAML::BeginMap;
  EmitText(out, "branch", header.branch);
  EmitText(out, "head", header.head);
  EmitText(out, "recent_window", header.recent_window);
  out << YAML::EndMap << YAML::Key << "pending" << YAML::Value << YAML::BeginSeq;
  for (const auto& note : header.pending) {
    out << YAML::BeginMap;
    EmitText(out, "id", note.id);
    EmitText(out, "age", note.age);
    EmitList(out, "files", note.files);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::Key << "backlog" << YAML::Value << YAML::BeginSeq;
  for (const auto& task : header.backlog) {
    out << YAML::Flow << YAML::BeginMap;
    EmitText(out, "id", task.id);
    EmitText(out, "summary", task.summary);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::Key << "hotspots" << YAML::Value << YAML::BeginSeq;
  for (const auto& spot : header.hotspots) {
    out << YAML::Flow << YAML::BeginMap;
    EmitText(out, "path", spot.path);
    EmitText(out, "age", spot.age);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
  EmitList(out, "targets", header.targets);
  EmitList(out, "policy", header.policy);
  EmitList(out, "next_work", header.next_work);
  EmitText(out, "mode", header.mode);
  out << YAML::EndMap;
  return out.size();
}

Status MeasureEdn(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Samples samples;
  Status status;
  for (int round = 0; round < kRounds; ++round) {
    TimeCpu(1, &samples, [&] {
      const auto parsed = sources::ParseEdn(text, path);
      if (!parsed) status = tl::unexpected(parsed.error());
    });
  }
  Report("repository.edn", samples);
  return status;
}

Status MeasureNotes(const std::string& root) {
  Samples samples;
  for (int round = 0; round < kRounds; ++round) {
    Result<sources::NoteScan> scan;
    TimeCpu(1, &samples, [&] { scan = sources::ScanNotes(root); });
    if (!scan) return tl::unexpected(scan.error());
    if (scan->notes.empty()) return MakeError(ErrorCode::kNotFound, "{}: no notes", root);
  }
  Report("repository.notes", samples);
  return {};
}

void MeasureEmit() {
  const sources::Header header = ExampleHeader();
  std::size_t bytes = 0;
  Samples ours, peer;
  for (int round = 0; round < kRounds; ++round) {
    TimeCpu(kHeaders, &ours, [&] { bytes += ToYaml(header).size(); });
    TimeCpu(kHeaders, &peer, [&] { bytes += EmitByYamlCpp(header); });
  }
  Report("repository.emit", ours);
  Report("repository.emit_yaml_cpp", peer);
}

Status MeasureHeaders(const std::string& root) {
  sources::HeaderSource source(root, {});
  for (int i = 0; i < 100; ++i) {
    const auto state = source.Collect({.now = SystemClock()->WallNow()});
    if (!state) return tl::unexpected(state.error());
  }
  Samples starts;
  starts.Add(static_cast<double>(source.git_starts()));
  Report("repository.git_starts", starts);
  return {};
}

// Headers after the first of a run.
Status MeasureNextHeaders(const std::string& root) {
  sources::HeaderSource source(root, {});
  const sources::HeaderRequest request{.now = SystemClock()->WallNow()};
  Status status;
  const auto collect = [&] {
    const auto state = source.Collect(request);
    if (!state) status = tl::unexpected(state.error());
  };
  collect();
  Samples samples;
  for (int round = 0; round < kRounds; ++round) TimeCpu(20, &samples, collect);
  Report("repository.next_header", samples);
  return status;
}

}  // namespace

Status RunRepositoryBench(const std::string& folder) {
  DOSSIER_RETURN_IF_ERROR(MeasureEdn(folder + "/tasks.edn"));
  DOSSIER_RETURN_IF_ERROR(MeasureNotes(folder + "/many"));
  DOSSIER_RETURN_IF_ERROR(MeasureHeaders(folder + "/few"));
  DOSSIER_RETURN_IF_ERROR(MeasureNextHeaders(folder + "/large"));
  MeasureEmit();
  return {};
}

}  // namespace dossier::bench
