#include "model/local/local_plan.h"

#include <sched.h>

#include <charconv>
#include <set>
#include <thread>

#include "base/files/file.h"
#include "base/text/text.h"
#include "tokens/files/gguf.h"

namespace dossier::model {
namespace {

// The compute buffers of the server beside weights and cache, measured with this model.
constexpr std::uint64_t kBuffers = 320u << 20;

std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  text = TrimSpace(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

// What the control group leaves, where it has a limit (version 2).
std::optional<std::uint64_t> GroupMemory() {
  const auto limit = ReadFile("/sys/fs/cgroup/memory.max", 4096);
  const auto used = ReadFile("/sys/fs/cgroup/memory.current", 4096);
  if (!limit || !used) return std::nullopt;
  const auto most = LeadingNumber(*limit), now = LeadingNumber(*used);
  if (!most || !now) return std::nullopt;
  return *most - std::min(*most, *now);
}

int UsableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::string Gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

std::uint64_t FreeMemory(std::string_view meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const std::size_t at = meminfo.find(kKey);
  if (at == std::string_view::npos) return 0;
  const std::uint64_t kilobytes = LeadingNumber(meminfo.substr(at + kKey.size(), 32)).value_or(0);
  return kilobytes > (~std::uint64_t{0} >> 10) ? 0 : kilobytes << 10;
}

int PhysicalCores(std::string_view cpuinfo, int usable) {
  std::set<std::pair<std::string_view, std::string_view>> cores;
  std::string_view package;
  for (const std::string_view line : Split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = TrimSpace(line.substr(0, colon));
    const std::string_view value = TrimSpace(line.substr(colon + 1));
    if (name == "physical id") package = value;
    if (name == "core id") cores.emplace(package, value);
  }
  const int found = static_cast<int>(std::min<std::size_t>(cores.size(), 4096));
  return std::max(1, found > 0 ? std::min(found, usable) : usable);
}

Machine LookAtMachine() {
  Machine machine;
  machine.free_memory = FreeMemory(ReadFile("/proc/meminfo", 1 << 20).value_or(""));
  if (const auto group = GroupMemory()) {
    machine.free_memory = std::min(machine.free_memory, *group);
  }
  machine.cores =
      PhysicalCores(ReadFile("/proc/cpuinfo", 16 << 20).value_or(""), UsableProcessors());
  return machine;
}

ModelNeeds NeedsOf(const Weights& weights) {
  ModelNeeds needs{.weights = weights.bytes};
  const auto file = tokens::ReadGguf(weights.path);
  if (!file) return needs;  // the server will say what is wrong with it
  needs.kv_bytes = file->shape.KvBytes().value_or(kDefaultKvBytes);
  constexpr std::uint64_t kMost = 1u << 24;
  const std::uint64_t length = file->shape.context_length;
  if (length > 0 && length <= kMost) needs.longest = static_cast<std::int64_t>(length);
  return needs;
}

Result<ServerPlan> PlanServer(const Machine& machine, const ModelNeeds& needs) {
  ServerPlan plan;
  plan.threads = std::max(1, machine.cores);
  plan.slots = machine.cores <= 2 ? 1 : std::max(1, std::min(4, machine.cores / 4));
  const auto memory = [&](std::int64_t window) {
    return needs.weights + kBuffers +
           needs.kv_bytes * static_cast<std::uint64_t>(window) * static_cast<unsigned>(plan.slots);
  };
  const bool known = machine.free_memory > 0;
  const std::int64_t longest = needs.longest.value_or(INT64_MAX);
  if (needs.window && *needs.window > longest) {
    return MakeError(
        ErrorCode::kInvalidArgument,
        "a window of {} tokens is longer than the {} that this model was made for; ask "
        "for {} or less (`models start --window`, or local: context: of the config)",
        GroupDigits(static_cast<std::uint64_t>(*needs.window)),
        GroupDigits(static_cast<std::uint64_t>(longest)), longest);
  }
  if (needs.window) {
    plan.window = *needs.window;
  } else {
    for (const std::int64_t window : {16384, 8192, 4096}) {
      plan.window = std::min(window, longest);
      if (!known || memory(plan.window) <= machine.free_memory / 2) break;
    }
  }
  if (known && memory(plan.window) > machine.free_memory) plan.slots = 1;
  plan.memory = memory(plan.window);
  if (known && plan.memory > machine.free_memory) {
    return MakeError(
        ErrorCode::kUnavailable,
        "the local model needs {} of memory for a window of {} tokens and {} are free; "
        "end other programs, or set a provider's key or --base-url",
        Gigabytes(plan.memory), plan.window, Gigabytes(machine.free_memory));
  }
  return plan;
}

}  // namespace dossier::model
