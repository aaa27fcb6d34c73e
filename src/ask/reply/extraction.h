// The code in a model's reply, whatever fences, tags and slips surround it.
//
//   Extraction found = ExtractCode(reply, {.finish = ReplyFinish::kStop, .compiles = Compiles});
//   if (found.blocks.empty()) SendBack(found.feedback);
//   for (const CodeBlock& block : found.blocks) Run(block.code);
//   BareAnswer answer = FindBareAnswer(found.text_outside, ModelSize::kLarge);
//
// Thread-safety: pure functions, if `compiles` is. Linear in the length of the reply but for the
// calls of `compiles`, at most kMaxCompiles.

#ifndef DOSSIER_ASK_REPLY_EXTRACTION_H_
#define DOSSIER_ASK_REPLY_EXTRACTION_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/reply/reply_text.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

using sandbox::Dialect;

struct CodeBlock {
  std::string code;  // as it runs: repaired, common indent removed; lines joined by \n
  std::string tag;   // "repl", "python", … in lower case; empty without one
};

struct Extraction {
  std::vector<CodeBlock> blocks;          // to run, in the order of the reply
  std::vector<std::string> repairs;       // what was tolerated, for code.extracted
  std::vector<std::string> ignored_tags;  // of fences that did not run, in order, each once
  // For the model: why nothing runs, or why the cut last block does not. Empty if all is well, and
  // if there is simply no code: then code_required.md is the answer.
  std::string feedback;
  std::string text;          // the reply without thinking
  std::string text_outside;  // the same without any fence or code
  std::string thinking;      // as in CleanReply
};

// Whether `code` is complete and without syntax errors, asked of the sandbox. It is called only
// where a tolerance depends on it.
using CompileCheck = std::function<bool(std::string_view code)>;

inline constexpr int kMaxCompiles = 48;  // a reply; after them nothing counts as compiling

struct ExtractionOptions {
  Dialect dialect = Dialect::kPython;
  ReplyFinish finish = ReplyFinish::kStop;
  ModelSize model = ModelSize::kLarge;
  CompileCheck compiles;  // unset: whatever looks like code counts as compiling, nothing is undone
};

// Takes the whole reply, thinking included. A missing closing fence runs to the end of the reply
// unless finish is kLength: a stop sequence at the closing fence leaves a reply like that.
Extraction ExtractCode(std::string_view reply, const ExtractionOptions& options);

// The form in which two blocks are the same program: without trailing white space and blank lines.
std::string CodeKey(std::string_view code);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_EXTRACTION_H_
