#include "research/run/idea.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::research {
namespace {

constexpr std::string_view kTitle = "Title";
constexpr std::string_view kExperiments = "Experiments";
constexpr std::string_view kRisks = "Risk Factors and Limitations";

struct Heading {
  std::string_view name;
  enum class Need : std::uint8_t { kRequired, kOptional } need;
  std::string_view other = {};  // alternative name
};

constexpr std::array kHeadings = {
    Heading{kTitle, Heading::Need::kRequired},
    Heading{"Abstract", Heading::Need::kRequired},
    Heading{"Short Hypothesis", Heading::Need::kRequired},
    Heading{"Task goal", Heading::Need::kOptional},
    Heading{"Evaluation", Heading::Need::kOptional, "Task evaluation"},
    Heading{kExperiments, Heading::Need::kRequired},
    Heading{kRisks, Heading::Need::kRequired},
    Heading{"Code", Heading::Need::kOptional},
    Heading{"Related Work", Heading::Need::kOptional},
};

constexpr std::string_view kExample =
    "# Title\n"
    "Which of three sorting programs in C is fastest here, and why?\n\n"
    "## Abstract\n"
    "Three ways to sort 32-bit numbers are written in C and timed on one machine.\n\n"
    "## Short Hypothesis\n"
    "Radix sort wins from a million numbers on.\n\n"
    "## Experiments\n"
    "Sort 1,000 to 10,000,000 random numbers with each program, five times.\n\n"
    "## Risk Factors and Limitations\n"
    "Timings of small inputs are noisy.\n";

// Treats "short_hypothesis" and "Short Hypothesis" as the same name.
std::string Folded(std::string_view name) {
  std::string out;
  for (const char c : ToLowerAscii(name)) {
    if (c != '_' && c != ' ' && c != '\t') out += c;
  }
  return out;
}

const Heading* FindHeading(std::string_view name) {
  const std::string folded = Folded(name);
  const auto found = std::find_if(kHeadings.begin(), kHeadings.end(), [&](const Heading& heading) {
    return folded == Folded(heading.name) ||
           (!heading.other.empty() && folded == Folded(heading.other));
  });
  return found == kHeadings.end() ? nullptr : &*found;
}

struct MarkdownHeading {
  std::size_t level = 0;  // 1 to 6; 0: not a heading
  std::string_view text;
};

MarkdownHeading ReadHeading(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > 6 || (level < line.size() && line[level] != ' ' && line[level] != '\t'))
    return {};
  std::string_view text = TrimSpace(line.substr(level));
  while (text.ends_with('#')) text.remove_suffix(1);
  return {level, TrimSpace(text)};
}

// A code fence, inside which `#` does not start a heading.
class Fence {
 public:
  bool Holds(std::string_view line) {
    const std::string_view text = TrimSpace(line);
    const bool mark = text.starts_with("```") || text.starts_with("~~~");
    if (open_.empty()) {
      if (mark) open_ = text.substr(0, text.find_first_not_of(text.front()));
      return mark;
    }
    if (text.starts_with(open_) && text.find_first_not_of(open_.front()) == text.npos) open_ = {};
    return true;
  }

 private:
  std::string_view open_;
};

// Collects the text under each heading. A heading below a known part belongs to its text.
class MarkdownReader {
 public:
  std::vector<Idea::Part> Read(std::string_view text) {
    Fence fence;
    for (const std::string_view line : Split(text, '\n')) {
      const MarkdownHeading heading = fence.Holds(line) ? MarkdownHeading{} : ReadHeading(line);
      if (heading.level == 0 || !Begins(heading)) body_ += fmt::format("{}\n", line);
    }
    Finish();
    return std::move(parts_);
  }

 private:
  bool Begins(const MarkdownHeading& heading) {
    std::string_view name = heading.text, rest;
    // "# Title: Sorting" has both in one line.
    const auto colon = name.find(':');
    if (colon != name.npos && FindHeading(name.substr(0, colon))) {
      rest = TrimSpace(name.substr(colon + 1));
      name = name.substr(0, colon);
    }
    const Heading* known = FindHeading(name);
    if (!known && level_ > 0 && heading.level > level_) return false;
    Finish();
    level_ = heading.level;
    name_ = std::string(known ? known->name : name);
    body_ = rest.empty() ? "" : fmt::format("{}\n", rest);
    if (!known && heading.level == 1 && parts_.empty()) {
      // The document's own heading is the title, unless a heading "Title" follows.
      parts_.push_back({std::string(kTitle), Json(name)});
      named_by_heading_ = true;
      level_ = 0;
      name_.clear();
    }
    return true;
  }

  void Finish() {
    const std::string text(TrimSpace(body_));
    body_.clear();
    if (name_.empty()) {
      if (!text.empty()) parts_.push_back({"Introduction", Json(text)});
      return;
    }
    if (name_ == kTitle && named_by_heading_) {
      std::erase_if(parts_, [](const Idea::Part& part) { return part.name == kTitle; });
      named_by_heading_ = false;
    }
    parts_.push_back({std::exchange(name_, {}), Json(text)});
  }

  std::vector<Idea::Part> parts_;
  std::string name_, body_;
  std::size_t level_ = 0;
  bool named_by_heading_ = false;
};

Result<std::vector<Idea::Part>> ReadJson(std::string_view text, std::string_view file) {
  auto json = ParseJson(text);
  if (!json) return MakeError(ErrorCode::kDamaged, "{}: {}", file, json.error().message);
  // A list with one idea is a common form.
  if (json->is_array() && json->as_array().size() == 1) *json = Json(json->as_array().front());
  if (!json->is_object()) {
    return MakeError(ErrorCode::kDamaged, "{}: an idea is one JSON object", file);
  }
  std::vector<Idea::Part> parts;
  for (const auto& [key, value] : json->as_object()) {
    const Heading* known = FindHeading(key);
    parts.push_back({std::string(known ? known->name : std::string_view(key)), value});
  }
  return parts;
}

bool IsEmpty(const Json& value) {
  if (value.is_string()) return TrimSpace(std::string_view(value.as_string())).empty();
  if (value.is_array()) return value.as_array().empty();
  if (value.is_object()) return value.as_object().empty();
  return value.is_null();
}

std::string AsText(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : ToJson(value);
}

Status CheckComplete(const Idea& idea, std::string_view file) {
  std::vector<std::string> missing;
  for (const Heading& heading : kHeadings) {
    if (heading.need == Heading::Need::kOptional) continue;
    const Json* value = idea.Find(heading.name);
    const bool there = heading.name == kTitle ? !idea.title.empty() : value && !IsEmpty(*value);
    if (!there) missing.emplace_back(heading.name);
  }
  if (missing.empty()) return {};
  return MakeError(ErrorCode::kDamaged,
                   "{}: the idea lacks {}; a complete one looks like this:\n\n{}", file,
                   Join(missing, ", "), kExample);
}

// Returns known parts in their fixed order, followed by the others.
Result<Idea> Ordered(std::vector<Idea::Part> parts, std::string_view file) {
  Idea idea;
  for (const Heading& heading : kHeadings) {
    std::optional<Json> value;
    for (Idea::Part& part : parts) {
      if (part.name != heading.name) continue;
      if (value) {
        return MakeError(ErrorCode::kDamaged, "{}: {} is there twice", file, heading.name);
      }
      value = std::move(part.value);
    }
    if (!value) continue;
    if (heading.name == kTitle) {
      idea.title = std::string(TrimSpace(AsText(*value)));
    } else {
      idea.parts.push_back({std::string(heading.name), std::move(*value)});
    }
  }
  for (Idea::Part& part : parts) {
    if (!FindHeading(part.name) && !IsEmpty(part.value)) idea.parts.push_back(std::move(part));
  }
  return idea;
}

}  // namespace

const Json* Idea::Find(std::string_view name) const {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &found->value;
}

std::string Idea::Text(std::string_view name) const {
  const Json* value = Find(name);
  return value ? AsText(*value) : "";
}

Result<Idea> ReadIdea(std::string_view text, std::string_view file) {
  if (text.size() > kMaxIdeaBytes) {
    return MakeError(ErrorCode::kTooLong, "{}: {} bytes; an idea has at most {}", file, text.size(),
                     kMaxIdeaBytes);
  }
  if (!utf8::IsValid(text)) return MakeError(ErrorCode::kDamaged, "{}: it is not UTF-8", file);
  std::vector<Idea::Part> parts;
  const std::string_view trimmed = TrimSpace(text);
  if (trimmed.starts_with('{') || trimmed.starts_with('[')) {
    DOSSIER_ASSIGN_OR_RETURN(parts, ReadJson(trimmed, file));
  } else {
    parts = MarkdownReader().Read(text);
  }
  DOSSIER_ASSIGN_OR_RETURN(Idea idea, Ordered(std::move(parts), file));
  DOSSIER_RETURN_IF_ERROR(CheckComplete(idea, file));
  return idea;
}

Json IdeaSection(const Idea& idea) {
  JsonObject out{{kTitle, idea.title}};
  for (const Idea::Part& part : idea.parts) {
    if (!IsEmpty(part.value)) out[part.name] = part.value;
  }
  return out;
}

JsonObject IdeaJson(const Idea& idea) {
  JsonObject out{{kTitle, idea.title}};
  for (const Idea::Part& part : idea.parts) out[part.name] = part.value;
  return out;
}

std::string_view ExampleIdea() { return kExample; }

}  // namespace dossier::research
