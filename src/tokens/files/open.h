// Opens counters by the name of their encoding.
//
//   DOSSIER_ASSIGN_OR_RETURN(Opened opened, Open("o200k_base", DefaultDataPaths()));
//   if (!opened.warning.empty()) say("warning: " + opened.warning);
//   opened.counter->CountText(prompt);
//
// Names: cl100k_base, o200k_base, gguf:FILE (a model file's own vocabulary), hf:FILE (a
// tokenizer.json), chars, bytes.
//
// Public encodings have tables in share/dossier; those of model files are made on first use (0.3 s
// for 150,000 tokens) and kept in the user's cache folder under the hash of their source. Opening a
// table takes about a millisecond. Thread-safety: functions over files.

#ifndef DOSSIER_TOKENS_FILES_OPEN_H_
#define DOSSIER_TOKENS_FILES_OPEN_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::tokens {

struct DataPaths {
  std::string tables;  // folder of NAME.vocab
  std::string cache;   // folder for tables of model files and for counts; empty: nothing is kept
};

// Returns share/dossier beside the program's folder, and the user's cache folder.
// DOSSIER_TOKEN_TABLES, if set, is the folder of the tables.
DataPaths DefaultDataPaths();

struct Opened {
  std::shared_ptr<const Counter> counter;
  std::string
      identity;  // names the vocabulary itself, not its file: for CountCache; empty if not exact
  std::string warning;  // the table is missing or damaged, so counts are estimates
};

// Errors: kUsage for an unknown name, with the nearest one; kNotFound, kDamaged, kUnavailable for
// the file after gguf: or hf:, naming it.
Result<Opened> Open(std::string_view encoding, const DataPaths& paths);

// Returns the names, for messages and help.
std::vector<std::string> EncodingNames();

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_OPEN_H_
