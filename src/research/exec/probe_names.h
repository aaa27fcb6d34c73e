// What the probe looks for, as data.

#ifndef DOSSIER_RESEARCH_EXEC_PROBE_NAMES_H_
#define DOSSIER_RESEARCH_EXEC_PROBE_NAMES_H_

#include <array>
#include <string_view>

namespace dossier::research {

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

// Names of variables that commands and prompts may see; a `*` at the end stands for any ending.
// Whatever the list says, a name that IsSecretVariableName knows is not shown.
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

#endif  // DOSSIER_RESEARCH_EXEC_PROBE_NAMES_H_
