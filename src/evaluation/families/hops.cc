// hops: things that are passed from person to person, told in prose over many pages.

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/tasks/prose.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kDecoys = 6;  // other things that the same people pass on

// A thing and the people who held it, in order.
struct Chain {
  std::string thing;
  std::vector<std::size_t> people;
};

std::string HandOver(const std::string& thing, const std::string& from, const std::string& to,
                     RandomStream* stream) {
  // Two wordings, one of which names the receiver first.
  if (stream->Below(2) == 0) return fmt::format("{} handed the {} to {}.", from, thing, to);
  return fmt::format("{} was given the {} by {}.", to, thing, from);
}

// Path B: reads who gave the thing to whom from the sentences, then walks from the person who was
// given nothing.
Result<std::vector<std::string>> WalkChain(const std::string& text, const std::string& thing,
                                           const Task& task) {
  const std::string quoted = RE2::QuoteMeta(thing);
  const RE2 gave("([A-Z]\\w+ [A-Z]\\w+) handed the " + quoted + " to ([A-Z]\\w+ [A-Z]\\w+)\\.");
  const RE2 given("([A-Z]\\w+ [A-Z]\\w+) was given the " + quoted + " by ([A-Z]\\w+ [A-Z]\\w+)\\.");
  std::multimap<std::string, std::string> next;
  std::set<std::string> receivers;
  std::string a, b;
  for (re2::StringPiece rest(text); RE2::FindAndConsume(&rest, gave, &a, &b);) {
    next.emplace(a, b);
    receivers.insert(b);
  }
  for (re2::StringPiece rest(text); RE2::FindAndConsume(&rest, given, &a, &b);) {
    next.emplace(b, a);
    receivers.insert(a);
  }
  std::vector<std::string> starts;
  for (const auto& [from, to] : next) {
    if (!receivers.contains(from)) starts.push_back(from);
  }
  std::vector<std::string> walk;
  if (starts.size() == 1) {
    walk.push_back(starts[0]);
    while (walk.size() <= next.size() && next.count(walk.back()) == 1) {
      walk.push_back(next.find(walk.back())->second);
    }
  }
  if (walk.size() != next.size() + 1) {
    return MakeError(ErrorCode::kCheckFailed, "{}: the hand-overs of the {} are no single path",
                     task.id, thing);
  }
  return walk;
}

class Hops final : public Family {
 public:
  std::string_view name() const override { return "hops"; }
  std::string_view about() const override {
    return "things handed on from person to person, told over many pages";
  }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t pages, NumberSetting(spec, "pages", 10, 1, 1000));
    DOSSIER_ASSIGN_OR_RETURN(const std::int64_t hops, NumberSetting(spec, "hops", 0, 0, 4));
    if (hops == 1) return MakeError(ErrorCode::kConfig, "hops=1: a chain has 2 to 4; 0 is any");
    DOSSIER_ASSIGN_OR_RETURN(const Prose prose, Prose::Open(Setting(spec, "haystack", "")));
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows; ++number) {
        if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
        DOSSIER_RETURN_IF_ERROR(Write(spec, prose, {length, number, pages, hops}, sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    std::string text, thing;
    for (const ContextFile& file : task.contexts) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string page, set.ReadContext(file));
      text += page + "\n";
    }
    if (!RE2::PartialMatch(task.question, "the (\\S+)(?: in the end| one after the other)",
                           &thing)) {
      return MakeError(ErrorCode::kDamaged, "{}: its question is of no kind of this family",
                       task.id);
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> walk, WalkChain(text, thing, task));
    if (task.question.find("in the end") != std::string::npos) return OneGold(walk.back());
    return JsonArray(walk.begin(), walk.end());
  }

 private:
  static constexpr Parameter kParameters[] = {
      {"pages", "10", "files of a window, 1 to 1000"},
      {"hops", "0", "hand-overs of a chain, 2 to 4; 0: any of them"},
      {"haystack", "", "a text file; default: made prose"}};

  struct Place {
    std::int64_t length, number, pages, hops;
  };

  // Makes chains of distinct things; decoys use the people of the first chains.
  static std::vector<Chain> MakeChains(std::int64_t wanted, std::int64_t hops,
                                       RandomStream* stream) {
    const std::vector<std::uint32_t> things =
        stream->Sample(4096, static_cast<std::size_t>(wanted) + kDecoys);
    const std::vector<std::uint32_t> crowd = stream->Sample(kPersonNames, 40);
    std::vector<Chain> chains;
    for (const std::uint32_t thing : things) {
      Chain chain{.thing = KeyWord(thing)};
      const std::int64_t length = hops > 0 ? hops : stream->Between(2, 4);
      for (const std::uint32_t at :
           stream->Sample(crowd.size(), static_cast<std::size_t>(length) + 1)) {
        chain.people.push_back(crowd[at]);
      }
      chains.push_back(std::move(chain));
    }
    return chains;
  }

  // Makes all pages, with `paragraphs` paragraphs in total and the chains' sentences between them.
  static std::vector<std::string> MakePages(const std::vector<Chain>& chains, const Prose& prose,
                                            std::int64_t pages, std::int64_t paragraphs,
                                            RandomStream stream) {
    std::vector<std::vector<std::string>> parts(static_cast<std::size_t>(pages));
    for (std::int64_t i = 0; i < paragraphs; ++i) {
      parts[static_cast<std::size_t>(i % pages)].push_back(
          prose.Paragraph(static_cast<std::size_t>(i), &stream));
    }
    for (const Chain& chain : chains) {
      for (std::size_t i = 0; i + 1 < chain.people.size(); ++i) {
        auto& page = parts[stream.Below(parts.size())];
        const std::string sentence = HandOver(chain.thing, PersonName(chain.people[i]),
                                              PersonName(chain.people[i + 1]), &stream);
        page.insert(page.begin() + static_cast<std::ptrdiff_t>(stream.Below(page.size() + 1)),
                    sentence);
      }
    }
    std::vector<std::string> texts;
    for (const auto& page : parts) texts.push_back(Join(page, "\n\n") + "\n");
    return texts;
  }

  Status Write(const FamilySpec& spec, const Prose& prose, const Place& place,
               TaskSink& sink) const {
    const std::string path = fmt::format("{}/window/{}", place.length, place.number);
    RandomStream stream = RandomStream::For(name(), spec.seed, path);
    const std::vector<Chain> chains = MakeChains(spec.questions, place.hops, &stream);
    const RandomStream page_stream = RandomStream::For(name(), spec.seed, path + "/pages");
    const auto make = [&](std::int64_t paragraphs) {
      return Join(MakePages(chains, prose, place.pages, paragraphs, page_stream), "");
    };
    const std::int64_t paragraphs = LargestThatFits(place.length, place.pages, *spec.counter, make);
    if (paragraphs < place.pages) {
      return MakeError(ErrorCode::kConfig,
                       "--length {} is too small for {} pages; the smallest that works is {}",
                       place.length, place.pages,
                       spec.counter->CountText(make(place.pages)).upper());
    }
    const std::string id = fmt::format("hops-{}-w{}", LengthName(place.length), place.number);
    std::vector<ContextFile> files;
    for (const std::string& page : MakePages(chains, prose, place.pages, paragraphs, page_stream)) {
      DOSSIER_RETURN_IF_ERROR(
          sink.Open(fmt::format("contexts/{}/{:04}.txt", id, files.size() + 1)));
      DOSSIER_RETURN_IF_ERROR(sink.Write(page));
      DOSSIER_ASSIGN_OR_RETURN(ContextFile file, sink.Close(spec.counter->CountText(page).upper()));
      files.push_back(std::move(file));
    }
    for (std::int64_t i = 0; i < spec.questions; ++i) {
      DOSSIER_RETURN_IF_ERROR(
          sink.Add(MakeTask(id, i, chains[static_cast<std::size_t>(i)], files)));
    }
    return {};
  }

  Task MakeTask(const std::string& id, std::int64_t number, const Chain& chain,
                const std::vector<ContextFile>& files) const {
    Task task{.id = fmt::format("{}-q{}", id, number),
              .family = std::string(name()),
              .window = id,
              .contexts = files};
    task.meta["hops"] = chain.people.size() - 1;
    task.meta["kind"] = number % 2 == 0 ? "last" : "chain";
    if (number % 2 == 0) {
      task.question =
          fmt::format("Who has the {} in the end? Answer with the full name only.", chain.thing);
      task.scorer = "exact";
      task.gold = OneGold(PersonName(chain.people.back()));
      task.chance = 1.0 / 40;
      return task;
    }
    task.question = fmt::format(
        "Who had the {} one after the other, from the first to the last? Answer with one full name "
        "in a "
        "line, and no other text.",
        chain.thing);
    task.scorer = "lines";
    JsonArray gold;
    for (const std::size_t person : chain.people) gold.push_back(Json(PersonName(person)));
    task.gold = std::move(gold);
    return task;
  }
};

}  // namespace

const Family& HopsFamily() {
  static const Hops kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
