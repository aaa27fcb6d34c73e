#include "research/files/replies.h"

#include <algorithm>

#include "ask/reply/fences.h"
#include "base/text/text.h"
#include "research/files/relaxed_json.h"

namespace dossier::research {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// From the first { to the last }; nothing without both.
std::string_view BetweenBraces(std::string_view text) {
  const std::size_t begin = text.find('{'), end = text.rfind('}');
  return begin == kNone || end == kNone || end < begin ? std::string_view()
                                                       : text.substr(begin, end - begin + 1);
}

Result<JsonReply> ReadObject(std::string_view json) {
  if (json.find_first_of("{[") == kNone) {
    return MakeError(ErrorCode::kInvalidArgument, "the reply holds no JSON object");
  }
  auto read = ParseRelaxedJson(json);
  if (!read) {
    return MakeError(ErrorCode::kInvalidArgument, "the JSON of the reply is wrong at {}",
                     read.error().message);
  }
  // A list of one stands for that one.
  if (auto* list = read->value.if_array(); list && list->size() == 1) {
    Json only = std::move(list->front());
    read->value = std::move(only);
  }
  if (!read->value.is_object()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply is JSON, but no object: begin it with '{{'");
  }
  JsonReply reply{.value = std::move(read->value)};
  if (read->repaired == RelaxedJson::Repaired::kYes) {
    reply.warnings.emplace_back("payload_repaired: the reply was no JSON; read as Python literals");
  }
  return reply;
}

bool IsOneOf(std::string_view tag, std::span<const std::string_view> tags) {
  return std::ranges::find(tags, tag) != tags.end();
}

// The one fence whose tag is among `tags`; a fence without a tag counts if it is the only one.
Result<CodeFence> OnlyFence(std::string_view payload, std::span<const std::string_view> tags) {
  std::vector<CodeFence> fences = CodeFences(payload);
  if (fences.size() != 1 || !fences[0].tag.empty()) {
    std::erase_if(fences, [&](const CodeFence& fence) { return !IsOneOf(fence.tag, tags); });
  }
  if (fences.size() != 1) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the reply holds {} fences of {}; write exactly one, around everything",
                     fences.empty() ? "no" : std::to_string(fences.size()), tags.front());
  }
  if (TrimSpace(fences[0].code).empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "the fence of {} is empty", tags.front());
  }
  return std::move(fences[0]);
}

// Behind "PREFIX:" at the start of `line`; markup of Markdown around the prefix is passed over.
std::optional<std::string_view> Behind(std::string_view line, std::string_view prefix) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t*#_-"), line.size()));
  if (line.size() <= prefix.size()) return std::nullopt;
  if (ToLowerAscii(line.substr(0, prefix.size())) != ToLowerAscii(prefix)) return std::nullopt;
  line.remove_prefix(prefix.size());
  const std::size_t colon = line.find_first_not_of(" \t*_");
  if (colon == kNone || line[colon] != ':') return std::nullopt;
  line.remove_prefix(colon + 1);
  line.remove_prefix(std::min(line.find_first_not_of('*'), line.size()));
  return TrimSpace(line);
}

}  // namespace

std::vector<CodeFence> CodeFences(std::string_view text) {
  std::vector<CodeFence> fences;
  std::optional<ask::FenceMark> open;
  for (const ask::Line& line : ask::SplitLines(text)) {
    if (open && ask::ClosesFence(line.text, *open)) {
      open.reset();
    } else if (open) {
      fences.back().code += std::string(line.text) + "\n";
    } else {
      open = ask::OpeningFence(line.text);
      if (open) fences.push_back({.tag = ask::FenceTag(open->info), .begin = line.begin});
    }
  }
  return fences;
}

Result<JsonReply> ReadJsonReply(std::string_view payload) {
  return ReadObject(CodeFences(payload).empty() ? TrimSpace(payload) : BetweenBraces(payload));
}

Result<JsonReply> ReadThoughtAndJson(std::string_view payload) {
  const std::vector<CodeFence> fences = CodeFences(payload);
  return fences.empty() ? ReadObject(BetweenBraces(payload)) : ReadObject(fences.back().code);
}

std::vector<std::optional<std::string>> ReadKeywords(std::string_view payload,
                                                     std::span<const std::string_view> prefixes) {
  std::vector<std::optional<std::string>> values(prefixes.size());
  std::optional<std::size_t> current;
  const auto add = [&](std::string_view text) {
    text = TrimSpace(text);
    if (!current || text.empty()) return;
    std::string& value = *values[*current];
    if (!value.empty()) value += ' ';
    value += text;
  };
  for (const ask::Line& line : ask::SplitLines(payload)) {
    std::optional<std::string_view> rest;
    for (std::size_t i = 0; i < prefixes.size() && !rest; ++i) {
      rest = Behind(line.text, prefixes[i]);
      if (rest) current = i;
    }
    if (!rest) {
      add(line.text);
    } else if (values[*current]) {
      current.reset();  // said again: the first one holds
    } else {
      values[*current].emplace();
      add(*rest);
    }
  }
  return values;
}

std::vector<std::string_view> KeywordsOf(std::string_view joined) { return Split(joined, '|'); }

Result<PlanAndScript> ReadPython(std::string_view payload) {
  constexpr std::string_view kTags[] = {"python", "py", "python3"};
  DOSSIER_ASSIGN_OR_RETURN(CodeFence fence, OnlyFence(payload, kTags));
  return PlanAndScript{.plan = std::string(TrimSpace(payload.substr(0, fence.begin))),
                       .script = std::move(fence.code)};
}

Result<std::string> ReadLatex(std::string_view payload) {
  constexpr std::string_view kTags[] = {"latex", "tex"};
  DOSSIER_ASSIGN_OR_RETURN(CodeFence fence, OnlyFence(payload, kTags));
  if (fence.code.find("\\begin{document}") == kNone) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "the fence of latex holds no \\begin{{document}}; write the whole file");
  }
  return std::move(fence.code);
}

bool SaysDone(std::string_view payload) {
  return ToLowerAscii(payload).find("i am done") != kNone && CodeFences(payload).empty();
}

}  // namespace dossier::research
