// Packs a folder as text for a model: chooses files, their order and form, within a budget.
//
//   PackOptions options{.paths = {"src"}, .counter = counter};
//   options.budget = 60000;
//   DOSSIER_ASSIGN_OR_RETURN(PackedFiles packed, Pack(options, cancel));
//   section.content = packed.Text();                       // for the `files` source of a layout
//   section.alternatives["outline"] = packed.Text(Form::kOutline);   // with options.forms = kAll
//
// The text has no section fence; FencedPack gives what `dossier pack` prints. The same files and
// options give the same bytes, in any folder or locale and with any number of threads.
//
// Steps: SelectFiles and PackOneFile (pack_file.h: read, redact, render, count), then TaskRanking
// (--task), OrderFiles and FitFiles (budget; pack_rank.h), then the reports below.
// Thread-safety: functions over their arguments; Pack reads files in `threads` threads of its own.

#ifndef DOSSIER_SOURCES_PACK_PACK_H_
#define DOSSIER_SOURCES_PACK_PACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::sources {

enum class PackFormat : std::uint8_t { kXml, kMarkdown, kPlain };
enum class PackOrder : std::uint8_t { kDefault, kChanged, kPath, kSticky };
enum class SecretPolicy : std::uint8_t { kRedact, kExclude, kAllow };
enum class LineNumbers : std::uint8_t { kNo, kYes };
// The extent to which a file is shown. kNames: only its path in the list.
enum class Form : std::uint8_t { kFull, kOutline, kNames };

struct PackOptions {
  std::vector<std::string> paths = {"."};  // files, folders, globs; a named file is always included
  std::vector<std::string> include, exclude;             // globs; see PathGlobs
  std::vector<std::pair<std::string, double>> priority;  // glob, 0 to 1; the last match counts; 0.5
  std::optional<std::int64_t> budget;                    // tokens, including the fence and the list
  PackFormat format = PackFormat::kXml;
  PackOrder order = PackOrder::kDefault;  // kChanged in a git work tree, else kPath
  std::vector<std::string> manifest;      // for kSticky: the paths in order
  SecretPolicy secrets = SecretPolicy::kRedact;
  LineNumbers line_numbers = LineNumbers::kNo;
  bool hidden = false, submodules = false;
  std::string task;                // words to rank by; empty: no ranking
  std::optional<std::size_t> top;  // shows only this many of the best files
  enum class Forms : std::uint8_t { kAsNeeded, kAll } forms = Forms::kAsNeeded;
  std::shared_ptr<const tokens::Counter> counter;  // required
  std::string counts_folder;  // caches token counts by content; empty: no cache
  std::string counts_name;    // tokens::Opened::identity
  int threads = 2;
  std::int64_t reserve = 0;  // tokens of the budget reserved for the caller's frame
};

// The reason why a file is not shown in full.
enum class LeftOut : std::uint8_t {
  kNothing,
  kBinary,
  kLarge,
  kSecretName,
  kSecretFound,
  kUnreadable,
  kBudget,
  kTop,
};
std::string_view LeftOutName(LeftOut why);  // "binary", "budget", …

// A secret value that was removed.
struct PackedSecret {
  std::size_t line = 1;  // line number in the file; 0 in a description, behind the first 1 MiB
  std::string kind;      // as in [redacted:KIND]
};

struct PackedFile {
  std::string path;         // relative to the root of the pack
  Form form = Form::kFull;  // as shown
  LeftOut why = LeftOut::kNothing;
  std::string detail;               // kUnreadable: the reason; kBinary: "UTF-16 text" if it is that
  std::uint64_t bytes = 0;          // size of the file
  std::int64_t full_tokens = 0;     // tokens of the full form with its frame
  std::int64_t outline_tokens = 0;  // 0: no outline
  std::vector<PackedSecret> secrets;  // redacted, by line
  bool listed = true;                 // false: the budget had no room for its name
  double priority = 0.5;
  double score = 0;                  // only with a task
  std::vector<std::string> reasons;  // for the score, the largest part first
  std::string full, outline;         // rendered text; empty for kNames
};

struct PackedFiles {
  std::vector<PackedFile> files;  // in the order of the text
  PackFormat format = PackFormat::kXml;
  std::int64_t tokens = 0;  // counted in Text()
  bool exact = false;
  double margin = 0;
  std::string order;  // "changed", "path", "sticky"
  std::string root;   // absolute; not part of the text
  std::vector<std::string> warnings;

  // Returns the files, then their list. No file is shown in a fuller form than `most`.
  std::string Text(Form most = Form::kFull) const;
  // Returns the list only.
  std::string List(Form most = Form::kFull) const;
};

// Errors: kNotFound (a path), kTooLong (not even a short list of names fits; the message says what
// would help), kUsage (a glob, a number), kLimit (more than 200,000 files), kCancelled.
Result<PackedFiles> Pack(const PackOptions& options, const CancelToken& cancel);

// The whole text of `dossier pack`, written in parts so that memory does not hold it twice.
// `packed` must outlive it.
struct FencedText {
  std::string opening, list, closing;
  const PackedFiles* packed = nullptr;

  std::vector<std::string_view> Parts() const;
  std::string Text() const;
};

// Puts the text into a data fence with `boundary`, which is changed if a file contains it; Markdown
// uses its own fences. `packed->tokens` becomes the count of the whole text.
FencedText FencedPack(const tokens::Counter& counter, std::string boundary,
                      std::optional<std::uint64_t> seed, PackedFiles* packed);
// Returns the maximum number of tokens of the fence.
std::int64_t FenceTokens(const tokens::Counter& counter, PackFormat format);

// Reports what a pack holds and why, for scripts and for people.
//
// Thread-safety: pure functions.

// Returns dossier.pack/1 (docs/schemas/pack.schema.json), without "text".
Json PackReportJson(const PackedFiles& packed, std::optional<std::int64_t> budget,
                    std::string_view encoding);

// Returns totals and what was left out and why. If a budget cut files, it adds the ten largest
// files, with a pattern to exclude each.
std::string PackTable(const PackedFiles& packed, std::optional<std::int64_t> budget,
                      std::string_view encoding);

// Lists tokens by folder and file, largest first.
std::string PackTree(const PackedFiles& packed);

// Lists the files whose text is packed, relative to the working folder, each followed by `end`.
std::string PackNames(const PackedFiles& packed, char end);

// Lists each file with its score, best first, and the reasons for it.
std::string PackRanks(const PackedFiles& packed, std::size_t count);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_H_
