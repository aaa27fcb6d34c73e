// Checks an answer before it may end a call: the evidence so far, the gates, and the requirements
// of the caller.

#include <algorithm>
#include <set>

#include "ask/claims/shown_texts.h"
#include "ask/loop/call_loop.h"
#include "ask/loop/direct.h"
#include "ask/loop/root_request.h"
#include "ask/policy/counted_text.h"
#include "ask/reply/citations.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

// Minimum score of a reading that contradicts a number from code. In tests with pairs of passages,
// 4 of 22 right ones were between this and the score that is trusted alone (docs/small-models.md).
constexpr double kLikely = 0.5;
constexpr std::uint64_t kMeasured = 32u << 20;  // bytes of a context whose words are examined

}  // namespace

// The kind of answer the question asks for, judged by the model, which reads every language.
AnswerKind CallLoop::WantedKind() {
  if (wanted_) return *wanted_;
  wanted_ = AnswerKind::kUnknown;
  if (const std::string kind = AskKindOfAnswer(run_, turn_); !kind.empty()) {
    wanted_ = kind == "number" ? AnswerKind::kNumber : AnswerKind::kOther;
  }
  return *wanted_;
}

SubcallTally CallLoop::TakeTally() {
  if (!bench_) return {};
  SubcallTally tally = bench_->subcalls().Take();
  untold_.Add(tally);
  all_subcalls_.Add(tally);
  return tally;
}

// Returns true if the host saw reads of the context: code that only names a variable, or a sub-call
// without data, has read nothing. Without a context the worker's account counts.
bool CallLoop::HasReadContext() {
  if (run_.request.context->bytes() == 0) return evidence_.touched_data();
  if (!bench_) return false;
  // Variables of earlier questions hold what those read, and the worker knows which code uses them.
  if (bench_->read_before()) return evidence_.touched_data();
  const Coverage::Shares shares = bench_->coverage().Read();
  return shares.by_models > 0 || shares.by_code > 0;
}

namespace {

std::set<std::string, std::less<>> FieldNames(const ContextSet& context) {
  std::set<std::string, std::less<>> fields;
  for (const ContextDocument& document : context.documents()) {
    for (const inspect::Field& field : document.description.fields) {
      fields.insert(field.path.begin(), field.path.end());
    }
  }
  return fields;
}

}  // namespace

// Returns a value of the data that the question names and this attempt ignores.
std::string CallLoop::ValueLeftOut(std::string_view answer) {
  if (evidence_.attempt_code().empty()) return {};
  // Models that have read rows may have chosen them without a word of the question in the code.
  const bool large = run_.policy.checked != ModelPolicy::Checked::kEveryWord;
  if (large && (!HasNumber(answer) || all_subcalls_.made > 0)) return {};
  if (!named_values_) {
    const ContextSet& context = *run_.request.context;
    std::vector<std::string_view> texts;
    for (std::size_t i = 0; i < context.documents().size(); ++i) {
      const inspect::Description& description = context.documents()[i].description;
      if (!inspect::HasRecords(description)) continue;
      const std::uint64_t rows = description.records ? description.records->records : 0;
      if (large && description.counts.lines > 2 * rows) return {};  // a row is no line
      if (const auto stored = context.Stored(i)) texts.push_back((*stored)->map.bytes());
    }
    named_values_.emplace(std::move(texts), FieldNames(context), run_.request.question);
  }
  std::vector<std::string> seen = evidence_.shown();
  seen.emplace_back(answer);
  const auto look = large ? NamedValues::Look::kCells : NamedValues::Look::kEverywhere;
  return named_values_->LeftOut(evidence_.attempt_code(), seen, look);
}

// Returns why the answer seems to come from another document than one that the question names: it
// stands there, or nobody has read the one that is named, which does not contain its words.
std::string CallLoop::UnreadDocument(std::string_view answer) {
  if (run_.request.context->bytes() > kMeasured) return {};
  const std::string& question = run_.request.question;
  const std::vector<TextDocument> documents = ContextTexts(run_, Documents::kAll);
  const auto met = [&](const TextDocument& document, std::string_view line) {
    const auto has = [](std::string_view part) {
      return [part](const std::string& text) { return text.find(part) != text.npos; };
    };
    return std::ranges::any_of(evidence_.whole_outputs(), has(line)) ||
           std::ranges::any_of(evidence_.attempt_code(), has(document.name));
  };
  std::string elsewhere = FromOtherDocument(answer, question, documents, met);
  const bool small = run_.policy.checked == ModelPolicy::Checked::kEveryWord;
  if (!elsewhere.empty() || !small || !bench_) return elsewhere;
  const std::vector<std::string_view> said = WordsBesides(answer, question);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string_view text = documents[i].text;
    if (!NamesDocument(question, documents[i].name) || bench_->coverage().Touched(i)) continue;
    const auto holds = [text](std::string_view word) { return text.find(word) != text.npos; };
    if (text.empty() || std::ranges::all_of(said, holds)) continue;
    return fmt::format("The question names the document {}, and no code has read it.",
                       documents[i].name);
  }
  return {};
}

std::vector<std::string_view> CallLoop::StoredTexts() const {
  constexpr std::size_t kSearched = 64u << 20;  // bytes per document
  std::vector<std::string_view> texts;
  const auto& documents = run_.request.context->documents();
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (const auto stored = run_.request.context->Stored(i)) {
      texts.push_back((*stored)->map.bytes().substr(0, kSearched));
    }
  }
  return texts;
}

// Detects that a small model asked how many mules came counted the mentions of "mules" in the text.
std::string CallLoop::CountedMentions(std::string_view answer) const {
  if (!HasNumber(answer) || evidence_.searched().empty()) return {};
  const std::vector<std::string_view> texts = StoredTexts();
  for (const std::string& text : evidence_.searched()) {
    if (IsCountOf(answer, text, texts) && reader_.DeniesCount(text)) return text;
  }
  return {};
}

// Returns true if `word` (folded) is in the data, or if the context is too large to search.
bool CallLoop::DataHold(std::string_view word) const {
  if (run_.request.context->bytes() > kMeasured) return true;
  return std::ranges::any_of(StoredTexts(), [word](std::string_view text) {
    return Folded(text).find(word) != std::string::npos;
  });
}

bool CallLoop::ShowValuesOfData(std::span<const std::string> outputs) const {
  const std::vector<std::string_view> texts = StoredTexts();
  return ShowsValues(outputs, run_.request.question, FieldNames(*run_.request.context),
                     [&](std::string_view word) {
                       return std::ranges::any_of(texts, [word](std::string_view text) {
                         return text.find(word) != text.npos;
                       });
                     });
}

GateSituation CallLoop::Situation(std::string_view answer) {
  using Explored = GateSituation::Explored;
  const bool read = HasReadContext();
  GateSituation situation{
      .last_chance =
          LastChance() ? GateSituation::LastChance::kYes : GateSituation::LastChance::kNo,
      .explored = read ? Explored::kYes : Explored::kNo,
      .shown = &evidence_.shown(),
      .outputs = &evidence_.outputs(),
      .unmatched = &evidence_.unmatched(),
      .code = &evidence_.code(),
      .passages = metadata_.passages.text,
      .searched = &evidence_.searched(),
      .day = evidence_.UnnamedDay(),
      // A schema states the kind better than the question does.
      .wanted = SchemaOf(run_.request.requirements) ? AnswerKind::kUnknown : WantedKind()};
  if (reader_.found_nothing()) {
    situation.passages_read = GateSituation::Passages::kStateNothing;
  } else if (!reader_.readings().empty()) {
    situation.passages_read = GateSituation::Passages::kUnclear;
    for (const Reading& reading : reader_.readings()) {
      situation.readings.push_back(reading.answer);
      if (reading.score >= kLikely && HasNumber(reading.answer)) {
        situation.likely_numbers.push_back(reading.answer);
      }
    }
  }
  situation.shows_values = [this](std::span<const std::string> outputs) {
    return ShowValuesOfData(outputs);
  };
  situation.whole_outputs = &evidence_.whole_outputs();
  situation.in_data = [this](std::string_view word) { return DataHold(word); };
  situation.description = metadata_.hint;
  if (bench_) situation.read = bench_->coverage().Read();
  if (situation.read.by_any < kAllRead && run_.request.context->bytes() <= kMeasured) {
    all_words_ = MeasureContextWords(run_, fmt::format("{}\n{}", run_.request.question, answer),
                                     Documents::kAll);
    situation.all_words = &all_words_;
  }
  if (evidence_.touched_data()) situation.sizes = metadata_.sizes;
  if (evidence_.nothing_proved()) situation.nothing = sandbox::BlockResult::Nothing::kProved;
  situation.gaps = evidence_.LeftOut(answer, situation.sizes);
  // For an answer in running text, the rarity of its words tells what it is about.
  if ((run_.policy.checked == ModelPolicy::Checked::kEveryWord || !read) &&
      !metadata_.passages.text.empty()) {
    rarity_ = MeasureContextWords(run_, fmt::format("{}\n{}\n{}", run_.request.question, answer,
                                                    Join(evidence_.searched(), "\n")));
    situation.rarity = &rarity_;
  }
  TakeTally();
  if (all_subcalls_.unsure_labels > 0) situation.labels = GateSituation::Labels::kUnsure;
  situation.failed_subcalls = untold_.LostText();
  if (situation.failed_subcalls.empty() && newest_block_.made > 0 &&
      newest_block_.failed() == newest_block_.made) {
    situation.failed_subcalls = newest_block_.ToText();  // its output is based on nothing
  }
  situation.left_out = ValueLeftOut(answer);
  situation.unread = UnreadDocument(answer);
  if (situation.passages_read != GateSituation::Passages::kNotRead) {
    situation.mentions = CountedMentions(answer);
  }
  const std::string& says = evidence_.says();
  situation.explained = all_subcalls_.made == 0 || (!says.empty() && DataHold(says));
  if (bench_) situation.error_texts = bench_->subcalls().error_texts();
  return situation;
}

// Returns a refusal if `offer` fails a requirement of the caller and the model may still correct
// it. After the last repair the offer is marked instead.
std::optional<Refusal> CallLoop::Require(Offer* offer, Repairs repairs) {
  if (run_.request.requirements.empty()) return std::nullopt;
  FoundAnswer answer{.text = offer->text,
                     .value = offer->value,
                     .printed = evidence_.shown(),
                     .work = {.answered = all_subcalls_.made - all_subcalls_.failed(),
                              .lost = all_subcalls_.lost()},
                     .time_left = run_.ledger.time_left(run_.closing_stage())};
  const auto complaint = FirstComplaint(run_.request.requirements, &answer, run_.cancel);
  if (complaint && complaint->empty()) {
    const bool same = offer->value == answer.value;  // code handed it in unchanged
    offer->numbers_as_text = answer.numbers_as_text || (same && offer->numbers_as_text);
    offer->text = std::move(answer.text);
    offer->value = std::move(answer.value);
    return std::nullopt;
  }
  if (complaint && repairs == Repairs::kAsAllowed &&
      repairs_[answer.gate] < RepairsOf(answer.gate, run_.request.repairs)) {
    ++repairs_[answer.gate];
    return Refusal{.gate = std::string(answer.gate), .reason = *complaint};
  }
  offer->failed_check = answer.gate;
  offer->doubt = complaint ? *complaint : complaint.error().message;
  return std::nullopt;
}

CallLoop::TurnEnd CallLoop::Decide(Offer offer, Feedback* feedback) {
  run_.log.Add("answer.offered",
               {{"source", SourceName(offer.source)}, {"value", run_.log.Body(offer.text)}});
  if (offer.source == Source::kPartial) return {.accepted = std::move(offer)};
  const std::string claims = WithoutReferences(
      ClaimsOf({.text = offer.text, .value = offer.value}, run_.request.requirements),
      *run_.request.context);
  GateSituation situation = Situation(claims);
  situation.quoted = offer.quoted;
  auto refusal = offer.doubt.empty() ? gates_.Check(claims, situation) : std::nullopt;
  if (!refusal) {
    auto doubt = offer.doubt.empty() ? gates_.Doubt(claims, situation) : std::nullopt;
    if (doubt) {
      offer.failed_check = std::move(doubt->gate);
      offer.doubt = std::move(doubt->reason);
    }
    refusal = Require(&offer, LastChance() ? Repairs::kNoMore : Repairs::kAsAllowed);
    if (!refusal) return {.accepted = std::move(offer)};
  }
  run_.log.Add("answer.refused", {{"gate", refusal->gate}, {"reason", refusal->reason}});
  draft_ = std::move(offer);
  draft_->source = Source::kDraft;
  draft_->failed_check = refusal->gate;
  draft_->doubt = WithoutAdvice(refusal->reason);
  ++failed_turns_;
  if (auto text =
          run_.prompts.Text("final_refused", {{"reason", refusal->reason}}, run_.boundary)) {
    feedback->messages.emplace_back(TrimSpace(*text));
  }
  return Continue(std::move(*feedback));
}

}  // namespace dossier::ask
