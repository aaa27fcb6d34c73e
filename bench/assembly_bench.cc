#include <fmt/format.h>
#include <sys/resource.h>

#include "assembly/assemble.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/utf8.h"
#include "benches.h"
#include "measure.h"
#include "tokens/files/open.h"

namespace dossier::bench {
namespace {

constexpr int kRuns = 9;
constexpr std::size_t kManyBytes = 1'000'000;
constexpr std::size_t kFortyBytes = 800'000;  // about 200,000 tokens

struct Prompt {
  assembly::Layout layout;
  std::vector<assembly::Section> sections;
};

// `text` in `count` sections of one size: every other one may be cut, the rest is whole or not
// there.
Result<Prompt> MakePrompt(std::string_view text, int count) {
  std::string yaml = "sections:\n";
  Prompt prompt;
  const std::size_t each = text.size() / static_cast<std::size_t>(count);
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t end = utf8::FloorBoundary(text, at + each);
    prompt.sections.push_back({.name = fmt::format("s{}", i),
                               .content = std::string(text.substr(at, end - at)),
                               .provenance = JsonObject{{"kind", "file"}}});
    at = end;
    yaml += fmt::format("  - {{name: s{}, zone: stable, fit: {}, priority: {}}}\n", i,
                        i % 2 == 0 ? "whole" : "head", (i * 7 % 10) / 10.0);
  }
  yaml += "  - {name: ask, zone: request, text: \"What follows from this?\"}\n";
  DOSSIER_ASSIGN_OR_RETURN(prompt.layout, assembly::ParseLayout(yaml, "bench.yaml"));
  return prompt;
}

Status Measure(std::string_view name, const Prompt& prompt, std::int64_t budget,
               const tokens::Counter& counter) {
  const assembly::Capability model{.window = 2'000'000};
  const assembly::AssembleOptions options{.boundary = assembly::MakeBoundary(1)};
  Samples samples;
  for (int run = 0; run < kRuns; ++run) {
    const double start = CpuSeconds();
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Assembled made,
                             assembly::Assemble(prompt.layout, prompt.sections, {.tokens = budget},
                                                model, counter, options));
    samples.Add(CpuSeconds() - start);
    if (made.tokens > budget) return MakeError(ErrorCode::kInternal, "over the budget");
  }
  Report(name, samples);
  return {};
}

void MeasureCopyAndHash(const Prompt& prompt) {
  Samples samples;
  for (int run = 0; run < kRuns; ++run) {
    const double start = CpuSeconds();
    std::string all;
    Sha256 hash;
    for (const assembly::Section& section : prompt.sections) {
      all += section.content;
      hash.Update(section.content);
    }
    const std::string name = hash.Hex();
    samples.Add(CpuSeconds() - start + (name.empty() ? 1 : 0));
  }
  Report("assembly.copy_and_hash", samples);
}

void MeasureCount(const Prompt& prompt, const tokens::Counter& counter) {
  std::string all;
  for (const assembly::Section& section : prompt.sections) all += section.content;
  Samples samples;
  for (int run = 0; run < kRuns; ++run) {
    const double start = CpuSeconds();
    const std::int64_t tokens = counter.CountText(all).tokens;
    samples.Add(CpuSeconds() - start + (tokens == 0 ? 1 : 0));
  }
  Report("assembly.count_once", samples);
}

}  // namespace

Status RunAssemblyBench(const std::string& file) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  if (text.size() < kManyBytes) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: a million bytes are needed", file);
  }
  DOSSIER_ASSIGN_OR_RETURN(const tokens::Opened opened,
                           tokens::Open("o200k_base", tokens::DefaultDataPaths()));
  if (!opened.warning.empty()) return MakeError(ErrorCode::kUnavailable, "{}", opened.warning);
  const tokens::Counter& counter = *opened.counter;
  DOSSIER_ASSIGN_OR_RETURN(const Prompt many,
                           MakePrompt(std::string_view(text).substr(0, kManyBytes), 1000));
  DOSSIER_ASSIGN_OR_RETURN(const Prompt forty,
                           MakePrompt(std::string_view(text).substr(0, kFortyBytes), 40));
  // The vocabulary is loaded by its first use.
  if (counter.CountText(text.substr(0, 1000)).tokens == 0) return {};
  const std::int64_t before = PeakBytes();
  DOSSIER_RETURN_IF_ERROR(Measure("assembly.many", many, 100'000, counter));
  Samples peak;
  peak.Add(static_cast<double>(PeakBytes() - before));
  Report("assembly.peak", peak);
  DOSSIER_RETURN_IF_ERROR(Measure("assembly.forty", forty, 1'000'000, counter));
  MeasureCount(forty, counter);
  MeasureCopyAndHash(forty);
  return {};
}

}  // namespace dossier::bench
