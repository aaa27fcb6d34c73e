#include "recursion/direct.h"

#include "base/text.h"
#include "inspect/description.h"
#include "recursion/document_search.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kPassageChars = 3'000;            // about 1,000 tokens at most
constexpr std::uint64_t kSearchLimit = 64u << 20;       // bytes; beyond it the search would be felt

Result<std::string> ContextText(const ContextSet& context) {
  std::string text;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* stored, context.Stored(i));
    if (context.documents().size() > 1) {
      text += fmt::format("{}[{}]\n", i == 0 ? "" : "\n", context.documents()[i].name);
    }
    text += stored->map.bytes();
  }
  return text;
}

}  // namespace

Result<assembly::Assembled> AssembleDirect(RunState& run) {
  DOSSIER_ASSIGN_OR_RETURN(std::string text, ContextText(*run.request.context));
  std::vector<assembly::Section> sections;
  sections.push_back({.name = "content", .content = std::move(text)});
  return run.prompts.Assemble("direct", run.options.root, {{"question", run.request.question}},
                              sections, run.boundary, run.reserve_output());
}

Result<CallResult> AnswerDirectly(RunState& run) {
  DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt, AssembleDirect(run));
  const Metadata none;
  CallLoop loop(run, none, [] { return MakeError(ErrorCode::kInternal, "no code runs here"); });
  DOSSIER_ASSIGN_OR_RETURN(model::Reply reply, loop.AskDirect(prompt));
  CallResult result{.status = RunStatus::kFinal, .source = Source::kDirect, .turns = 1};
  result.text = std::string(TrimSpace(StripThinking(reply.text).text));
  if (result.text.empty()) {
    result.status = RunStatus::kNone;
    result.source = Source::kNone;
  } else {
    run.log.Add(0, "answer.accepted",
                {{"source", SourceName(result.source)}, {"status", RunStatusName(result.status)}});
  }
  if (reply.finish == model::Finish::kLength || reply.finish == model::Finish::kCut) {
    run.log.Warn(0, "reply_cut", Json(model::FinishName(reply.finish)));
  }
  return result;
}

std::string FindPassagesFor(RunState& run) {
  const ContextSet& context = *run.request.context;
  if (!run.small() || context.bytes() > kSearchLimit) return {};
  // For a count over the whole text a few paragraphs only mislead.
  if (Classify(run.request.question) == QuestionKind::kAggregate) return {};
  std::vector<TextDocument> documents;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    if (inspect::HasRecords(document.description.format)) return {};
    const auto stored = context.Stored(i);
    if (!stored) return {};
    documents.push_back({document.name, (*stored)->map.bytes(), document.description});
  }
  std::string text;
  for (const Passage& passage : FindPassages(documents, run.request.question, kPassageChars, run.cancel)) {
    const TextDocument& document = documents[passage.document];
    text += fmt::format("[{}, byte {}]\n{}\n\n", document.name, passage.at,
                        TrimSpace(document.text.substr(passage.at, passage.length)));
  }
  return text;
}

}  // namespace dossier::recursion
