#include <fmt/format.h>

#include "base/files/file.h"
#include "base/random.h"
#include "benches.h"
#include "measure.h"
#include "tokens/files/open.h"

namespace dossier::bench {
namespace {

constexpr int kRuns = 7;

void Measure(std::string_view name, const tokens::Counter& counter, std::string_view text) {
  Samples samples;
  std::int64_t tokens = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double start = CpuSeconds();
    tokens = counter.CountText(text).tokens;
    samples.Add(CpuSeconds() - start);
  }
  if (tokens >= 0) Report(fmt::format("tokens.{}.{}", counter.name(), name), samples);
}

std::string RandomFrom(std::string_view alphabet, std::size_t bytes) {
  Random random(/*seed=*/3);
  std::string text;
  while (text.size() < bytes) text += alphabet[random.Below(alphabet.size())];
  return text;
}

std::string RandomHan(std::size_t bytes) {
  Random random(/*seed=*/4);
  std::string text;
  while (text.size() + 3 <= bytes) {
    const std::uint64_t c = 0x4E00 + random.Below(0x5000);
    text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
             static_cast<char>(0x80 | (c & 0x3F))};
  }
  return text;
}

void MeasureWorstCases(const tokens::Counter& counter) {
  constexpr std::size_t kBytes = 1'000'000;
  Measure("a", counter, std::string(kBytes, 'a'));
  Measure("space", counter, std::string(kBytes, ' '));
  Measure("han", counter, RandomHan(kBytes));
  Measure("base64", counter,
          RandomFrom("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", kBytes));
}

// 100 bytes more on 1 MB: the mean of many.
void MeasureAppend(const tokens::Counter& counter, std::string_view text) {
  constexpr std::size_t kStart = 1'000'000, kStep = 100, kSteps = 2000;
  if (text.size() < kStart + kStep * kSteps) return;
  Measure("first_mb", counter, text.substr(0, kStart));
  const auto running = counter.Start();
  running->Append(text.substr(0, kStart));
  const double start = CpuSeconds();
  for (std::size_t i = 0; i < kSteps; ++i) running->Append(text.substr(kStart + i * kStep, kStep));
  Samples samples;
  samples.Add((CpuSeconds() - start) / kSteps);
  Report(fmt::format("tokens.{}.append", counter.name()), samples);
}

}  // namespace

Status RunTokensBench(const std::string& file) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  for (const char* name : {"cl100k_base", "o200k_base"}) {
    DOSSIER_ASSIGN_OR_RETURN(const tokens::Opened opened,
                             tokens::Open(name, tokens::DefaultDataPaths()));
    if (!opened.warning.empty()) {
      return MakeError(ErrorCode::kUnavailable, "{}", opened.warning);
    }
    Measure("mixed", *opened.counter, text);
    MeasureWorstCases(*opened.counter);
    MeasureAppend(*opened.counter, text);
  }
  return {};
}

}  // namespace dossier::bench
