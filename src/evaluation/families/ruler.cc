// ruler: eleven tasks by the published recipe with its exact texts, so that scores are comparable.

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/tasks/prose.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kNoise =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

constexpr std::size_t kShortKeys = 4096, kAllKeys = 266'000;  // of two, and of up to three words

enum class Hay : std::uint8_t { kNoise, kText, kNeedles };
enum class Value : std::uint8_t { kNumber, kUuid };

// One of the eight tasks that hide values.
struct Hidden {
  Hay hay;
  Value value;
  bool uuid_keys = false;
  int keys = 1, values = 1, asked = 1;
};

// The parts of a window: the text before, the question, and the answer.
struct Sample {
  std::string context, question;
  std::vector<std::string> gold;
};

std::string_view Plural(Value value) { return value == Value::kUuid ? "uuids" : "numbers"; }
std::string_view Singular(Value value) { return value == Value::kUuid ? "uuid" : "number"; }

std::string NeedleText(std::string_view what, std::string_view key, std::string_view value) {
  return fmt::format("One of the special magic {} for {} is: {}.", what, key, value);
}

// Inserts `needles` between `lines` at random places, in their own order if `ordered`.
std::vector<std::string> Hide(std::vector<std::string> lines, std::vector<std::string> needles,
                              RandomStream* stream) {
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < needles.size(); ++i)
    places.push_back(stream->Below(lines.size() + 1));
  std::sort(places.begin(), places.end());
  std::vector<std::string> hidden;
  hidden.reserve(lines.size() + needles.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i <= lines.size(); ++i) {
    while (next < needles.size() && places[next] == i) hidden.push_back(std::move(needles[next++]));
    if (i < lines.size()) hidden.push_back(std::move(lines[i]));
  }
  return hidden;
}

// Joins keys as the recipe does: "a", "a, and b", "a, b, and c".
std::string JoinKeys(const std::vector<std::string>& keys) {
  if (keys.size() == 1) return keys[0];
  return Join(std::vector<std::string>(keys.begin(), keys.end() - 1), ", ") + ", and " +
         keys.back();
}

Sample MakeHidden(const Hidden& task, const Prose& prose, std::int64_t units, RandomStream stream) {
  std::set<std::string> used;
  const auto fresh = [&](Value kind) {
    while (true) {
      std::string value = kind == Value::kUuid ? stream.Uuid() : stream.Digits(7);
      if (used.insert(value).second) return value;
    }
  };
  const auto fresh_key = [&](std::size_t limit) {
    while (true) {
      std::string key = task.uuid_keys ? stream.Uuid() : KeyWord(stream.Below(limit));
      if (used.insert(key).second) return key;
    }
  };
  std::vector<std::string> keys, needles;
  Sample sample;
  for (int i = 0; i < task.keys; ++i) {
    keys.push_back(fresh_key(kShortKeys));
    for (int j = 0; j < task.values; ++j) {
      const std::string value = fresh(task.value);
      needles.push_back(NeedleText(Plural(task.value), keys.back(), value));
      if (i < task.asked) sample.gold.push_back(value);
    }
  }
  stream.Shuffle(&needles);
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < units; ++i) {
    if (task.hay == Hay::kNoise) {
      lines.emplace_back(kNoise);
    } else if (task.hay == Hay::kText) {
      lines.push_back(prose.Paragraph(static_cast<std::size_t>(i), &stream));
    } else {
      const std::string key = fresh_key(kAllKeys);
      lines.push_back(NeedleText(Plural(task.value), key, fresh(task.value)));
    }
  }
  const bool one = task.values * task.asked == 1;
  const std::string_view what = one ? Singular(task.value) : Plural(task.value);
  sample.context =
      one ? fmt::format(
                "A special magic {} is hidden within the following text. Make sure to memorize "
                "it. I will quiz you about the {} afterwards.\n",
                what, what)
          : fmt::format(
                "Some special magic {} are hidden within the following text. Make sure to "
                "memorize it. I will quiz you about the {} afterwards.\n",
                what, what);
  sample.context += Join(Hide(std::move(lines), std::move(needles), &stream), "\n") + "\n";
  const std::string query =
      JoinKeys(std::vector<std::string>(keys.begin(), keys.begin() + task.asked));
  sample.question =
      one ? fmt::format("What is the special magic {} for {} mentioned in the provided text?", what,
                        query)
          : fmt::format("What are all the special magic {} for {} mentioned in the provided text?",
                        what, query);
  return sample;
}

std::string VariableName(RandomStream* stream) {
  std::string name;
  while (name.size() < 5) name.push_back(static_cast<char>('A' + stream->Below(26)));
  return name;
}

constexpr std::string_view kTrace =
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n";

// Makes one chain in `units` lines of noise.
Sample MakeChain(std::int64_t units, std::set<std::string>* used, RandomStream* stream) {
  Sample sample;
  std::string value = stream->Digits(5);
  while (!used->insert(value).second) value = stream->Digits(5);
  std::vector<std::string> steps;
  for (int i = 0; i < 5; ++i) {
    std::string name = VariableName(stream);
    while (!used->insert(name).second) name = VariableName(stream);
    steps.push_back(i == 0 ? fmt::format("VAR {} = {}", name, value)
                           : fmt::format("VAR {} = VAR {}", name, sample.gold.back()));
    sample.gold.push_back(std::move(name));
  }
  std::vector<std::string> lines(static_cast<std::size_t>(units), std::string(kNoise));
  sample.context = std::string(kTrace) + Join(Hide(std::move(lines), steps, stream), "\n") + "\n";
  sample.question = fmt::format(
      "Question: Find all variables that are assigned the value {} in the text above.", value);
  return sample;
}

Sample MakeTrace(std::int64_t units, RandomStream stream) {
  std::set<std::string> used;
  const Sample example = MakeChain(5, &used, &stream);
  Sample sample = MakeChain(units, &used, &stream);
  sample.context = example.context + example.question + " Answer: " + Join(example.gold, ", ") +
                   "\n\n" + sample.context;
  return sample;
}

constexpr std::string_view kCommonBefore =
    "Below is a numbered list of words. In these words, some appear more often than others. "
    "Memorize "
    "the ones that appear most often.\n";
constexpr std::string_view kCommonAfter =
    "Question: What are the 10 most common words in the above list?";

Sample MakeList(std::size_t common, int often, std::int64_t units, int seldom, std::size_t first,
                const std::vector<std::uint32_t>& words, RandomStream* stream) {
  Sample sample;
  std::vector<std::string> list;
  for (std::size_t i = 0; i < common + static_cast<std::size_t>(units); ++i) {
    const std::string word = MadeWord(words[first + i]);
    list.insert(list.end(), static_cast<std::size_t>(i < common ? often : seldom), word);
    if (i < common) sample.gold.push_back(word);
  }
  stream->Shuffle(&list);
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    text += fmt::format("{}{}. {}", i == 0 ? "" : " ", i + 1, list[i]);
  }
  sample.context = std::string(kCommonBefore) + text + "\n";
  sample.question = kCommonAfter;
  return sample;
}

Sample MakeCommon(std::int64_t length, std::int64_t units, RandomStream stream) {
  constexpr std::size_t kExample = 10 + 5;
  const std::vector<std::uint32_t> words =
      stream.Sample(kMadeWords, kExample + 10 + static_cast<std::size_t>(units));
  const bool small = length < 4096;
  const Sample example = MakeList(10, 3, 5, 1, 0, words, &stream);
  Sample sample = MakeList(10, small ? 6 : 30, units, small ? 1 : 3, kExample, words, &stream);
  sample.context = example.context + example.question + " Answer: " + Join(example.gold, ", ") +
                   "\n\n" + sample.context;
  return sample;
}

constexpr std::string_view kCodedBefore =
    "Read the following coded text and track the frequency of each coded word. Find the three most "
    "frequently appeared coded words. ";
constexpr std::string_view kCodedAfter =
    "Question: Do not provide any explanation. Please ignore the dots '....'. What are the three "
    "most "
    "frequently appeared words in the above coded text?";

Sample MakeCoded(std::int64_t length, std::int64_t units, RandomStream stream) {
  constexpr double kZeta = 1.6449340668482264;  // of 2
  const auto vocabulary = static_cast<std::size_t>(std::max<std::int64_t>(5, length / 50));
  const std::vector<std::uint32_t> words = stream.Sample(kMadeWords, vocabulary);
  Sample sample;
  std::vector<std::string> list;
  for (std::size_t rank = 1; rank <= words.size(); ++rank) {
    const double share = static_cast<double>(rank) * static_cast<double>(rank) * kZeta;
    const auto count = static_cast<std::size_t>(static_cast<double>(units) / share);
    const std::string word = rank == 1 ? "..." : MadeWord(words[rank - 1]);
    list.insert(list.end(), count, word);
    if (rank >= 2 && rank <= 4) sample.gold.push_back(word);
  }
  stream.Shuffle(&list);
  sample.context = std::string(kCodedBefore) + Join(list, " ") + "\n";
  sample.question = kCodedAfter;
  return sample;
}

struct RulerKind {
  std::string_view name;
  int budget;          // tokens reserved for the answer
  std::int64_t least;  // minimum number of units for a meaningful task
  std::optional<Hidden> hidden;
};

const RulerKind kRulerKinds[] = {
    {"niah_single_1", 128, 1, Hidden{Hay::kNoise, Value::kNumber}},
    {"niah_single_2", 128, 1, Hidden{Hay::kText, Value::kNumber}},
    {"niah_single_3", 128, 1, Hidden{Hay::kText, Value::kUuid}},
    {"niah_multikey_1", 128, 1, Hidden{Hay::kText, Value::kNumber, false, 4}},
    {"niah_multikey_2", 128, 1, Hidden{Hay::kNeedles, Value::kNumber}},
    {"niah_multikey_3", 128, 1, Hidden{Hay::kNeedles, Value::kUuid, true}},
    {"niah_multivalue", 128, 1, Hidden{Hay::kText, Value::kNumber, false, 1, 4}},
    {"niah_multiquery", 128, 1, Hidden{Hay::kText, Value::kNumber, false, 4, 1, 4}},
    {"vt", 30, 1, std::nullopt},
    {"cwe", 120, 1, std::nullopt},
    {"fwe", 50, 200, std::nullopt},
};

// Path B: the most frequent words after the last instruction, counted in SQL.
Result<Json> ProveFrequent(std::string_view text, std::string_view before, int wanted,
                           const Task& task) {
  const std::size_t at = text.rfind(before);
  if (at == std::string_view::npos) {
    return MakeError(ErrorCode::kDamaged, "{}: the instruction is missing", task.id);
  }
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(":memory:"));
  DOSSIER_RETURN_IF_ERROR(db.Execute("CREATE TABLE w(word TEXT); BEGIN"));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement insert, db.Prepare("INSERT INTO w VALUES(?)"));
  re2::StringPiece rest(text.data() + at + before.size(), text.size() - at - before.size());
  static const RE2 pattern("\\b([a-z]{6})\\b");
  std::string word;
  while (RE2::FindAndConsume(&rest, pattern, &word)) {
    DOSSIER_RETURN_IF_ERROR(insert.With(word).Done());
  }
  DOSSIER_RETURN_IF_ERROR(db.Execute("COMMIT"));
  DOSSIER_ASSIGN_OR_RETURN(
      store::Statement query,
      db.Prepare(
          "SELECT word FROM (SELECT word, rank() OVER (ORDER BY count(*) DESC) r FROM w GROUP BY "
          "word) WHERE r <= ? ORDER BY r, word"));
  query.With(wanted);
  JsonArray gold;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return gold;
    gold.push_back(Json(query.Text(0)));
  }
}

// Returns all names that resolve to the value, whatever their order in the text.
Json ProveTrace(std::string_view text, const std::string& value) {
  std::map<std::string, std::string> assigned;
  static const RE2 pattern("VAR ([A-Z]+) = (?:VAR )?(\\w+)");
  re2::StringPiece rest(text.data(), text.size());
  std::string name, from;
  while (RE2::FindAndConsume(&rest, pattern, &name, &from)) assigned[name] = from;
  JsonArray gold;
  for (const auto& [variable, source] : assigned) {
    std::string at = source;
    for (std::size_t step = 0; step < assigned.size() && assigned.contains(at); ++step) {
      at = assigned[at];
    }
    if (at == value) gold.push_back(Json(variable));
  }
  return gold;
}

Json ProveHidden(std::string_view text, const std::string& question) {
  static const RE2 pattern("One of the special magic \\w+ for (\\S+) is: (\\S+)\\.");
  static const RE2 asked("special magic \\w+ for (.+) mentioned in the provided text");
  std::string query, key, value;
  RE2::PartialMatch(question, asked, &query);
  std::set<std::string> keys;
  for (std::string_view part : Split(query, ',')) {
    part = TrimSpace(part);
    if (part.starts_with("and ")) part.remove_prefix(4);
    keys.emplace(part);
  }
  JsonArray gold;
  re2::StringPiece rest(text.data(), text.size());
  while (RE2::FindAndConsume(&rest, pattern, &key, &value)) {
    if (keys.contains(key)) gold.push_back(Json(value));
  }
  return gold;
}

class Ruler final : public Family {
 public:
  std::string_view name() const override { return "ruler"; }
  std::string_view about() const override {
    return "eleven retrieval and tracing tasks, as published";
  }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    DOSSIER_ASSIGN_OR_RETURN(const Prose prose, Prose::Open(Setting(spec, "haystack", "")));
    std::size_t turn = 0;
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows * spec.questions; ++number, ++turn) {
        if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
        DOSSIER_RETURN_IF_ERROR(
            Write(spec, prose, length, number, kRulerKinds[turn % std::size(kRulerKinds)], sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, set.ReadContext(task.contexts[0]));
    std::string value;
    if (RE2::PartialMatch(task.question, "assigned the value (\\d+) in", &value)) {
      return ProveTrace(text, value);
    }
    if (task.question == kCommonAfter) return ProveFrequent(text, kCommonBefore, 10, task);
    if (task.question == kCodedAfter) return ProveFrequent(text, kCodedBefore, 3, task);
    return ProveHidden(text, task.question);
  }

 private:
  static constexpr Parameter kParameters[] = {{"haystack", "", "a text file; default: made prose"}};

  static Sample MakeSample(const RulerKind& kind, const Prose& prose, std::int64_t length,
                           std::int64_t units, const RandomStream& stream) {
    if (kind.hidden) return MakeHidden(*kind.hidden, prose, units, stream);
    if (kind.name == "vt") return MakeTrace(units, stream);
    return kind.name == "cwe" ? MakeCommon(length, units, stream)
                              : MakeCoded(length, units, stream);
  }

  Status Write(const FamilySpec& spec, const Prose& prose, std::int64_t length, std::int64_t number,
               const RulerKind& kind, TaskSink& sink) const {
    const RandomStream stream =
        RandomStream::For(name(), spec.seed, fmt::format("{}/window/{}", length, number));
    const auto make = [&](std::int64_t units) {
      const Sample sample = MakeSample(kind, prose, length, units, stream);
      return sample.context + sample.question;
    };
    const std::int64_t units =
        LargestThatFits(length - kind.budget, kind.least, *spec.counter, make);
    if (units < kind.least) {
      return MakeError(ErrorCode::kConfig,
                       "--length {} is too small for {}; the smallest that works is {}", length,
                       kind.name, spec.counter->CountText(make(kind.least)).upper() + kind.budget);
    }
    const Sample sample = MakeSample(kind, prose, length, units, stream);
    const std::string id = fmt::format("ruler-{}-w{}", LengthName(length), number);
    DOSSIER_RETURN_IF_ERROR(sink.Open("contexts/" + id + ".txt"));
    DOSSIER_RETURN_IF_ERROR(sink.Write(sample.context));
    DOSSIER_ASSIGN_OR_RETURN(ContextFile file,
                             sink.Close(spec.counter->CountText(sample.context).upper()));
    Task task{.id = id + "-q0",
              .family = std::string(name()),
              .window = id,
              .question = sample.question,
              .scorer = "ruler",
              .gold = JsonArray(sample.gold.begin(), sample.gold.end())};
    task.meta = {{"context_len", length},
                 {"task", kind.name},
                 {"units", units},
                 {"answer_tokens", kind.budget}};
    task.contexts.push_back(std::move(file));
    return sink.Add(std::move(task));
  }
};

}  // namespace

const Family& RulerFamily() {
  static const Ruler kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
