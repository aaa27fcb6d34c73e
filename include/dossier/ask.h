// Answers one question about a context of any size. A short context is sent in one request; for a
// long one the model gets a description and writes code, which a sandbox runs, until it answers.
//
// [example]
//   auto model = dossier::Model::Open("local");  // or "gpt-5-mini", "http://host:8080/v1#name"
//   if (!model) return dossier::ExitCode(model.error().code);
//   auto answer = dossier::Ask("Which package is the largest?",
//                              {dossier::File("/var/lib/dpkg/status")},
//                              {.model = *model, .max_calls = 100});
//   if (!answer) return dossier::ExitCode(answer.error().code);
//   std::cout << answer->text << "\n" << answer->usage.calls << " calls\n";
//   for (const std::string& doubt : answer->doubts) std::cerr << "note: " << doubt << "\n";
// [/example]
//
// A run that has started always ends in an Answer, even if it reached a limit, was cancelled or the
// model failed: `status` says how it ended, `error` why. Errors are returned only before a run
// exists: no model or an empty question (kInvalidArgument), an invalid schema (kConfig), a limit
// that is not above 0, or a cost limit for a model without a price (kInvalidArgument), an invalid
// image or one that no model accepts (kInvalidArgument, kUsage, kTooLong, kNetwork), a context or
// image that cannot be read (kNotFound, kPermission, kIsDevice, kDamaged), the user's own
// configuration or layouts (kConfig, kNotFound, kRefused), its budget for all runs that is used up
// (kLimit), a memory that cannot be opened, no place for the run's record (kIo, kPermission).
// Units: tokens, US dollars, milliseconds. Ownership: plain values; options share the model.
// Thread-safety: many calls may run at once, also with one Model; each blocks its own thread.
// Callbacks come from the run's threads, one at a time per call; they must not block or throw.

#ifndef DOSSIER_ASK_H_
#define DOSSIER_ASK_H_

#include <dossier/cancel.h>
#include <dossier/memory.h>
#include <dossier/model.h>
#include <dossier/result.h>
#include <dossier/sandbox.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

// The subject of a question. Made by one of the functions below.
struct Context {
  enum class Kind { kFile, kFolder, kText } kind = Kind::kText;
  std::string value;  // a path, or the text
  std::string name;   // document name for a file or text; "": the file's name
};
Context File(std::string path);
Context Folder(std::string path);  // all files below it except those that git ignores
Context Text(std::string utf8);

// A function of the caller that code in a run may call. `run` gets its arguments as a JSON object
// that fits `parameters` and returns a JSON value, or an error that is raised in the code. It is
// called from the run's threads, several at once, and may take a long time.
struct AskTool {
  std::string name, description;
  std::string parameters;  // JSON Schema of an object; its properties are in argument order
  std::function<Result<std::string>(std::string_view arguments, const CancelToken& cancel)> run;
};

// An image (PNG, JPEG, GIF, WebP; at most 16 MiB) that code passes by name to the model of a
// sub-call: llm_query("Which rooms are there?", media="plan"). Code can name only the images given
// here, so nothing else is read or fetched.
struct AskImage {
  std::string name;   // a letter, then letters, digits, _ and -
  std::string place;  // a file path, or an http or https address that is fetched once
  std::string bytes;  // the image data, instead of `place`
};

struct AskOptions {
  Model model;
  Model sub_model;    // for questions that code asks about parts; none: `model`
  Model child_model;  // for calls with their own turns that code starts; none: `sub_model`
  // 0: code may not ask a model; 1: it may; N: it may also start calls with their own turns, down
  // to level N - 1.
  int max_depth = 1;
  enum class Mode { kAuto, kDirect, kRecursive } mode = Mode::kAuto;
  // Limits for the whole run; unset: no limit.
  std::int64_t max_calls = 500;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_usd;
  std::optional<std::chrono::milliseconds> max_time;
  std::optional<int> max_turns;
  std::optional<std::uint64_t> seed;  // unset: random
  std::optional<double> temperature;  // unset: the recommended value for the model
  // The answer must be one JSON value that fits this schema (or "name, age int"); "": any text.
  std::string json_schema;
  // Returns what is wrong with an answer, in words for the model; "" if nothing is.
  std::function<std::string(std::string_view answer)> check;
  int repairs = 2;  // how often an answer that fails a requirement may be corrected
  std::vector<AskTool> tools;
  // With images the run always uses code, so Mode::kDirect and a depth of 0 are not allowed. One of
  // the run's models must accept images according to its model data.
  std::vector<AskImage> media;
  SandboxOptions sandbox;   // its texts and `cancel` are ignored
  SandboxPool pool;         // where code runs; none: a pool is made for this call
  Memory memory;            // the run reads and writes it; none: no memory
  std::string out_dir;      // new or empty folder for files that code writes; "": none
  std::string layouts_dir;  // folder with layouts/ and prompts/, searched first
  // Folder for run records; "": the user's own. The oldest are deleted above its configured size.
  std::string runs_folder;
  std::function<void(const RunEvent& event)> on_event;
  std::function<void(std::string_view text)> on_text;  // text of the model's replies as it arrives
  CancelToken cancel;
};

enum class AnswerStatus {
  kFinal,        // confirmed by what was read or computed
  kExtracted,    // a limit was reached; the best answer known by then
  kUnconfirmed,  // handed in, with doubts; `error` is kSchema if it fails a requirement
  kNone,         // no answer was found
  kInterrupted,  // cancelled
  kFailed,       // an error ended the run
};
std::string_view AnswerStatusName(AnswerStatus status);  // "final"

struct LimitHit {
  std::string limit;  // "calls", "tokens", "cost", "time", "iterations" or "errors"
  double max = 0, used = 0;
};

struct AnswerFile {
  std::string path;  // relative to AskOptions::out_dir
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct Answer {
  AnswerStatus status = AnswerStatus::kNone;
  std::string text;                 // empty if there is no answer
  std::vector<std::string> doubts;  // reasons against the answer, one sentence each
  std::vector<LimitHit> limits_hit;
  std::vector<std::string> warnings;
  std::optional<Error> error;     // why the run ended early
  Usage usage;                    // of the whole run
  std::string run;                // run id, for `dossier runs show ID`
  std::vector<AnswerFile> files;  // written by the code
  int turns = 0;
  std::chrono::milliseconds elapsed{0};
  std::string json;  // the complete result, as `dossier ask --json` prints it
};

Result<Answer> Ask(std::string_view question, const std::vector<Context>& contexts,
                   const AskOptions& options);

}  // namespace dossier

#endif  // DOSSIER_ASK_H_
