#include "ask/loop/direct.h"

#include <algorithm>
#include <map>

#include "ask/documents/document_search.h"
#include "ask/loop/direct_check.h"
#include "ask/loop/root_request.h"
#include "base/text/text.h"
#include "inspect/description/description.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kPassageChars = 3'000;       // about 1,000 tokens at most
constexpr std::uint64_t kSearchLimit = 64u << 20;  // bytes; a larger search would be slow

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

// Sets the checked answer in `result`, or why there is none. Returns a value if code may settle it.
std::optional<PlainAnswer> Checked(RunState& run, const std::string& context, CallResult* result) {
  DirectCheck check = CheckDirect(run, context, result->text);
  result->attempts = check.readings;
  result->agreeing = std::max(check.agreeing, 1);
  if (check.settled) {
    result->text = std::move(*check.settled);
    return std::nullopt;
  }
  result->status = check.interrupted ? RunStatus::kInterrupted : RunStatus::kPartial;
  result->doubts.push_back(check.doubt);
  if (check.stopped) {
    run.log.Warn("direct_unsettled", Json(check.doubt));
    return std::nullopt;
  }
  return PlainAnswer{
      .text = result->text, .leading = std::move(check.leading), .doubt = std::move(check.doubt)};
}

bool IsKept(const Json& report, std::string_view name) {
  const Json* sections = Find(report, "sections");
  const JsonArray* list = sections ? sections->if_array() : nullptr;
  return list && std::any_of(list->begin(), list->end(), [name](const Json& section) {
           return FindString(section, "name") == name && FindString(section, "outcome") == "kept";
         });
}

}  // namespace

Result<assembly::Assembled> AssembleOverContext(RunState& run, std::string_view layout,
                                                const std::string& context,
                                                std::int64_t reply_tokens) {
  const std::vector<assembly::Section> sections{{.name = "content", .content = context}};
  DOSSIER_ASSIGN_OR_RETURN(
      assembly::Assembled prompt,
      run.prompts.Assemble(layout, run.root,
                           {{"question", run.request.question},
                            {"memory", run.shown_memory.text},
                            {"requirements", RequirementsText(run.request.requirements)}},
                           sections, run.boundary, reply_tokens));
  // The layout permits an empty context, but an existing one must never be left out.
  if (!context.empty() && !IsKept(prompt.report, "content")) {
    return MakeError(ErrorCode::kTooLong, "the context does not fit the model's window");
  }
  return prompt;
}

Result<assembly::Assembled> AssembleDirect(RunState& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ContextText(*run.request.context));
  return AssembleOverContext(run, "direct", text, run.reserve_output());
}

namespace {

// Lets the model correct a whole reply that fails a requirement: sends the same messages, the
// reply, and what is wrong with it. `result` gets the newest text.
Result<model::Reply> AskUntilAsRequired(RunState& run, assembly::Assembled prompt,
                                        CallResult* result) {
  const std::vector<Requirement>& requirements = run.request.requirements;
  std::map<std::string_view, int> mended;  // number of repairs by gate
  for (int round = 0;; ++round) {
    const RootRequest about{
        .purpose = model::Purpose::kDirect, .turn = round + 1, .schema = SchemaOf(requirements)};
    DOSSIER_ASSIGN_OR_RETURN(model::Reply reply, AskRoot(run, prompt, about));
    if (IsCut(reply)) {
      DOSSIER_ASSIGN_OR_RETURN(reply, AskAgain(run, prompt, about, std::move(reply)));
    }
    ++result->turns;
    FoundAnswer answer{.text = std::string(TrimSpace(StripThinking(reply.text).text)),
                       .time_left = run.ledger.time_left(run.closing_stage())};
    const Result<std::string> complaint =
        IsCut(reply) ? std::string() : FirstComplaint(requirements, &answer, run.cancel);
    result->text = std::move(answer.text);
    result->value = std::move(answer.value);
    const auto taken = [&] {
      if (answer.numbers_as_text) WarnOfTexts(run.log);
      return std::move(reply);
    };
    if (complaint && complaint->empty()) return taken();
    const std::string reason = complaint ? *complaint : complaint.error().message;
    if (!complaint || mended[answer.gate]++ >= RepairsOf(answer.gate, run.request.repairs)) {
      MarkNotAsRequired(answer.gate, reason, result);
      return taken();
    }
    run.log.Add("answer.refused", {{"gate", answer.gate}, {"reason", reason}});
    DOSSIER_ASSIGN_OR_RETURN(std::string text,
                             run.prompts.Text("final_refused", {{"reason", reason}}, run.boundary));
    const tokens::Counter& counter = *run.root.counter;
    prompt.tokens += counter.CountText(reply.text).upper() + counter.CountText(text).upper();
    prompt.messages.turns.push_back(model::AssistantTurn(reply));
    prompt.messages.turns.push_back(
        {.role = assembly::Role::kUser, .blocks = {{.text = std::move(text)}}});
  }
}

}  // namespace

Result<DirectAnswer> AnswerDirectly(RunState& run) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string context, ContextText(*run.request.context));
  DOSSIER_ASSIGN_OR_RETURN(assembly::Assembled prompt,
                           AssembleOverContext(run, "direct", context, run.reserve_output()));
  CallResult result{.status = RunStatus::kFinal, .source = Source::kDirect};
  DOSSIER_ASSIGN_OR_RETURN(const model::Reply reply,
                           AskUntilAsRequired(run, std::move(prompt), &result));
  if (IsCut(reply)) {
    result.status = RunStatus::kPartial;
    const bool some = !result.text.empty();
    std::string said =
        WarnOfCut(run, reply, some ? "{}; what arrived of the reply is the answer" : "{}");
    if (some) {
      result.doubts.push_back(std::move(said));
    } else {
      result.error = Error{ErrorCode::kFailed, std::move(said)};
    }
  }
  if (result.text.empty()) {
    result.status = RunStatus::kNone;
    result.source = Source::kNone;
    return DirectAnswer{.result = std::move(result)};
  }
  std::optional<PlainAnswer> unsettled;
  const bool checked = run.request.requirements.empty() && ChecksDirect(run, result.text);
  if (!IsCut(reply) && checked) unsettled = Checked(run, context, &result);
  run.log.Add("answer.accepted",
              {{"source", SourceName(result.source)}, {"status", RunStatusName(result.status)}});
  return DirectAnswer{.result = std::move(result), .unsettled = std::move(unsettled)};
}

std::vector<TextDocument> ContextTexts(const RunState& run, Documents which) {
  const ContextSet& context = *run.request.context;
  std::vector<TextDocument> documents;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    if (which == Documents::kText && inspect::HasRecords(document.description)) continue;
    if (const auto stored = context.Stored(i)) {
      documents.push_back({document.name, (*stored)->map.bytes(), document.description});
    }
  }
  return documents;
}

WordRarity MeasureContextWords(const RunState& run, std::string_view text, Documents which) {
  return MeasureWords(ContextTexts(run, which), text, run.cancel);
}

ShownPassages FindPassagesFor(const RunState& run) {
  const ContextSet& context = *run.request.context;
  if (context.bytes() > kSearchLimit) return {};
  std::vector<TextDocument> documents;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    const ContextDocument& document = context.documents()[i];
    if (inspect::HasRecords(document.description)) continue;  // code searches there
    const auto stored = context.Stored(i);
    if (!stored) return {};
    documents.push_back({document.name, (*stored)->map.bytes(), document.description});
    places.push_back(i);
  }
  ShownPassages shown;
  for (Passage& passage :
       FindPassages(documents, run.request.question, kPassageChars, run.cancel)) {
    const TextDocument& document = documents[passage.document];
    const auto line = std::ranges::count(document.text.substr(0, passage.at), '\n') + 1;
    shown.titles.push_back(fmt::format("{}, line {}", document.name, line));
    shown.text += fmt::format("[{}]\n{}\n\n", shown.titles.back(),
                              TrimSpace(document.text.substr(passage.at, passage.length)));
    passage.document = places[passage.document];
    shown.places.push_back(passage);
  }
  return shown;
}

namespace {

// Larger contexts are far above every threshold, so an estimate is enough and asks no server.
constexpr std::uint64_t kCountLimit = 256u << 10;  // bytes

// Returns the size of the plain call: its prompt is assembled and counted if that may matter.
Result<ContextTokens> DirectTokens(RunState& run) {
  const ContextSet& context = *run.request.context;
  if (context.bytes() <= kCountLimit) {
    const auto prompt = AssembleDirect(run);
    if (prompt) return ContextTokens{prompt->tokens, prompt->tokens, prompt->tokens_exact};
    if (prompt.error().code != ErrorCode::kTooLong) return tl::unexpected(prompt.error());
  }
  const tokens::Counter& counter = *run.root.counter;
  DOSSIER_ASSIGN_OR_RETURN(ContextTokens size, CountContext(context, counter, *run.options.clock));
  const tokens::Count question = counter.CountText(run.request.question);
  size.tokens += question.tokens;
  size.most += question.upper();
  return size;
}

bool HasRecords(const RunState& run) {
  const auto& documents = run.request.context->documents();
  return std::any_of(documents.begin(), documents.end(), [](const ContextDocument& document) {
    return inspect::HasRecords(document.description);
  });
}

std::int64_t Threshold(const RunState& run) {
  const auto& capability = run.root.entry.capability;
  const double room = 0.6 * static_cast<double>(capability.window - run.reserve_output());
  return std::min(run.policy.direct_tokens, static_cast<std::int64_t>(room));
}

}  // namespace

Result<ModeDecision> DecideMode(RunState& run) {
  ModeDecision decision;
  const auto& documents = run.request.context->documents();
  const auto file = std::ranges::find_if(
      documents, [](const ContextDocument& document) { return document.database.has_value(); });
  const bool needs_code = file != documents.end();
  if (needs_code && run.request.mode == Mode::kDirect) {
    return MakeError(ErrorCode::kTooLong,
                     "{} is an SQLite file, whose rows only code can read: use --mode recursive",
                     file->path);
  }
  DOSSIER_ASSIGN_OR_RETURN(decision.size, DirectTokens(run));
  decision.threshold = Threshold(run);
  const auto& capability = run.root.entry.capability;
  const std::int64_t fits = capability.window - run.reserve_output();
  if (run.request.out && run.request.mode == Mode::kDirect) {
    return MakeError(ErrorCode::kUsage,
                     "--out-dir: only code writes files, and --mode direct runs none");
  }
  switch (run.request.mode) {
    case Mode::kDirect:
      if (decision.size.most > fits) {
        return MakeError(ErrorCode::kTooLong,
                         "the context needs {} tokens and the model takes {}: use --mode recursive",
                         GroupDigits(static_cast<std::uint64_t>(decision.size.most)),
                         GroupDigits(static_cast<std::uint64_t>(fits)));
      }
      decision.mode = Mode::kDirect;
      decision.reason = "asked for";
      break;
    case Mode::kRecursive:
      decision.mode = Mode::kRecursive;
      decision.reason = "asked for";
      break;
    case Mode::kAuto:
      decision.mode = Mode::kDirect;
      decision.reason = "fits one call";
      if (run.request.out || needs_code) {
        decision.mode = Mode::kRecursive;
        decision.reason = run.request.out ? "code writes files" : "code reads an SQLite file";
      } else if (!run.request.session.name.empty()) {
        decision.mode = Mode::kRecursive;
        decision.reason = "a session is about names of code";
      } else if (!run.request.tools.empty()) {
        decision.mode = Mode::kRecursive;
        decision.reason = "only code can call tools";
      } else if (!run.request.media.empty()) {
        decision.mode = Mode::kRecursive;
        decision.reason = "only code can hand images to a model";
      } else if (run.request.context->bytes() == 0) {
        decision.reason = "no context";
      } else if (decision.size.most > decision.threshold) {
        decision.mode = Mode::kRecursive;
        decision.reason = "too long for one call";
      } else if (run.policy.reads_records_by_code && HasRecords(run)) {
        decision.mode = Mode::kRecursive;
        decision.reason = "a small model reads records by code";
      }
      break;
  }
  return decision;
}

}  // namespace dossier::ask
