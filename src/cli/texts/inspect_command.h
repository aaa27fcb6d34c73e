// `dossier inspect`: describes each file as text, hint, contextMeta or JSON.
//
//   InspectArguments arguments{.paths = {"feed.ndjson"}, .hint = true};
//   int exit_code = RunInspect(arguments, std::cout, std::cerr);
//
// One field per flag; values stay text as typed, so that one place makes all messages about them.
// Thread-safety: none needed; one call per process.

#ifndef DOSSIER_CLI_TEXTS_INSPECT_COMMAND_H_
#define DOSSIER_CLI_TEXTS_INSPECT_COMMAND_H_

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/shared_flags.h"

namespace dossier::cli {

struct InspectArguments {
  std::vector<std::string> paths;     // "-" is stdin
  bool json = false;                  // --json
  bool jsonl = false;                 // --jsonl
  bool hint = false;                  // --hint
  std::string variable = "context";   // --variable
  std::string meta;                   // --meta: python or javascript
  std::string name;                   // --name, for stdin
  ContentFlags content;               // --format, --encoding, --delimiter, --header, --comment
  std::int64_t depth = 1;             // --depth: 0 to 8
  std::int64_t fields = 40;           // --fields
  std::int64_t sample_records = 100;  // --sample-records
  std::int64_t sample_chars = 200;    // --sample-chars; 0: no sample
  std::string max_scan;               // --max-scan: SIZE
  std::string inside_limit = "256M";  // --inside-limit: SIZE
  std::int64_t members = 40;          // --members
  std::int64_t threads = 0;           // --threads; 0: one per core, at most 8
  bool hash = false;                  // --hash
  bool hidden = false;                // --hidden
  bool no_ignore = false;             // --no-ignore
  bool follow = false;                // --follow
  std::int64_t max_files = 10000;     // --max-files
  bool strict = false;                // --strict
  CancelToken cancel;                 // Ctrl-C
};

// Returns the exit code: 0, 2, 4, 10, 15, 130, 141.
int RunInspect(const InspectArguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_INSPECT_COMMAND_H_
