#include "ask/claims/proof.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "ask/claims/numbers.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kWidest = 64u << 10;  // bytes cited; a wider range contains any number
constexpr std::size_t kMostTold = 20;         // problems in one complaint
constexpr std::size_t kMostShown = 100;       // code points of a quote in a complaint

std::string ProblemOf(const Citation& citation) {
  using Status = Citation::Status;
  const std::string where = citation.found.empty() ? "" : " (it is at " + citation.found + ")";
  switch (citation.status) {
    case Status::kVerified:
    case Status::kInRange:
      return {};
    case Status::kElsewhere:
      return fmt::format("it does not stand at {}{}", citation.ref, where);
    case Status::kNotFound:
      return "it stands nowhere in the context, letter for letter";
    case Status::kOutOfRange:
      return fmt::format("{} names no place of the context", citation.ref);
    case Status::kAmbiguous:
      return fmt::format("it stands more than once at {}: quote more, or name fewer lines",
                         citation.ref);
    case Status::kReindented:
      return fmt::format("its lines are not indented as at {}", citation.ref);
  }
  return {};
}

Proof ProofOf(const Citation& citation, const ContextSet& context) {
  Proof proof{.kind = citation.quote.empty() ? Proof::Kind::kReference : Proof::Kind::kQuote,
              .claim = citation.quote.empty() ? citation.ref : citation.quote,
              .ref = citation.ref,
              .problem = ProblemOf(citation)};
  if (!proof.problem.empty()) return proof;
  proof.by = citation.ref.empty() ? Proof::By::kFound : Proof::By::kCited;
  if (const auto& place = citation.place ? citation.place : citation.cited) {
    proof.document = context.documents()[place->document].name;
    proof.from = place->from;
    proof.to = place->to;
  }
  return proof;
}

// Replaces references, quotes and list numbers of the answer by as many blanks.
std::string Unquoted(std::string_view answer, std::span<const Citation> citations) {
  std::string text(answer);
  const auto blank = [&](std::size_t from, std::size_t to) {
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(from),
              text.begin() + static_cast<std::ptrdiff_t>(to), ' ');
  };
  for (const Citation& citation : citations) {
    blank(citation.quote_at, citation.quote_end);
    blank(citation.ref_at, citation.ref_end);
  }
  static const re2::RE2 kItem(R"((?m)^[ \t]*(\d{1,3}[.)])[ \t])");
  re2::StringPiece found[2];
  for (std::size_t at = 0; kItem.Match(text, at, text.size(), re2::RE2::UNANCHORED, found, 2);) {
    const auto from = static_cast<std::size_t>(found[1].data() - text.data());
    at = from + found[1].size();
    blank(from, at);
  }
  return text;
}

// Returns where `number`, or the number that it rounds, occurs in a text.
std::optional<Number> FindNumber(const Number& number, std::string_view text) {
  NumberReader reader(text);
  while (auto other = reader.Next()) {
    if (other->Key() == number.Key()) return other;
    if (other->negative == number.negative && !other->fraction.empty() &&
        IsRoundingOf(number, *other)) {
      return other;
    }
  }
  return std::nullopt;
}

class NumberProver {
 public:
  NumberProver(const ProofInput& input, std::span<const Citation> citations)
      : input_(input), citations_(citations) {}

  Proof Prove(const Number& number, std::string_view written, std::size_t paragraph) const {
    Proof proof{.kind = Proof::Kind::kNumber, .claim = std::string(written)};
    for (const Citation& citation : citations_) {
      if (citation.paragraph == paragraph && IsCited(number, citation, &proof)) return proof;
    }
    const bool printed = std::ranges::any_of(input_.printed, [&](const std::string& text) {
      return FindNumber(number, text).has_value();
    });
    if (printed) {
      proof.by = Proof::By::kPrinted;
    } else if (FindNumber(number, input_.question)) {
      proof.by = Proof::By::kAsked;
    } else {
      proof.problem = "it stands in no lines that are cited beside it, and no code has shown it";
    }
    return proof;
  }

 private:
  // A quote that does not hold proves nothing.
  bool IsCited(const Number& number, const Citation& citation, Proof* proof) const {
    using Status = Citation::Status;
    const bool holds = citation.status == Status::kVerified || citation.status == Status::kInRange;
    const auto& place = citation.cited ? citation.cited : citation.place;
    if (!holds || !place || place->to - place->from > kWidest) return false;
    const auto stored = input_.context->Stored(place->document);
    if (!stored) return false;
    const std::string_view text =
        (*stored)->map.bytes().substr(place->from, place->to - place->from);
    const auto found = FindNumber(number, text);
    if (!found) return false;
    proof->by = Proof::By::kCited;
    proof->ref = citation.ref;
    proof->document = input_.context->documents()[place->document].name;
    proof->from = place->from + found->begin;
    proof->to = place->from + found->end;
    return true;
  }

  const ProofInput& input_;
  const std::span<const Citation> citations_;
};

}  // namespace

JsonObject Proof::ToJson() const {
  constexpr std::string_view kKinds[] = {"quote", "number", "reference"};
  constexpr std::string_view kBy[] = {"missing", "cited", "found", "printed", "asked"};
  JsonObject json{{"kind", kKinds[static_cast<std::size_t>(kind)]},
                  {"claim", claim},
                  {"status", kBy[static_cast<std::size_t>(by)]},
                  {"ref", ref.empty() ? Json(nullptr) : Json(ref)}};
  if (!document.empty()) {
    json["document"] = document;
    json["bytes"] = JsonArray{from, to};
  }
  if (!problem.empty()) json["problem"] = problem;
  return json;
}

std::vector<Proof> FindEvidence(const ProofInput& input, const CancelToken& cancel) {
  const std::vector<Citation> citations =
      CheckCitations(input.answer, *input.context, cancel, Matching::kExact);
  std::vector<std::pair<std::size_t, Proof>> found;  // by position in the answer
  for (const Citation& citation : citations) {
    found.emplace_back(citation.quote.empty() ? citation.ref_at : citation.quote_at,
                       ProofOf(citation, *input.context));
  }
  const std::string text = Unquoted(input.answer, citations);
  const NumberProver prover(input, citations);
  const std::vector<std::size_t> paragraphs = ParagraphStarts(input.answer);
  NumberReader reader(text);
  while (const auto number = reader.Next()) {
    const auto paragraph = static_cast<std::size_t>(
        std::ranges::upper_bound(paragraphs, number->begin) - paragraphs.begin() - 1);
    const std::string_view written =
        std::string_view(text).substr(number->begin, number->end - number->begin);
    found.emplace_back(number->begin, prover.Prove(*number, written, paragraph));
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, Proof>::first);
  std::vector<Proof> proofs;
  for (auto& [at, proof] : found) proofs.push_back(std::move(proof));
  return proofs;
}

std::string ComplaintOf(std::span<const Proof> proofs, Demand demand) {
  std::string lines;
  std::size_t wrong = 0;
  for (const Proof& proof : proofs) {
    const bool counts = demand == Demand::kAll || proof.kind != Proof::Kind::kNumber;
    if (proof.problem.empty() || !counts || ++wrong > kMostTold) continue;
    const bool quote = proof.kind == Proof::Kind::kQuote;
    const std::string_view shown = utf8::Prefix(proof.claim, kMostShown);
    lines += fmt::format("\n- {0}{1}{2}{0}: {3}", quote ? "\"" : "", shown,
                         shown.size() < proof.claim.size() ? "…" : "", proof.problem);
  }
  if (wrong == 0) return {};
  if (wrong > kMostTold) lines += fmt::format("\n- and {} more", wrong - kMostTold);
  return "It has no evidence for what it says:" + lines;
}

Requirement RequireEvidence(Demand demand, std::string question,
                            std::shared_ptr<const ContextSet> context) {
  std::string told =
      "Each quote is in double quotes, letter for letter, and right behind it stands where it is, "
      "as [NAME:12-30] with the lines of the document NAME.";
  if (demand == Demand::kAll) {
    told +=
        " Each number stands in lines that are cited so beside it, or in what code has printed.";
  }
  return {.told = std::move(told),
          .gate = kCitationsGate,
          .complaint = [demand, question = std::move(question), context = std::move(context)](
                           FoundAnswer* answer, const CancelToken& cancel) -> Result<std::string> {
            const auto proofs = FindEvidence({.answer = answer->text,
                                              .question = question,
                                              .context = context.get(),
                                              .printed = answer->printed},
                                             cancel);
            return ComplaintOf(proofs, demand);
          }};
}

Requirement RequireComputedNumbers(std::string question) {
  return {
      .told = "Each number in it was printed by your code.",
      .complaint = [question = std::move(question)](FoundAnswer* answer,
                                                    const CancelToken&) -> Result<std::string> {
        std::string lines;
        NumberReader reader(answer->text);
        while (const auto number = reader.Next()) {
          const bool shown = FindNumber(*number, question) ||
                             std::ranges::any_of(answer->printed, [&](const std::string& text) {
                               return FindNumber(*number, text).has_value();
                             });
          if (shown) continue;
          lines += fmt::format(
              "{}{}", lines.empty() ? "" : ", ",
              std::string_view(answer->text).substr(number->begin, number->end - number->begin));
        }
        if (lines.empty()) return lines;
        return fmt::format("No code has shown: {}. Compute and print it.", lines);
      }};
}

}  // namespace dossier::ask
