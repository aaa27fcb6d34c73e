// Extracts the code from a model's reply, despite varying fences, tags and slips around it.
//
//   Extraction found = ExtractCode(reply, {.finish = ReplyFinish::kStop, .compiles = Compiles});
//   if (found.blocks.empty()) SendBack(found.feedback);
//   for (const CodeBlock& block : found.blocks) Run(block.code);
//   BareAnswer answer = FindBareAnswer(found.text_outside, ModelSize::kLarge);
//
// Thread-safety: pure functions, if `compiles` is. Linear in the length of the reply, except for at
// most kMaxCompiles calls of `compiles`.

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
  std::string code;  // ready to run: repaired, common indent removed; lines joined by \n
  std::string tag;   // lower case: "repl", "python", …; empty: no tag
};

struct Extraction {
  std::vector<CodeBlock> blocks;          // to run, in the reply's order
  std::vector<std::string> repairs;       // what was tolerated, for code.extracted
  std::vector<std::string> ignored_tags;  // of fences not run, in order, without duplicates
  // Tells the model why nothing runs, or why the cut-off last block does not. Empty if all is well,
  // or if there is simply no code (then code_required.md is the answer).
  std::string feedback;
  bool half_block = false;   // the reply was cut inside code, which does not run
  std::string text;          // the reply without thinking
  std::string text_outside;  // the same without any fence or code
  std::string thinking;      // as in CleanReply
};

// Asks the sandbox whether `code` is complete and has no syntax errors. Called only if a tolerance
// depends on it.
using CompileCheck = std::function<bool(std::string_view code)>;

inline constexpr int kMaxCompiles = 48;  // per reply; after them nothing counts as compiling

struct ExtractionOptions {
  Dialect dialect = Dialect::kPython;
  ReplyFinish finish = ReplyFinish::kStop;
  ModelSize model = ModelSize::kLarge;
  CompileCheck compiles;  // unset: anything like code counts as compiling, nothing is undone
};

// Expects the whole reply, thinking included. A fence that is not closed extends to the end of the
// reply unless finish is kLength, since a stop sequence at the closing fence leaves such a reply.
Extraction ExtractCode(std::string_view reply, const ExtractionOptions& options);

// Returns the form that is equal for equal programs: no trailing white space, no blank lines.
std::string CodeKey(std::string_view code);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_EXTRACTION_H_
