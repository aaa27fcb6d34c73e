// needle: one sentence in a long text, at forty depths, with variants that a keyword search misses.

#include <re2/re2.h>

#include <algorithm>

#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/tasks/prose.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::int64_t kDepths = 40;
constexpr std::string_view kNotFound = "not found";

enum class Variant : std::uint8_t { kPlain, kParaphrased, kDecoy, kSplit, kNone };

constexpr std::string_view kVariantNames[] = {"plain", "paraphrased", "decoy", "split", "none"};
constexpr std::string_view kValueNames[] = {"number", "uuid", "phrase"};

// Draws a value of one of the three kinds, which occurs nowhere else.
std::string DrawValue(std::size_t kind, RandomStream* stream) {
  if (kind == 0) return stream->Digits(7);
  if (kind == 1) return stream->Uuid();
  return fmt::format("{} {} {}", MadeWord(stream->Below(kMadeWords)),
                     MadeWord(stream->Below(kMadeWords)), MadeWord(stream->Below(kMadeWords)));
}

struct Needle {
  std::vector<std::string> paragraphs;  // zero to two
  std::string question, gold;
};

Needle MakeNeedle(Variant variant, std::size_t kind, RandomStream* stream) {
  const std::string place = KeyWord(stream->Below(4096)), value = DrawValue(kind, stream);
  Needle needle{.gold = value};
  const std::string told = fmt::format("The password of the vault {} is {}.", place, value);
  needle.question = fmt::format("What is the password of the vault {}?", place);
  switch (variant) {
    case Variant::kPlain:
      needle.paragraphs = {told};
      break;
    case Variant::kParaphrased:
      needle.paragraphs = {told};
      needle.question = fmt::format(
          "Somebody stands before {} and wants it to open. What has to be said?", place);
      break;
    case Variant::kDecoy:
      needle.paragraphs = {
          told, fmt::format("It is not true that the password of the vault {} was ever {}.", place,
                            DrawValue(kind, stream))};
      break;
    case Variant::kSplit: {
      const std::string keeper = PersonName(stream->Below(kPersonNames));
      needle.paragraphs = {
          fmt::format("The password of the vault {} is known to {} alone.", place, keeper),
          fmt::format("What {} alone knows is {}.", keeper, value)};
      break;
    }
    case Variant::kNone:
      needle.gold = kNotFound;
      break;
  }
  needle.question += " Answer with the value only, or with 'not found' if it is nowhere told.";
  return needle;
}

class NeedleFamilyImpl final : public Family {
 public:
  std::string_view name() const override { return "needle"; }
  std::string_view about() const override { return "one sentence in a long text, at forty depths"; }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    DOSSIER_ASSIGN_OR_RETURN(const Prose prose, Prose::Open(Setting(spec, "haystack", "")));
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows; ++number) {
        if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
        DOSSIER_RETURN_IF_ERROR(Write(spec, prose, length, number, sink));
      }
    }
    return {};
  }

  // Reads the place from the question and its sentence by pattern; the value must occur once.
  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, set.ReadContext(task.contexts[0]));
    std::string place, value, keeper;
    if (!RE2::PartialMatch(task.question, "(?:vault|before) ([a-z-]+)", &place)) {
      return MakeError(ErrorCode::kDamaged, "{}: its question is of no kind of this family",
                       task.id);
    }
    const std::string begin = "(?m)^The password of the vault " + place + " is ";
    if (RE2::PartialMatch(text, begin + "known to (.+) alone\\.$", &keeper)) {
      RE2::PartialMatch(text, "(?m)^What " + keeper + " alone knows is (.+)\\.$", &value);
    } else {
      RE2::PartialMatch(text, begin + "(.+)\\.$", &value);
    }
    if (value.empty()) {
      if (text.find(place) == std::string::npos) return OneGold(kNotFound);
      return MakeError(ErrorCode::kCheckFailed, "{}: the text names {} but not its password",
                       task.id, place);
    }
    const std::size_t at = text.find(value);
    if (text.find(value, at + 1) != std::string::npos) {
      return MakeError(ErrorCode::kCheckFailed, "{}: the value {} occurs more than once", task.id,
                       value);
    }
    return OneGold(value);
  }

 private:
  static constexpr Parameter kParameters[] = {{"haystack", "", "a text file; default: made prose"}};

  static std::string MakeText(const Needle& needle, const Prose& prose, std::int64_t paragraphs,
                              std::int64_t depth, RandomStream stream) {
    std::vector<std::string> parts;
    for (std::int64_t i = 0; i < paragraphs; ++i) {
      parts.push_back(prose.Paragraph(static_cast<std::size_t>(i), &stream));
    }
    if (!needle.paragraphs.empty()) {
      const auto at = static_cast<std::ptrdiff_t>(paragraphs * depth / (kDepths - 1));
      parts.insert(parts.begin() + at, needle.paragraphs[0]);
    }
    if (needle.paragraphs.size() > 1) {
      // Its place does not depend on the first one or its depth.
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(stream.Below(parts.size() + 1)),
                   needle.paragraphs[1]);
    }
    return Join(parts, "\n\n") + "\n";
  }

  Status Write(const FamilySpec& spec, const Prose& prose, std::int64_t length, std::int64_t number,
               TaskSink& sink) const {
    const std::string path = fmt::format("{}/window/{}", length, number);
    RandomStream stream = RandomStream::For(name(), spec.seed, path);
    const auto variant = static_cast<Variant>(number % 5);
    const std::size_t kind = static_cast<std::size_t>(number / 5) % 3;
    const std::int64_t depth =
        spec.windows >= kDepths
            ? number % kDepths
            : number * (kDepths - 1) / std::max<std::int64_t>(1, spec.windows - 1);
    const Needle needle = MakeNeedle(variant, kind, &stream);
    const RandomStream prose_stream = RandomStream::For(name(), spec.seed, path + "/prose");
    const auto make = [&](std::int64_t paragraphs) {
      return MakeText(needle, prose, paragraphs, depth, prose_stream);
    };
    const std::int64_t paragraphs = LargestThatFits(length, 2, *spec.counter, make);
    if (paragraphs < 2) {
      return MakeError(ErrorCode::kConfig,
                       "--length {} is too small; the smallest that works is {}", length,
                       spec.counter->CountText(make(2)).upper());
    }
    const std::string text = make(paragraphs);
    const std::string id = fmt::format("needle-{}-w{}", LengthName(length), number);
    DOSSIER_RETURN_IF_ERROR(sink.Open("contexts/" + id + ".txt"));
    DOSSIER_RETURN_IF_ERROR(sink.Write(text));
    DOSSIER_ASSIGN_OR_RETURN(ContextFile file, sink.Close(spec.counter->CountText(text).upper()));
    Task task{.id = id + "-q0",
              .family = std::string(name()),
              .window = id,
              .question = needle.question,
              .scorer = "contains",
              .gold = OneGold(needle.gold),
              .contexts = {std::move(file)}};
    task.meta = {{"context_len", length},
                 {"depth", depth},
                 {"variant", kVariantNames[static_cast<std::size_t>(variant)]},
                 {"value", kValueNames[kind]}};
    return sink.Add(std::move(task));
  }
};

}  // namespace

const Family& NeedleFamily() {
  static const NeedleFamilyImpl kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
