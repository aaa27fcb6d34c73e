#include "research/setup/config_keys.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/text.h"
#include "driver/memory_port.h"
#include "research/call/call_sites.h"

namespace dossier::research {
namespace {

using Form = ConfigKey::Form;
using Resume = ConfigKey::Resume;

constexpr double kMostSeconds = 1e9;  // 31 years

// Makes a row's field accessor: AT(exec.timeout).
#define DOSSIER_AT(field) [](RunConfig& config) -> Target { return &config.field; }

std::vector<ConfigKey> ExecKeys() {
  return {
      {.name = "exec.timeout", .at = DOSSIER_AT(exec.timeout), .low = 1, .high = kMostSeconds},
      {.name = "exec.language", .at = DOSSIER_AT(exec.language)},
      {.name = "exec.phase_mode", .at = DOSSIER_AT(exec.phase_mode), .words = {"split", "single"}},
      {.name = "exec.backend",
       .at = DOSSIER_AT(exec.backend),
       .words = {std::begin(kBackendNames), std::end(kBackendNames)}},
      {.name = "exec.singularity_image",
       .at = DOSSIER_AT(exec.singularity_image),
       .form = Form::kPath},
      {.name = "exec.use_gpu", .at = DOSSIER_AT(exec.use_gpu)},
      {.name = "exec.gpu", .at = DOSSIER_AT(exec.gpu)},
      {.name = "exec.workspace_mount",
       .at = DOSSIER_AT(exec.workspace_mount),
       .form = Form::kMount},
      {.name = "exec.writable_tmpfs", .at = DOSSIER_AT(exec.writable_tmpfs)},
      {.name = "exec.container_overlay",
       .at = DOSSIER_AT(exec.container_overlay),
       .form = Form::kPath},
      {.name = "exec.container_extra_args", .at = DOSSIER_AT(exec.container_extra_args)},
      {.name = "exec.per_worker_sif", .at = DOSSIER_AT(exec.per_worker_sif)},
      {.name = "exec.keep_sandbox", .at = DOSSIER_AT(exec.keep_sandbox)},
      {.name = "exec.use_fakeroot", .at = DOSSIER_AT(exec.use_fakeroot)},
      {.name = "exec.writable_mode",
       .at = DOSSIER_AT(exec.writable_mode),
       .words = {"auto", "tmpfs", "overlay", "none"}},
      {.name = "exec.phase1_max_steps",
       .at = DOSSIER_AT(exec.phase1_max_steps),
       .low = 1,
       .high = 1000},
      {.name = "exec.phase1_required_imports", .at = DOSSIER_AT(exec.phase1_required_imports)},
      {.name = "exec.network",
       .at = DOSSIER_AT(exec.network),
       .words = {"phase1", "always", "never"}},
      {.name = "exec.network_probe_host", .at = DOSSIER_AT(exec.network_probe_host)},
      {.name = "exec.resources", .at = DOSSIER_AT(exec.resources), .form = Form::kPath},
      {.name = "exec.log_prompts", .at = DOSSIER_AT(exec.log_prompts)},
      {.name = "exec.slurm", .at = DOSSIER_AT(exec.slurm)},
      {.name = "exec.slurm_phases",
       .at = DOSSIER_AT(exec.slurm_phases),
       .words = {"phase4", "phase3,phase4"}},
      {.name = "exec.modules", .at = DOSSIER_AT(exec.modules)},
      {.name = "exec.degraded", .at = DOSSIER_AT(exec.degraded)},
      {.name = "exec.disk", .at = DOSSIER_AT(exec.disk), .low = 1 << 20, .form = Form::kSize},
      {.name = "exec.cpu_seconds",
       .at = DOSSIER_AT(exec.cpu_seconds),
       .low = 1,
       .high = kMostSeconds},
      {.name = "exec.memory_bytes",
       .at = DOSSIER_AT(exec.memory_bytes),
       .low = 1 << 20,
       .form = Form::kSize},
      {.name = "exec.processes", .at = DOSSIER_AT(exec.processes), .low = 1, .high = 1'000'000},
      {.name = "exec.output_bytes",
       .at = DOSSIER_AT(exec.output_bytes),
       .low = 1,
       .form = Form::kSize},
  };
}

std::vector<ConfigKey> AgentKeys() {
  std::vector<ConfigKey> keys = {
      {.name = "agent.num_workers", .at = DOSSIER_AT(num_workers), .low = 1, .high = 1024},
      {.name = "agent.max_parallel",
       .at = DOSSIER_AT(max_parallel),
       .low = 1,
       .high = 1024,
       .resume = Resume::kMayChange},
      {.name = "agent.steps", .at = DOSSIER_AT(steps), .low = 1},
      {.name = "agent.multi_seed_eval.num_seeds",
       .at = DOSSIER_AT(num_seeds),
       .low = 0,
       .high = 1000},
      {.name = "agent.role_description", .at = DOSSIER_AT(role_description)},
  };
  for (std::size_t stage = 0; stage < 4; ++stage) {
    keys.push_back(
        {.name = fmt::format("agent.stages.stage{}_max_iters", stage + 1),
         .at = [stage](RunConfig& config) -> Target { return &config.stages[stage].max_iters; },
         .low = 1});
  }
  for (const std::string_view role : Roles()) {
    const std::string name(role);
    keys.push_back({.name = fmt::format("agent.{}.model", name),
                    .at = [name](RunConfig& config) -> Target { return &config.roles[name].model; },
                    .resume = Resume::kMayChange});
    keys.push_back(
        {.name = fmt::format("agent.{}.temp", name),
         .at = [name](RunConfig& config) -> Target { return &config.roles[name].temperature; },
         .high = 2,
         .resume = Resume::kMayChange});
  }
  return keys;
}

std::vector<ConfigKey> SearchKeys() {
  return {
      {.name = "search.seed", .at = DOSSIER_AT(seed)},
      {.name = "search.num_drafts", .at = DOSSIER_AT(num_drafts), .low = 1, .high = 1024},
      {.name = "search.debug_prob", .at = DOSSIER_AT(debug_prob), .high = 1},
      {.name = "search.max_debug_depth", .at = DOSSIER_AT(max_debug_depth), .high = 1024},
      {.name = "experiment.num_syn_datasets", .at = DOSSIER_AT(num_syn_datasets), .high = 1024},
      {.name = "experiment.dataset_source",
       .at = DOSSIER_AT(dataset_source),
       .words = {"auto", "local", "huggingface"}},
      {.name = "experiment.data_overview", .at = DOSSIER_AT(data_overview), .form = Form::kPath},
      {.name = "experiment.data_folder", .at = DOSSIER_AT(data_folder), .form = Form::kPath},
      {.name = "metric.primary", .at = DOSSIER_AT(primary_metric)},
      {.name = "memory.enabled", .at = DOSSIER_AT(memory_enabled)},
      {.name = "memory.paper_section_mode",
       .at = DOSSIER_AT(paper_section_mode),
       .words = {"idea_then_memory", "memory_summary"}},
      {.name = "memory.paper_section_count",
       .at = DOSSIER_AT(paper_section_count),
       .low = 3,
       .high = 100},
      {.name = "memory.final_memory_enabled", .at = DOSSIER_AT(final_memory_enabled)},
      {.name = "memory.final_memory_filename_md",
       .at = DOSSIER_AT(final_memory_filename),
       .form = Form::kName},
  };
}

std::vector<ConfigKey> OutputKeys() {
  return {
      {.name = "plots.max_figures", .at = DOSSIER_AT(max_figures), .low = 1, .high = 1000},
      {.name = "citations.bibtex", .at = DOSSIER_AT(citation_bibtex), .form = Form::kPath},
      {.name = "citations.search_url", .at = DOSSIER_AT(citation_search_url)},
      {.name = "writeup.page_limit", .at = DOSSIER_AT(page_limit), .low = 1, .high = 1000},
      {.name = "writeup.reflections", .at = DOSSIER_AT(writeup_reflections), .high = 100},
      {.name = "writeup.citation_rounds", .at = DOSSIER_AT(citation_rounds), .high = 1000},
      {.name = "writeup.template", .at = DOSSIER_AT(writeup_template), .form = Form::kPath},
      {.name = "review.ensemble", .at = DOSSIER_AT(review_ensemble), .low = 1, .high = 100},
      {.name = "review.reflections", .at = DOSSIER_AT(review_reflections), .high = 100},
      {.name = "review.examples", .at = DOSSIER_AT(review_examples), .high = 1},
      {.name = "review.bias",
       .at = DOSSIER_AT(review_bias),
       .words = {"neutral", "strict", "lenient"}},
      {.name = "limits.max_cost_usd",
       .at = DOSSIER_AT(max_cost_usd),
       .high = 1e9,  // limit of a count in 1e-9 USD
       .resume = Resume::kMayChange},
      {.name = "limits.max_tokens",
       .at = DOSSIER_AT(max_tokens),
       .low = 1,
       .resume = Resume::kMayChange},
      {.name = "limits.max_seconds",
       .at = DOSSIER_AT(max_seconds),
       .low = 1,
       .high = kMostSeconds,
       .resume = Resume::kMayChange},
      {.name = "limits.max_wait_seconds",
       .at = DOSSIER_AT(max_wait_seconds),
       .high = kMostSeconds,
       .resume = Resume::kMayChange},
      {.name = "copy_data", .at = DOSSIER_AT(copy_data), .words = {"auto", "true", "false"}},
      {.name = "generate_report", .at = DOSSIER_AT(generate_report)},
  };
}

#undef DOSSIER_AT

std::vector<ConfigKey> MakeKeys() {
  std::vector<ConfigKey> keys;
  for (std::vector<ConfigKey> (*part)() : {ExecKeys, AgentKeys, SearchKeys, OutputKeys}) {
    for (ConfigKey& key : part()) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<std::string> MakeMemoryKeys() {
  std::vector<std::string> keys = driver::MemoryKeyNames();
  // The run has its own key `enabled`, and its own models.
  std::erase_if(keys, [](const std::string& key) { return key == "enabled" || key == "model"; });
  for (const CallSite& site : CallSites()) {
    const std::string key = fmt::format("{}_budget_chars", site.memory_hint);
    const bool known = std::find(keys.begin(), keys.end(), key) != keys.end();
    if (!site.memory_hint.empty() && !known) keys.push_back(key);
  }
  return keys;
}

}  // namespace

std::span<const std::string_view> Roles() {
  static constexpr std::array<std::string_view, 10> kRoles = {
      "code",   "feedback", "vlm",   "summary", "select",
      "report", "cite",     "write", "review",  "memory"};
  return kRoles;
}

std::span<const ConfigKey> Keys() {
  static const std::vector<ConfigKey> kKeys = MakeKeys();
  return kKeys;
}

const ConfigKey* FindKey(std::string_view name) {
  for (const ConfigKey& key : Keys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

std::span<const std::string> MemoryKeys() {
  static const std::vector<std::string> kKeys = MakeMemoryKeys();
  return kKeys;
}

bool IsStoreKey(const std::string& name) {
  static const std::vector<std::string> kNames = driver::MemoryKeyNames();
  return IsOneOf(name, kNames);
}

bool IsMemoryKey(std::string_view name) {
  const auto keys = MemoryKeys();
  return std::find(keys.begin(), keys.end(), name) != keys.end();
}

}  // namespace dossier::research
