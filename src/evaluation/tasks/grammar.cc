#include "evaluation/tasks/grammar.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace dossier::evaluation::grammar {
namespace {

constexpr std::string_view kTimes[] = {
    "This morning",        "Late last night",   "Before lunch",     "After the rain",
    "On the way home",     "Early on Tuesday",  "At the weekend",   "Half an hour ago",
    "During the holidays", "On a quiet Sunday", "Just before dusk", "For the first time"};

constexpr std::string_view kPeople[] = {"Ines",    "Tomas", "Aylin",  "Bruno",  "Carla",   "Dmitri",
                                        "Edith",   "Farid", "Greta",  "Hassan", "Ilona",   "Jonas",
                                        "Keiko",   "Lucia", "Marek",  "Nadia",  "Oskar",   "Petra",
                                        "Quentin", "Rosa",  "Stefan", "Tamara", "Umberto", "Vera"};

constexpr std::string_view kStarDeeds[] = {"lined up the finder scope on a faint double",
                                           "waited for Saturn to clear the chimney",
                                           "counted meteors from a deck chair",
                                           "drew the craters along the shadow line",
                                           "tracked a comet through thin cloud",
                                           "polished the primary mirror of the old reflector",
                                           "timed the shadow of a moon across Jupiter",
                                           "photographed a spiral galaxy for two hours",
                                           "found the ring nebula with a borrowed eyepiece",
                                           "noted how one variable had dimmed",
                                           "watched an eclipse creep over the disc",
                                           "compared the red giant with its blue neighbour"};
constexpr std::string_view kStarNotes[] = {"the seeing was steady",
                                           "the mount drifted a little to the west",
                                           "dew settled on the lens",
                                           "a satellite crossed the field",
                                           "the Milky Way was bright enough to read by",
                                           "the chart was off by half a degree",
                                           "the full moon washed out the rest",
                                           "the exposure came out sharp",
                                           "Orion had only just risen",
                                           "the planet's bands were easy to see"};

constexpr std::string_view kWoodDeeds[] = {"cut four dovetails for a drawer",
                                           "planed the oak board flat",
                                           "glued the legs of a wobbly stool",
                                           "sanded the shelf with the finest grit",
                                           "chiselled a mortise by hand",
                                           "sawed the plank along the pencil line",
                                           "turned a bowl on the lathe",
                                           "clamped the frame overnight",
                                           "sharpened every plane iron on the bench",
                                           "fitted new hinges to the cupboard door",
                                           "rubbed linseed oil into the walnut top",
                                           "drilled pilot holes in the pine rail"};
constexpr std::string_view kWoodNotes[] = {
    "the joint closed without a gap", "the grain tore near a knot",
    "the saw dust is everywhere",     "one corner is still out of square",
    "the varnish needs another coat", "the tenon was a hair too thick",
    "the vice slipped once",          "the veneer lifted at the edge",
    "the mitre fits at last",         "the screws sit flush now"};

constexpr std::string_view kFoodDeeds[] = {
    "simmered the lentils with bay leaves",   "kneaded the dough until it sprang back",
    "roasted the peppers over the flame",     "whisked the egg whites to stiff peaks",
    "browned the onions for the stew",        "strained the stock through a cloth",
    "folded the dumplings at the table",      "let the sauce reduce by half",
    "seasoned the soup with thyme and lemon", "steamed the mussels in white wine",
    "baked two loaves of rye bread",          "fried the fish in a little butter"};
constexpr std::string_view kFoodNotes[] = {"it wanted more salt",
                                           "the crust came out crisp",
                                           "the kitchen smelled of garlic",
                                           "the rice stuck to the pan",
                                           "everyone asked for a second plate",
                                           "the custard curdled",
                                           "the oven ran too hot",
                                           "the recipe serves six",
                                           "the flavour was better next day",
                                           "a pinch of saffron was enough"};

constexpr std::string_view kPlantDeeds[] = {"pruned the roses down to three buds",
                                            "sowed carrots in the raised bed",
                                            "turned the compost with a fork",
                                            "tied the tomatoes to new canes",
                                            "dug out the bindweed by the fence",
                                            "watered the seedlings in the greenhouse",
                                            "divided the old rhubarb",
                                            "spread bark mulch under the hedge",
                                            "planted two rows of broad beans",
                                            "picked slugs off the lettuce",
                                            "trimmed the lawn along the path",
                                            "potted the cuttings of lavender"};
constexpr std::string_view kPlantNotes[] = {
    "frost is forecast again",        "the soil was still too wet",
    "the first shoots are showing",   "greenfly had got at the leaves",
    "the roots had gone quite deep",  "the blossom came two weeks early",
    "the pears need thinning",        "the bulbs had rotted",
    "bees were all over the borders", "the beds look tidy at last"};

constexpr std::string_view kSoundDeeds[] = {"practised the scales in four keys",
                                            "tuned the cello to the piano",
                                            "learned the second violin part by heart",
                                            "recorded a demo of the new chorus",
                                            "played the nocturne far too fast",
                                            "sang the alto line in rehearsal",
                                            "restrung the acoustic guitar",
                                            "transposed the trumpet solo",
                                            "drummed along with a metronome",
                                            "arranged the folk tune for a quartet",
                                            "improvised over a slow blues",
                                            "marked the bowings in the score"};
constexpr std::string_view kSoundNotes[] = {"the rhythm still drags",
                                            "the high notes cracked",
                                            "the choir came in too soon",
                                            "the final chord rang for ages",
                                            "a reed split in the second bar",
                                            "the conductor asked for less vibrato",
                                            "the encore went down well",
                                            "the pedal squeaks",
                                            "the melody would not leave my head",
                                            "the strings went flat"};

constexpr std::string_view kBoatDeeds[] = {"reefed the main before the headland",
                                           "tacked up the estuary against the tide",
                                           "spliced a new jib sheet",
                                           "anchored in the lee of the island",
                                           "scraped the hull down to the primer",
                                           "ran before the wind under spinnaker",
                                           "plotted a course round the shoals",
                                           "moored the sloop beside the ferry pier",
                                           "hoisted the storm jib",
                                           "bailed out the dinghy",
                                           "took the helm for the night watch",
                                           "checked the rigging from the masthead"};
constexpr std::string_view kBoatNotes[] = {"the gusts reached force six",
                                           "the keel touched mud once",
                                           "the current ran at three knots",
                                           "the boom swung over without warning",
                                           "the harbour was full",
                                           "spray came over the bow",
                                           "the rudder felt heavy",
                                           "the buoy lay further east than charted",
                                           "we lost the breeze near the lighthouse",
                                           "the crew slept in their oilskins"};

constexpr std::string_view kPlaces[] = {
    "with the children watching", "while the radio was on",     "as the neighbours looked on",
    "with hardly a word",         "before anyone else was up",  "with borrowed tools",
    "without any hurry",          "for the third time running", "to everybody's surprise",
    "with a sore back",           "in the fading light",        "after a long wait"};

constexpr Topic kTopics[] = {
    {"astronomy", kStarDeeds, kStarNotes}, {"carpentry", kWoodDeeds, kWoodNotes},
    {"cooking", kFoodDeeds, kFoodNotes},   {"gardening", kPlantDeeds, kPlantNotes},
    {"music", kSoundDeeds, kSoundNotes},   {"sailing", kBoatDeeds, kBoatNotes}};

// Takes the next digit of a number whose digits have different bases.
template <typename List>
std::string_view Next(const List& list, std::size_t* index) {
  const std::string_view word = std::data(list)[*index % std::size(list)];
  *index /= std::size(list);
  return word;
}

}  // namespace

std::span<const Topic> Topics() { return kTopics; }

std::span<const std::string_view> People() { return kPeople; }

std::size_t Count(const Topic& topic) {
  return std::size(kTimes) * std::size(kPeople) * std::size(kPlaces) * topic.deeds.size() *
         topic.notes.size();
}

std::string Text(const Topic& topic, std::size_t index) {
  const std::string_view deed = Next(topic.deeds, &index), person = Next(kPeople, &index),
                         note = Next(topic.notes, &index), time = Next(kTimes, &index),
                         place = Next(kPlaces, &index);
  return fmt::format("{} {} {} {}, and {}.", time, person, deed, place, note);
}

std::string Hash() {
  Sha256 hash;
  const auto add = [&](std::span<const std::string_view> words) {
    for (const std::string_view word : words) {
      hash.Update(word);
      hash.Update("\n");
    }
  };
  add(kTimes);
  add(kPeople);
  add(kPlaces);
  for (const Topic& topic : kTopics) {
    add({&topic.label, 1});
    add(topic.deeds);
    add(topic.notes);
  }
  return hash.Hex();
}

}  // namespace dossier::evaluation::grammar
