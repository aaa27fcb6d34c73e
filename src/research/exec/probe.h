// Collects the facts about a machine that prompts show, by running commands inside the sandbox.
//
//   const MachineFacts found = Probe(*backend, {.timeout_seconds = 3600}, cancel);
//   prefix.environment = EnvironmentText(found);
//   services.compilers = CompilerNames(found);
//
// A fact that cannot be found keeps its field's default ("NA", "unknown"); Probe never fails as a
// whole. The time limit per field is 10 seconds. Thread-safety: as the backend.

#ifndef DOSSIER_RESEARCH_EXEC_PROBE_H_
#define DOSSIER_RESEARCH_EXEC_PROBE_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {

struct ProbeConfig {
  std::vector<std::string> environment;  // "NAME=value", for commands; see AllowedEnvironment
  std::size_t variables_not_shown = 0;   // number of the user's variables left out
  NetworkPolicy network = NetworkPolicy::kPhase1;
  std::string network_probe_host;  // "": not probed
  enum class Gpu : std::uint8_t { kNo, kYes } gpu = Gpu::kYes;
  std::string assigned_gpu_id;    // assigned by a scheduler; "": unknown
  std::string container_runtime;  // "": host
  std::string singularity_image;  // "": none
  std::string workspace_mount = "/workspace";
  std::int64_t timeout_seconds = 3600;
};

struct ProbedTool {
  std::string name, path, version, description;

  bool operator==(const ProbedTool&) const = default;
};
struct ProbedPackage {
  std::string name, version, status;

  bool operator==(const ProbedPackage&) const = default;
};

// Field names are those that prompts and JSON show.
struct MachineFacts {
  std::string os_release;
  std::string cpu_info = "unknown", memory_info = "unknown";
  std::string gpu_info = "nvidia-smi not available", assigned_gpu_id = "unknown";
  std::string cpu_governor = "NA", numa_config = "NA", all_env_vars = "NA";
  std::string network_access = "unknown";  // available, blocked, unknown
  std::string container_runtime = "host", singularity_image = "none";
  std::string container_digest = "NA";  // "sha256:" and 64 hex digits
  std::string workspace_mount = "/workspace";
  std::int64_t timeout_seconds = 3600;
  std::vector<ProbedTool> available_compilers;
  std::vector<std::string> available_libs;
  std::vector<ProbedTool> system_performance_tools;
  std::vector<ProbedPackage> installed_system_packages;

  bool operator==(const MachineFacts&) const = default;
};

MachineFacts Probe(ExecBackend& backend, const ProbeConfig& config, const CancelToken& cancel = {});

// Returns the text of section `Environment`: a list of the facts, then four rules for using them.
std::string EnvironmentText(const MachineFacts& environment);
JsonObject EnvironmentJson(const MachineFacts& environment);
// Errors: kDamaged naming the field.
Result<MachineFacts> ReadEnvironment(const Json& json);
std::vector<std::string> CompilerNames(const MachineFacts& environment);

// Returns those variables of `all` ("NAME=value") whose names commands may see, sorted.
std::vector<std::string> AllowedEnvironment(std::span<const std::string> all);
bool IsAllowedVariable(std::string_view name);

// Probes once a day per image, or for this machine if there is no image: `folder` keeps the result
// under the image's digest, the configuration and the day of `clock`.
struct ProbeCache {
  std::string folder;
  std::string day;  // "2026-01-28"
};
MachineFacts CachedProbe(ExecBackend& backend, const ProbeConfig& config, const ProbeCache& cache,
                         const CancelToken& cancel = {});

// What the probe looks for, as data.

inline constexpr std::array<std::string_view, 23> kProbedCompilers = {
    "mpicc", "mpicxx", "mpif90",   "mpif77", "gcc", "g++",   "clang",    "clang++",
    "cc",    "c++",    "gfortran", "ifort",  "ifx", "flang", "f77",      "f90",
    "f95",   "icx",    "icpx",     "nvcc",   "nvc", "nvc++", "nvfortran"};

inline constexpr std::array<std::string_view, 24> kProbedLibraries = {
    "libcnpy",   "libz",     "libstdc++", "libc",       "libopenblas",  "liblapack",
    "libmkl",    "libatlas", "libmpi",    "libopenmpi", "libmpich",     "libomp",
    "libfftw3",  "libhdf5",  "libnetcdf", "libgsl",     "libcuda",      "libcudart",
    "libcublas", "libcudnn", "libboost",  "libeigen3",  "libarmadillo", "libpthread"};

struct ProbedToolName {
  std::string_view name, description;
};
inline constexpr std::array<ProbedToolName, 8> kProbedTools = {{
    {"numactl", "binds processes and memory to NUMA nodes"},
    {"perf", "counts hardware events, samples call stacks"},
    {"taskset", "binds a process to processors"},
    {"likwid-pin", "pins threads to processors"},
    {"likwid-perfctr", "reads hardware counters of code regions"},
    {"hwloc-ls", "shows processors, caches and devices as a tree"},
    {"lscpu", "describes the processors"},
    {"numastat", "counts memory accesses of each NUMA node"},
}};

inline constexpr std::array<std::string_view, 16> kProbedPackages = {
    "linux-tools-*", "numactl",         "hwloc",          "libhwloc-dev",
    "libnuma-dev",   "libopenblas-dev", "liblapack-dev",  "libfftw3-dev",
    "libhdf5-dev",   "openmpi-bin",     "libopenmpi-dev", "mpich",
    "libmpich-dev",  "build-essential", "cmake",          "gfortran"};

// Names of variables that commands and prompts may see; a `*` at the end matches any suffix. Names
// for which IsSecretVariableName is true are never shown, whatever this list says.
inline constexpr std::array<std::string_view, 39> kAllowedVariables = {
    "PATH",         "LANG",       "LC_*",
    "TZ",           "TMPDIR",     "HOME",
    "OMP_*",        "GOMP_*",     "KMP_*",
    "MKL_*",        "OPENBLAS_*", "CUDA_*",
    "NVIDIA_*",     "HIP_*",      "ROCR_*",
    "SLURM_*",      "PBS_*",      "OMPI_*",
    "I_MPI_*",      "MPICH_*",    "UCX_*",
    "FI_*",         "CC",         "CXX",
    "FC",           "CFLAGS",     "CXXFLAGS",
    "FFLAGS",       "LDFLAGS",    "LD_LIBRARY_PATH",
    "LIBRARY_PATH", "CPATH",      "PKG_CONFIG_PATH",
    "CMAKE_*",      "PYTHONPATH", "VIRTUAL_ENV",
    "CONDA_PREFIX", "MODULEPATH", "LOADEDMODULES"};

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_PROBE_H_
