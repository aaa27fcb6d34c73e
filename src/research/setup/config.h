// The settings of a run: config.yaml in the run folder, with defaults for missing keys.
//
//   DOSSIER_ASSIGN_OR_RETURN(RunConfig config,
//                            ReadConfig(yaml, "my.yml", {"agent.num_workers=2"}));
//   DOSSIER_RETURN_IF_ERROR(WriteFile(folder + "/config.yaml", ConfigYaml(config)));
//
// Plain data. Errors: kConfig, "FILE:LINE:COL: reason", for an unknown key with the nearest known
// name; kUsage for a setting that is not KEY=VALUE.

#ifndef DOSSIER_RESEARCH_SETUP_CONFIG_H_
#define DOSSIER_RESEARCH_SETUP_CONFIG_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "driver/memory_port.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {

enum class PhaseMode : std::uint8_t { kSplit, kSingle };

// Names of the backends that run commands, for exec.backend and --backend.
inline constexpr std::string_view kBackendNames[] = {"local", "apptainer", "singularity", "slurm",
                                                     "slurm-plain"};

struct ExecConfig {
  std::int64_t timeout = 3600;  // seconds, per command
  std::string language = "auto";
  PhaseMode phase_mode = PhaseMode::kSplit;
  std::string backend = "local";
  std::string singularity_image;
  bool use_gpu = true;
  std::vector<std::string> gpu;  // device files for the local sandbox (FindDevices)
  std::string workspace_mount = "/workspace";
  bool writable_tmpfs = true;
  std::string container_overlay;
  std::vector<std::string> container_extra_args;
  bool per_worker_sif = true, keep_sandbox = false, use_fakeroot = true;
  std::string writable_mode = "auto";
  int phase1_max_steps = 12;
  std::vector<std::string> phase1_required_imports;
  NetworkPolicy network = NetworkPolicy::kPhase1;
  std::string network_probe_host;
  std::string resources;  // path of a file
  bool log_prompts = true;
  // Slurm resources to request, as sbatch flags ("time": "01:00:00").
  std::map<std::string, std::string> slurm;
  std::string slurm_phases = "phase4";  // or "phase3,phase4"
  std::vector<std::string> degraded;    // isolation layers that may be missing
  // Further limits per command.
  std::int64_t cpu_seconds = 3600, memory_bytes = 4ll << 30, processes = 256,
               output_bytes = 64 << 20;
  std::int64_t disk = 16ll << 30;    // bytes for a node's files
  std::vector<std::string> modules;  // "load gcc/12": for jobs without a container
};

struct RoleConfig {
  std::string model;  // "": the model of `code`
  double temperature = 1.0;
};

struct StageCap {
  std::optional<std::int64_t> max_iters;  // nodes; unset: agent.steps
};

struct RunConfig {
  ExecConfig exec;

  int num_workers = 4;              // slots per round
  std::optional<int> max_parallel;  // concurrent slots; unset: num_workers
  std::int64_t steps = 5;
  std::array<StageCap, 4> stages = {StageCap{40}, {40}, {40}, {40}};
  int num_seeds = 3;
  std::string role_description = "AI researcher";
  std::map<std::string, RoleConfig, std::less<>> roles;  // all roles, defaults filled in

  std::int64_t seed = 0;  // search.*
  int num_drafts = 3;
  double debug_prob = 0.5;
  int max_debug_depth = 3;

  int num_syn_datasets = 1;  // experiment.*
  std::string dataset_source = "auto";
  std::string data_overview;  // path of a file
  std::string data_folder;    // commands see it as `input` in the workspace; see copy_data
  std::string primary_metric;

  JsonObject memory;  // section `memory` as written: limits and budgets, read by their users
  bool memory_enabled = true;
  std::string paper_section_mode = "idea_then_memory";
  int paper_section_count = 12;
  bool final_memory_enabled = true;
  std::string final_memory_filename = "final_memory_for_paper.md";

  int max_figures = 12;
  int page_limit = 8, writeup_reflections = 3, citation_rounds = 20;
  std::string writeup_template;
  std::string citation_bibtex, citation_search_url;  // sources; empty: none
  int review_ensemble = 1, review_reflections = 1, review_examples = 1;
  std::string review_bias = "neutral";

  std::optional<double> max_cost_usd;
  std::optional<std::int64_t> max_tokens, max_seconds;
  std::int64_t max_wait_seconds = 3600;
  // kAuto: copies if the file system can share blocks with the data; otherwise as kNo.
  enum class CopyData : std::uint8_t { kAuto, kYes, kNo } copy_data = CopyData::kAuto;
  bool generate_report = true;

  int parallel() const { return max_parallel.value_or(num_workers); }
  std::int64_t stage_cap(int stage) const {  // 1 to 4
    return stages[static_cast<std::size_t>(stage - 1)].max_iters.value_or(steps);
  }
};

// `settings` are KEY=VALUE of --set; the last one wins, and they override the file. Relative paths
// start at the file's folder, those in settings at `folder`.
Result<RunConfig> ReadConfig(std::string_view yaml, std::string_view file,
                             std::span<const std::string> settings, std::string_view folder = {});
// Returns YAML with every key and value, which ReadConfig reads back.
std::string ConfigYaml(const RunConfig& config);

// Converts section `memory` of a run's configuration for the memory store and the caller.
//
//   DOSSIER_ASSIGN_OR_RETURN(const MemoryOptions options, ReadMemoryOptions(config.memory));
//   options.store.limits.core_max_chars;    // 2000
//   options.budget_chars.find("draft");     // of memory.draft_budget_chars
//
// Errors: kConfig, for a section that ReadConfig did not check. Thread-safety: pure function.

struct MemoryOptions {
  driver::MemoryConfig store;
  std::map<std::string, std::int64_t, std::less<>> budget_chars;  // by hint
};

Result<MemoryOptions> ReadMemoryOptions(const JsonObject& section);

// The name of the file that a run's programs write their results to.
//
//   OutputName("2026-01-28_17-46-11_Matrix Opt!_attempt_3")     // "matrix_opt_data.npy"
//
// Thread-safety: pure function.

// `run` is the name of a run's folder, with or without its date and attempt.
std::string OutputName(std::string_view run);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_CONFIG_H_
