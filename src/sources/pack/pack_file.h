// One file as it stands in a pack: read, judged, redacted, rendered, counted. A step of Pack.

#ifndef DOSSIER_SOURCES_PACK_PACK_FILE_H_
#define DOSSIER_SOURCES_PACK_PACK_FILE_H_

#include <string>
#include <vector>

#include "sources/pack/pack.h"
#include "sources/pack/pack_rank.h"
#include "sources/pack/pack_select.h"
#include "sources/repository/code_facts.h"
#include "tokens/files/count_cache.h"

namespace dossier::sources {

// What the later steps need to know beside the file itself.
struct ReadFileFacts {
  bool unchanged = false;  // as in HEAD
  bool sanitized = false;  // NUL or invalid UTF-8 became U+FFFD
  RankedText ranked;       // with a task
};

// Never fails: a file that cannot be read says so. Thread-safety: may run for many files at once,
// each with `counts` of its own.
PackedFile PackOneFile(const SelectedFile& file, const PackOptions& options, const GitFacts* git,
                       const Ranking* ranking, tokens::CountCache* counts, ReadFileFacts* facts);

// `path` on one line: with quotes and escapes where it holds something else than text.
std::string PathForText(std::string_view path);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_FILE_H_
