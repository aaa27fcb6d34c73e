// One question over a context of any size. A short context goes into one request; of a long one the
// model gets a description, writes code, and a sandbox runs it, until an answer stands.
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
// A run that began always ends in an Answer, also at a limit, when it was cancelled or when the
// model failed: `status` says how, `error` why. Errors are those before a run exists: no model
// or an empty question (kInvalidArgument), a schema that is none (kConfig), a limit that is not
// above 0, or one of cost for a model without a price (kInvalidArgument), an image that is none or
// that no model takes (kInvalidArgument, kUsage, kTooLong, kNetwork), a context or image that
// cannot be read (kNotFound, kPermission, kIsDevice, kDamaged), the user's own configuration or
// layouts (kConfig, kNotFound, kRefused), a memory that cannot be opened, no place for the run's
// record (kIo, kPermission). Units: tokens, US dollars, milliseconds. Ownership: plain values;
// options share the model. Thread-safety: many calls at once, with one Model, too; each blocks its
// own thread. Callbacks come from the run's threads, one at a time for one call; they must not
// block and must not throw.

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

// What a question is about. Made by one of the functions below.
struct Context {
  enum class Kind { kFile, kFolder, kText } kind = Kind::kText;
  std::string value;  // a path, or the text
  std::string name;   // what the document is called, of a file or a text; "": as its file
};
Context File(std::string path);
Context Folder(std::string path);  // the files below it, but for those that git ignores
Context Text(std::string utf8);

// A function of the caller that the code of a run may call: `run` gets its arguments as a JSON
// object that fits `parameters`, and gives a JSON value, or an error that is raised in the code. It
// is called from threads of the run, many at once, and may take its time.
struct AskTool {
  std::string name, description;
  std::string parameters;  // JSON Schema of an object; its properties in the order of the arguments
  std::function<Result<std::string>(std::string_view arguments, const CancelToken& cancel)> run;
};

// An image (PNG, JPEG, GIF, WebP; at most 16 MiB) that code shows to the model of a sub-call by its
// name: llm_query("Which rooms are there?", media="plan"). Code can name nothing else, so that
// nothing is read or fetched that is not given here.
struct AskImage {
  std::string name;   // a letter, then letters, digits, _ and -
  std::string place;  // a file, or an http or https address, which is fetched once
  std::string bytes;  // the image itself, instead of a place
};

struct AskOptions {
  Model model;
  Model sub_model;    // of questions that code asks about parts; none: `model`
  Model child_model;  // of calls with turns of their own that code starts; none: `sub_model`
  // 0: code asks no model; 1: it may; N: it may start calls with turns of their own, to level N
  // - 1.
  int max_depth = 1;
  enum class Mode { kAuto, kDirect, kRecursive } mode = Mode::kAuto;
  // Limits of the whole run; unset: none.
  std::int64_t max_calls = 500;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> max_usd;
  std::optional<std::chrono::milliseconds> max_time;
  std::optional<int> max_turns;
  std::optional<std::uint64_t> seed;  // unset: drawn
  std::optional<double> temperature;  // unset: what suits the model
  // The answer is one JSON value that fits this JSON Schema, or "name, age int"; "": any text.
  std::string json_schema;
  // What is wrong with an answer, in words for the model; "": nothing.
  std::function<std::string(std::string_view answer)> check;
  int repairs = 2;  // how often an answer that is not as required may be mended
  std::vector<AskTool> tools;
  // The run is then one of code: neither Mode::kDirect nor a depth of 0 goes with them, and one of
  // its models must take images, as its model data say.
  std::vector<AskImage> media;
  SandboxOptions sandbox;   // its texts and `cancel` are not looked at
  SandboxPool pool;         // where code runs; none: one is made for this call
  Memory memory;            // read and written by the run; none: off
  std::string out_dir;      // new or empty folder for files that code writes; "": none is written
  std::string layouts_dir;  // folder with layouts/ and prompts/ that comes first
  // Where runs are recorded; "": the user's own. Above its configured size the oldest go.
  std::string runs_folder;
  std::function<void(const RunEvent& event)> on_event;
  std::function<void(std::string_view text)> on_text;  // of the model's replies, as they arrive
  CancelToken cancel;
};

enum class AnswerStatus {
  kFinal,        // confirmed by what was read or computed
  kExtracted,    // a limit was reached; the best that was known
  kUnconfirmed,  // handed in, with doubts; `error` is kSchema if it is not as required
  kNone,         // no answer was found
  kInterrupted,  // cancelled
  kFailed,       // an error ended it
};
std::string_view AnswerStatusName(AnswerStatus status);  // "final"

struct LimitHit {
  std::string limit;  // calls, tokens, cost, time, iterations, errors
  double max = 0, used = 0;
};

struct AnswerFile {
  std::string path;  // below AskOptions::out_dir
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct Answer {
  AnswerStatus status = AnswerStatus::kNone;
  std::string text;                 // empty if there is none
  std::vector<std::string> doubts;  // what speaks against it, a sentence each
  std::vector<LimitHit> limits_hit;
  std::vector<std::string> warnings;
  std::optional<Error> error;     // what ended the run early
  Usage usage;                    // of the whole run
  std::string run;                // its id: `dossier runs show ID`
  std::vector<AnswerFile> files;  // that code wrote
  int turns = 0;
  std::chrono::milliseconds elapsed{0};
  std::string json;  // all that is known, as `dossier ask --json` prints it
};

Result<Answer> Ask(std::string_view question, const std::vector<Context>& contexts,
                   const AskOptions& options);

}  // namespace dossier

#endif  // DOSSIER_ASK_H_
