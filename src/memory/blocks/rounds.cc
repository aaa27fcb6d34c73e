#include "memory/blocks/rounds.h"

#include <algorithm>
#include <span>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::int64_t kMostQuoted = 2000;  // code points of a reply in feedback

// The reason why a reply is no answer; `offset` is in the reply.
struct Objection {
  std::string reason;
  std::string detail;
  std::size_t offset = 0;
};

// Returns at most kMostQuoted code points of `reply` around `offset`.
std::string Quote(std::string_view reply, std::size_t offset) {
  constexpr auto kHalf = static_cast<std::uint64_t>(kMostQuoted / 2 - 1);
  offset = utf8::FloorBoundary(reply, std::min(offset, reply.size()));
  const std::string_view before = utf8::Suffix(reply.substr(0, offset), kHalf);
  const std::string_view after = utf8::Prefix(
      reply.substr(offset), static_cast<std::uint64_t>(kMostQuoted) - 2 - utf8::CodePoints(before));
  return fmt::format("{}{}{}{}", before.size() < offset ? "…" : "", before, after,
                     after.size() < reply.size() - offset ? "…" : "");
}

std::string Feedback(const Objection& objection, std::string_view reply) {
  std::string text = fmt::format("Your last reply could not be used ({}): {}.", objection.reason,
                                 objection.detail);
  if (!TrimSpace(reply).empty()) {
    text += "\nYou wrote:\n" + Harmless(Quote(reply, objection.offset));
  }
  return text;
}

class Rounds {
 public:
  Rounds(const RoundLimits& limits, const AskFn& ask, const ValidateFn& validate,
         const ApplyFn& apply)
      : limits_(limits), ask_(ask), validate_(validate), apply_(apply) {}

  Result<RoundsOutcome> Run() && {
    if (limits_.first == FirstRound::kMemoryFirst) DOSSIER_RETURN_IF_ERROR(AskForMemory());
    while (!done_) DOSSIER_RETURN_IF_ERROR(AskForAnswer());
    return std::move(outcome_);
  }

 private:
  Result<std::string> Call(Ask::Kind kind) {
    ++outcome_.calls;
    return ask_({.kind = kind, .results = Join(results_, "\n"), .feedback = feedback_});
  }

  void Note(Ask::Kind kind, std::string outcome, std::string detail) {
    outcome_.rounds.push_back({kind, std::move(outcome), std::move(detail)});
  }

  // Results of reads stay for later rounds; the oldest are dropped to make room.
  Status ApplyBlock(const ParsedReply& reply) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, apply_(reply));
    if (text.empty() || std::ranges::find(results_, text) != results_.end()) return {};
    results_.push_back(CutText(text, limits_.results_max_chars));
    const auto chars = [this] {
      std::int64_t sum = 0;
      for (const std::string& one : results_) {
        sum += static_cast<std::int64_t>(utf8::CodePoints(one)) + 1;
      }
      return sum;
    };
    while (results_.size() > 1 && chars() > limits_.results_max_chars) {
      results_.erase(results_.begin());
    }
    return {};
  }

  // Asks for memory blocks only, until one reads nothing.
  Status AskForMemory() {
    constexpr Ask::Kind kKind = Ask::Kind::kMemoryOnly;
    bool more = true;
    while (more && outcome_.reads_used < limits_.read_rounds) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string text, Call(kKind));
      ++outcome_.reads_used;
      ParsedReply reply = ParseReply(text);
      feedback_.clear();
      if (reply.fault) {
        const Objection fault{std::string(FaultName(reply.fault->kind)), reply.fault->text,
                              reply.fault->offset};
        Note(kKind, fault.reason, fault.detail);
        feedback_ = Feedback(fault, text);
        continue;
      }
      more = reply.block && reply.block->Reads();
      if (reply.block && !reply.block->operations.empty())
        DOSSIER_RETURN_IF_ERROR(ApplyBlock(reply));
      Note(kKind, "memory", "");
    }
    feedback_.clear();
    return {};
  }

  Status AskForAnswer() {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, Call(Ask::Kind::kAnswer));
    ParsedReply reply = ParseReply(text);
    const bool no_payload = TrimSpace(reply.payload).empty();
    if (no_payload && reply.block && reply.block->Reads() && !reply.block->Writes()) {
      if (outcome_.reads_used < limits_.read_rounds) {
        ++outcome_.reads_used;
        feedback_.clear();
        Note(Ask::Kind::kAnswer, "read", "");
        return ApplyBlock(reply);
      }
      Refuse({"reads_used_up",
              "no further reads are answered; write the answer now, from what you have"},
             text);
      return {};
    }
    if (const std::optional<Objection> objection = ObjectionTo(reply)) {
      Refuse(*objection, text);
      return {};
    }
    DOSSIER_RETURN_IF_ERROR(ApplyBlock(reply));
    Note(Ask::Kind::kAnswer, "accepted", "");
    outcome_.payload = reply.payload;
    outcome_.reply = std::move(reply);
    done_ = true;
    return {};
  }

  std::optional<Objection> ObjectionTo(const ParsedReply& reply) const {
    if (reply.fault) {
      return Objection{std::string(FaultName(reply.fault->kind)), reply.fault->text,
                       reply.fault->offset};
    }
    if (!reply.block && limits_.block == BlockNeed::kRequired) {
      return Objection{"missing_block",
                       "a <memory_update> block is required; write {} in it if there is nothing"};
    }
    if (TrimSpace(reply.payload).empty()) {
      return Objection{"missing_payload", "there is no answer beside the memory block"};
    }
    if (const Status valid = validate_(reply.payload); !valid) {
      return Objection{"refused", valid.error().message};
    }
    return std::nullopt;
  }

  // Counts a bad attempt; after the last one the call has failed.
  void Refuse(const Objection& objection, std::string_view text) {
    Note(Ask::Kind::kAnswer, objection.reason, objection.detail);
    if (++outcome_.attempts_used < limits_.attempts) {
      feedback_ = Feedback(objection, text);
      return;
    }
    outcome_.failure = RoundsFailure{objection.reason, objection.detail, std::string(text)};
    done_ = true;
  }

  const RoundLimits& limits_;
  const AskFn& ask_;
  const ValidateFn& validate_;
  const ApplyFn& apply_;
  std::vector<std::string> results_;
  std::string feedback_;
  bool done_ = false;
  RoundsOutcome outcome_;
};

}  // namespace

Result<RoundsOutcome> RunRounds(const RoundLimits& limits, const AskFn& ask,
                                const ValidateFn& validate, const ApplyFn& apply) {
  return Rounds(limits, ask, validate, apply).Run();
}

namespace {

constexpr std::size_t kMostHits = 10;
constexpr std::int64_t kArchivalChars = 300;
constexpr std::int64_t kRecallChars = 200;
constexpr std::int64_t kRecordChars = 8000;

// Cuts a text and indents its further lines with `indent`.
std::string Shown(std::string_view text, std::int64_t code_points, std::string_view indent) {
  return ReplaceAll(Harmless(CutText(text, code_points)), "\n", "\n" + std::string(indent));
}

std::string ArchivalLines(std::string_view title, std::span<const Record> records,
                          std::int64_t code_points) {
  std::string text = fmt::format("**{}:**\n", title);
  if (records.empty()) text += "  (nothing found)\n";
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    text += fmt::format("  [{}] {}\n      Id: {}", i + 1, Shown(record.text, code_points, "      "),
                        record.id);
    if (!record.tags.empty()) text += "  Tags: " + Harmless(Join(record.tags, ", "));
    text += '\n';
  }
  return text;
}

std::string RecallLines(std::span<const Record> events) {
  std::string text = "**Recall Search Results:**\n";
  if (events.empty()) text += "  (nothing found)\n";
  for (std::size_t i = 0; i < events.size(); ++i) {
    text +=
        fmt::format("  [{}] ({}) {}\n      Time: {}\n", i + 1, Harmless(events[i].kind),
                    Shown(events[i].text, kRecallChars, "      "), FormatMicrosTime(events[i].at));
  }
  return text;
}

std::span<const Record> Best(const std::vector<Record>& hits) {
  return std::span(hits).first(std::min(hits.size(), kMostHits));
}

}  // namespace

std::string Harmless(std::string_view text) {
  if (text.find("memory_") == std::string_view::npos) return std::string(text);
  return ReplaceAll(ReplaceAll(text, "</memory_", "<\\/memory_"), "<memory_", "<\\memory_");
}

std::string CutText(std::string_view text, std::int64_t code_points) {
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(code_points, 0));
  // A code point has at most four bytes, so most texts need no counting.
  if (text.size() <= most || utf8::CodePoints(text) <= most) return std::string(text);
  if (most == 0) return {};
  return std::string(utf8::Prefix(text, most - 1)) + "…";
}

std::string ResultsText(const ReadResults& results) {
  std::string text = "<memory_results>\n";
  if (results.core) {
    text += "**Core Memory Values:**\n";
    for (const auto& [key, value] : *results.core) {
      text += fmt::format("  - {}: {}\n", Harmless(key),
                          value ? Shown(*value, kRecordChars, "    ") : "(not found)");
    }
  }
  if (results.records) text += ArchivalLines("Archival Records", *results.records, kRecordChars);
  if (results.archival) {
    text += ArchivalLines("Archival Search Results", Best(*results.archival), kArchivalChars);
  }
  if (results.recall) text += RecallLines(Best(*results.recall));
  if (!results.errors.empty()) text += "**Errors:**\n";
  for (const std::string& error : results.errors) text += "  - " + Harmless(error) + "\n";
  return text + "</memory_results>";
}

}  // namespace dossier::memory
