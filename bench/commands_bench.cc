#include <vector>

#include "benches.h"
#include "measure.h"
#include "processes.h"
#include "sources/commands/context_run.h"

namespace dossier::bench {
namespace {

using sources::ContextCommand;

constexpr int kRounds = 7;
constexpr std::size_t kMany = 50;
constexpr int kOutputs = 8;
constexpr int kOutputBytes = 50'000'000;

std::vector<ContextCommand> Commands(std::size_t count, const std::string& line) {
  return std::vector<ContextCommand>(count, ContextCommand{.name = "C", .run = line});
}

Status RunAll(std::size_t count, const std::string& line) {
  const auto results = sources::RunContext(Commands(count, line), {});
  if (!results) return tl::unexpected(results.error());
  for (const sources::CommandResult& result : *results) {
    if (result.failed()) return MakeError(ErrorCode::kFailed, "{}: {}", line, result.error);
  }
  return {};
}

// One after the other, nothing read: what starting them costs at least.
Status SpawnPlainly(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    DOSSIER_RETURN_IF_ERROR(Spawn({"/bin/sh", "-c", ":"}));
  }
  return {};
}

Status MeasureStarts() {
  Samples ours, plain;
  for (int round = 0; round < kRounds; ++round) {
    double before = CpuSecondsWithChildren();
    DOSSIER_RETURN_IF_ERROR(RunAll(kMany, ":"));
    ours.Add(CpuSecondsWithChildren() - before);
    before = CpuSecondsWithChildren();
    DOSSIER_RETURN_IF_ERROR(SpawnPlainly(kMany));
    plain.Add(CpuSecondsWithChildren() - before);
  }
  Report("commands.start_cpu", ours);
  Report("spawn.start_cpu", plain);
  return {};
}

Status MeasureSleepers() {
  for (const std::size_t count : {std::size_t{1}, std::size_t{10}, kMany}) {
    Samples samples;
    for (int round = 0; round < 3; ++round) {
      Status status;
      samples.Time([&] { status = RunAll(count, "sleep 0.5"); });
      DOSSIER_RETURN_IF_ERROR(status);
    }
    Report(fmt::format("commands.sleep_{}", count), samples);
  }
  return {};
}

Status MeasureMemory() {
  const std::int64_t before = PeakBytes();
  DOSSIER_RETURN_IF_ERROR(
      RunAll(kOutputs, fmt::format("yes line of text | head -c {}", kOutputBytes)));
  Samples grown;
  grown.Add(static_cast<double>(PeakBytes() - before));
  Report("commands.memory", grown);
  return {};
}

}  // namespace

Status RunCommandsBench() {
  DOSSIER_RETURN_IF_ERROR(MeasureMemory());
  DOSSIER_RETURN_IF_ERROR(MeasureStarts());
  return MeasureSleepers();
}

}  // namespace dossier::bench
