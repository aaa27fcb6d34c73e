#include "evaluation/tasks/window.h"

#include <algorithm>
#include <unordered_set>

#include "base/text/text.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr int kMostSkew = 30;           // the largest x of a label
constexpr std::int64_t kReserve = 250;  // tokens reserved for the question
constexpr std::int64_t kFewestLines = 5;
constexpr std::size_t kMeasured = 2000;  // pool lines whose mean is used for all

// 10^6 * exp(x^(1/T)), rounded half up; the row is T - 2, the column x - 1. Integers, so that the
// content of a window does not depend on a maths library.
constexpr std::int64_t kWeights[5][kMostSkew] = {
    {2718282,   4113250,   5652234,   7389056,   9356469,   11582435,  14094030,  16918829,
     20085537,  23624343,  27567148,  31947746,  36801966,  42167821,  48085628,  54598150,
     61750719,  69591378,  78171016,  87543512,  97765885,  108898446, 121004958, 134152805,
     148413159, 163861165, 180576123, 198641685, 218146053, 239182193},
    {2718282,  3525143,  4230201,  4891021,  5528828,  6154113,  6772912,  7389056,
     8005140,  8623014,  9244050,  9869296,  10499574, 11135545, 11777749, 12426634,
     13082580, 13745911, 14416907, 15095816, 15782854, 16478217, 17182080, 17894603,
     18615931, 19346201, 20085537, 20834056, 21591869, 22359080},
    {2718282, 3284476, 3728754, 4113250, 4460892, 4783079, 5086432, 5375184, 5652234,  5919662,
     6179024, 6431512, 6678069, 6919451, 7156276, 7389056, 7618223, 7844143, 8067129,  8287452,
     8505348, 8721025, 8934665, 9146432, 9356469, 9564907, 9771862, 9977441, 10181739, 10384843},
    {2718282, 3154085, 3475474, 3741580, 3973827, 4182751, 4374417, 4552682, 4720174, 4878770,
     5029871, 5174547, 5313643, 5447835, 5577674, 5703620, 5826056, 5945309, 6061657, 6175342,
     6286574, 6395539, 6502399, 6607299, 6710369, 6811724, 6911468, 7009696, 7106494, 7201940},
    {2718282, 3072409, 3323229, 3525143, 3697513, 3849742, 3987193, 4113250, 4230201, 4339674,
     4442874, 4540721, 4633934, 4723090, 4808657, 4891021, 4970506, 5047386, 5121894, 5194233,
     5264578, 5333082, 5399881, 5465094, 5528828, 5591180, 5652234, 5712068, 5770753, 5828353},
};

std::string Before(std::int64_t lines, const std::string& noun,
                   const std::vector<std::string>& labels) {
  return fmt::format(
      "The {} lines hold {}, each with a date, a user id and a text. Each text belongs to "
      "exactly one of these labels: {}. The labels are not written: decide by meaning. Compute "
      "over all lines, do not estimate.",
      lines, noun, ListOf(labels));
}

void AppendLine(const WindowLine& line, std::string_view text, std::string* out) {
  fmt::format_to(std::back_inserter(*out), "Date: {} || User: {} || Instance: {}",
                 LineDate(line.day), line.user, text);
}

// Returns how many of `count` lines each label has: its share, rounded half up; the first gets the
// rest.
std::vector<std::int64_t> Shares(std::int64_t count, std::size_t labels, RandomStream* stream) {
  const auto skew = stream->Below(5);
  std::vector<std::int64_t> weights(labels);
  std::int64_t sum = 0;
  for (std::int64_t& weight : weights) {
    weight = kWeights[skew][stream->Below(kMostSkew)];
    sum += weight;
  }
  std::vector<std::int64_t> counts(labels);
  counts[0] = count;
  for (std::size_t i = 1; i < labels; ++i) {
    counts[i] = (2 * count * weights[i] + sum) / (2 * sum);
    counts[0] -= counts[i];
  }
  // If all are rounded up, the sum may be too large: the largest is reduced.
  for (; counts[0] < 0; ++counts[0]) --*std::max_element(counts.begin() + 1, counts.end());
  return counts;
}

std::vector<std::int32_t> CommonUsers(std::int64_t lines, RandomStream* stream) {
  std::vector<std::int32_t> users;
  for (const std::uint32_t id :
       stream->Sample(90'000, static_cast<std::size_t>(std::max<std::int64_t>(1, lines / 10)))) {
    users.push_back(static_cast<std::int32_t>(10'000 + id));
  }
  return users;
}

Result<std::vector<WindowLine>> DrawLines(std::int64_t count, const TextPool& pool,
                                          RandomStream stream) {
  const std::vector<std::int64_t> counts = Shares(count, pool.labels().size(), &stream);
  const std::vector<std::int32_t> common = CommonUsers(count, &stream);
  const std::unordered_set<std::int32_t> known(common.begin(), common.end());
  const std::int32_t first = DayOf(2022, 2, 16), last = DayOf(2025, 6, 21);
  std::vector<WindowLine> lines;
  lines.reserve(static_cast<std::size_t>(count));
  for (std::uint32_t label = 0; label < counts.size(); ++label) {
    const auto wanted = static_cast<std::size_t>(counts[label]);
    if (wanted > pool.Count(label)) {
      return MakeError(
          ErrorCode::kConfig,
          "the pool has {} texts with the label {}; a window of {} lines needs {}: add "
          "texts, or take a smaller --length",
          pool.Count(label), pool.labels()[label], count, wanted);
    }
    for (const std::uint32_t text : stream.Sample(pool.Count(label), wanted)) {
      WindowLine line{.label = label, .text = text};
      if (stream.Below(10) < 8 || known.size() >= 90'000) {
        line.user = stream.Pick(common);
      } else {
        do {
          line.user = static_cast<std::int32_t>(stream.Between(10'000, 99'999));
        } while (known.contains(line.user));
      }
      line.day = static_cast<std::int32_t>(stream.Between(first, last));
      lines.push_back(line);
    }
  }
  stream.Shuffle(&lines);
  return lines;
}

}  // namespace

std::string ListOf(const std::vector<std::string>& labels) { return Join(labels, ", "); }

std::string LengthName(std::int64_t length) {
  return length % 1024 == 0 ? fmt::format("{}K", length / 1024) : std::to_string(length);
}

void WriteTexts(const WindowSpec& spec, const TextPool& pool, const tokens::Counter& counter,
                Window* window) {
  const std::string frame =
      Before(static_cast<std::int64_t>(window->lines.size()), spec.noun, window->labels);
  window->text = frame + "\n\n";
  window->labelled = window->text;
  for (const WindowLine& line : window->lines) {
    const std::size_t begin = window->text.size();
    AppendLine(line, pool.Text(line.label, line.text), &window->text);
    if (!line.planted.empty()) window->text.append(" ").append(line.planted);
    window->labelled.append(window->text, begin);
    window->labelled.append(" || Label: ").append(window->labels[line.label]).push_back('\n');
    window->text.push_back('\n');
  }
  window->text.append("\n").append(frame).push_back('\n');
  window->labelled.append("\n").append(frame).push_back('\n');
  window->tokens = counter.CountText(window->text).upper();
}

Result<TextPool> OpenPool(const FamilySpec& spec) {
  TextPoolOptions options{.path = spec.items};
  const auto setting = [&](const char* name) {
    const auto found = spec.settings.find(name);
    return found == spec.settings.end() ? std::string() : found->second;
  };
  if (setting("drop_leaky") == "off") options.leaky = TextPoolOptions::LeakyTexts::kKeep;
  const std::string map = setting("map");
  for (const std::string_view part : Split(map, ',')) {
    if (part.empty()) continue;
    const std::vector<std::string_view> names = Split(part, ':');
    if (names.size() != 2 || (names[0] != "text" && names[0] != "label")) {
      return MakeError(ErrorCode::kConfig, "map={}: it reads text:COLUMN,label:COLUMN", map);
    }
    (names[0] == "text" ? options.text_field : options.label_field) = names[1];
  }
  return TextPool::Open(options);
}

LineCost MeasureLines(const TextPool& pool, const tokens::Counter& counter) {
  std::size_t all = 0;
  for (std::size_t i = 0; i < pool.labels().size(); ++i) all += pool.Count(i);
  const std::size_t step = std::max<std::size_t>(1, all / kMeasured);
  LineCost cost;
  std::size_t at = 0;
  for (std::size_t label = 0; label < pool.labels().size(); ++label) {
    for (; at < pool.Count(label); at += step) {
      std::string text;
      AppendLine({.user = 55555, .day = DayOf(2024, 6, 6)}, pool.Text(label, at), &text);
      text.push_back('\n');
      cost.tokens += counter.CountText(text).upper();
      ++cost.lines;
    }
    at -= pool.Count(label);
  }
  return cost;
}

Result<Window> MakeWindow(const WindowSpec& spec, const TextPool& pool, const LineCost& cost,
                          const tokens::Counter& counter) {
  const std::int64_t prompt =
      2 * counter.CountText(Before(100'000, spec.noun, pool.labels()) + "\n\n").upper();
  const std::int64_t room = spec.length * 95 / 100 - prompt - kReserve;
  std::int64_t count = room <= 0 ? 0 : room * cost.lines / std::max<std::int64_t>(1, cost.tokens);
  const std::string path = fmt::format("{}/window/{}", spec.length, spec.number);
  while (count >= kFewestLines) {
    Window window{.labels = pool.labels(), .length = spec.length};
    DOSSIER_ASSIGN_OR_RETURN(
        window.lines, DrawLines(count, pool, RandomStream::For(spec.family, spec.seed, path)));
    WriteTexts(spec, pool, counter, &window);
    if (window.tokens <= spec.length) return window;
    const std::int64_t excess = window.tokens - spec.length;
    count -= std::max<std::int64_t>(1, excess * cost.lines / cost.tokens);
  }
  const std::int64_t smallest =
      ((kFewestLines + 1) * cost.tokens / std::max<std::int64_t>(1, cost.lines) + prompt +
       kReserve + 1) *
          100 / 95 +
      1;
  return MakeError(ErrorCode::kConfig,
                   "--length {} is too small for a window of lines; the smallest that works is {}",
                   spec.length, smallest);
}

Result<ContextFile> WriteWindow(const Window& window, const std::string& name, TaskSink& sink) {
  DOSSIER_RETURN_IF_ERROR(sink.Open("labelled/" + name + ".txt"));
  DOSSIER_RETURN_IF_ERROR(sink.Write(window.labelled));
  DOSSIER_RETURN_IF_ERROR(sink.Close(0));
  DOSSIER_RETURN_IF_ERROR(sink.Open("contexts/" + name + ".txt"));
  DOSSIER_RETURN_IF_ERROR(sink.Write(window.text));
  return sink.Close(window.tokens);
}

}  // namespace dossier::evaluation
