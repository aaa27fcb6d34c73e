#include "app/section_makers.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "app/context_setup.h"
#include "app/memory_setup.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "memory/render/render.h"
#include "sources/header/header_source.h"
#include "sources/header/json_fields.h"

namespace dossier::app {
namespace {

using sources::Into, sources::JsonField, sources::JsonPlace, sources::ReadFlagAs;
using sources::ReadText, sources::ReadWholeFrom, sources::ReadWordOf, sources::UnknownKeys;

// Makes a section `{source: header, with: {task: ID, mode: review, window: 3m, with: [dirty]}}`.
Result<std::optional<std::string>> MakeHeader(const SectionMakerParts& parts, const Json& with) {
  Clock::Wall now = SystemClock()->WallNow();
  if (!parts.now.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(now, ParseTime(parts.now));
  }
  DOSSIER_ASSIGN_OR_RETURN(sources::AgentsConfig agents, parts.agents());
  DOSSIER_ASSIGN_OR_RETURN(const auto request, sources::ReadHeaderRequest(with, now));
  sources::DoneTasks done = parts.done_tasks ? parts.done_tasks(agents) : sources::DoneTasks();
  sources::HeaderSource source(".", std::move(agents), parts.cancel, std::move(done));
  DOSSIER_ASSIGN_OR_RETURN(const auto state, source.Collect(request));
  for (const std::string& warning : state.warnings) {
    if (parts.warn) parts.warn(warning);
  }
  return ToYaml(state.header);
}

// The request in `with` of a section `source: memory`.
struct SectionWish {
  enum class Show { kAll, kCore, kRest } show = Show::kAll;
  std::string store, query_variable;
  std::string branch = std::string(memory::kRootBranch);
  std::optional<std::uint64_t> at, budget;
  memory::RenderRequest render;
};

constexpr std::string_view kShows[] = {"all", "core", "rest"};
constexpr std::string_view kHelps[] = {"long", "short"};  // as memory::HelpForm

// Reads a text, or {var: NAME} set by -D.
Status ReadQuery(const JsonPlace& at, SectionWish* out) {
  if (!at.value.is_object()) return ReadText(at, &out->render.query);
  const auto name = FindString(at.value, "var");
  if (!name) return at.Fail("a text or {var: NAME}");
  out->query_variable = *name;
  return {};
}

using memory::RenderRequest;
using StatusLine = RenderRequest::StatusLine;

// In the order in which an error lists them.
constexpr JsonField<SectionWish> kMemoryFields[] = {
    {"store", Into<ReadText, &SectionWish::store>},    // a file; default: as for `dossier memory`
    {"branch", Into<ReadText, &SectionWish::branch>},  // default: root
    {"at", Into<ReadWholeFrom<0>, &SectionWish::at>},  // the state at that seq
    {"query", ReadQuery},
    {"hint", Into<ReadText, &SectionWish::render, &RenderRequest::hint>},
    {"show", Into<ReadWordOf<kShows>, &SectionWish::show>},
    {"budget", Into<ReadWholeFrom<0>, &SectionWish::budget>},  // code points
    {"status", Into<ReadFlagAs<StatusLine::kYes, StatusLine::kNo>, &SectionWish::render,
                    &RenderRequest::status_line>},
    {"help", Into<ReadWordOf<kHelps>, &SectionWish::render, &RenderRequest::help>},
};

// Returns none if there is no such store.
Result<std::optional<std::string>> MakeMemory(const SectionMakerParts& parts, const Json& with,
                                              const driver::SectionValues& values) {
  SectionWish wish;
  if (!with.is_null()) {
    DOSSIER_RETURN_IF_ERROR(
        ReadJsonFields<SectionWish>(with, "with", kMemoryFields, UnknownKeys::kRefused, &wish));
  }
  const auto given = values.find(wish.query_variable);
  if (given != values.end()) wish.render.query = given->second;
  wish.render.query = TrimSpace(wish.render.query);
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, parts.config());
  DOSSIER_ASSIGN_OR_RETURN(const MemoryConfig settings, ReadMemoryConfig(config));
  const memory::StoreLimits& limits = settings.limits;
  wish.render.budget.chars =
      static_cast<std::int64_t>(wish.budget.value_or(limits.memory_budget_chars));
  const std::string path = MemoryStorePath(wish.store, config, memory::OpenMode::kExisting);
  if (!Exists(path)) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options, StoreOptionsOf(settings, config, path));
  DOSSIER_ASSIGN_OR_RETURN(const auto store, memory::Store::Open(std::move(options)));
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, store->Snapshot(wish.branch, wish.at));
  if (wish.show == SectionWish::Show::kAll) {
    DOSSIER_ASSIGN_OR_RETURN(memory::Rendered rendered, memory::Render(view, limits, wish.render));
    return std::move(rendered.text);
  }
  DOSSIER_ASSIGN_OR_RETURN(memory::Injection made,
                           memory::Inject(view, limits, {.render = wish.render}));
  return wish.show == SectionWish::Show::kCore ? std::move(made.core) : std::move(made.rest);
}

// Returns the output of one command of `context_commands`, as in the context of a conversation. A
// layout can only name configured commands, and a project's need a person's trust.
Result<std::optional<std::string>> MakeCommand(const SectionMakerParts& parts, const Json& with) {
  std::string name;
  constexpr JsonField<std::string> kFields[] = {{"name", ReadText}};
  DOSSIER_RETURN_IF_ERROR(
      ReadJsonFields<std::string>(with, "source: command", kFields, UnknownKeys::kRefused, &name));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, parts.config());
  DOSSIER_ASSIGN_OR_RETURN(PreparedContext prepared, PrepareContext({}, config));
  const auto& commands = prepared.setup.commands;
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const auto& command) { return command.name == name; });
  if (found == commands.end()) {
    return MakeError(ErrorCode::kConfig,
                     "source: command: context_commands has none of the name \"{}\"; write with: "
                     "{{name: NAME}}",
                     name);
  }
  const auto index = static_cast<std::size_t>(found - commands.begin());
  chat::CommandContext context(std::move(prepared.setup));
  const auto counter = tokens::MakeCharCounter();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();  // the layout cuts it
  DOSSIER_ASSIGN_OR_RETURN(chat::Gathered gathered,
                           context.Gather({{index}}, {*counter, kMost}, parts.cancel));
  for (const std::string& warning : gathered.warnings) {
    if (parts.warn) parts.warn(warning);
  }
  return std::move(gathered.blocks.front().text);
}

}  // namespace

driver::SectionMakers SectionMakersFor(SectionMakerParts parts) {
  const auto shared = std::make_shared<const SectionMakerParts>(std::move(parts));
  return {
      {"header", [shared](const Json& with,
                          const driver::SectionValues&) { return MakeHeader(*shared, with); }},
      {"environment",
       [](const Json&, const driver::SectionValues&) -> Result<std::optional<std::string>> {
         const sources::HeaderEnvironment machine = sources::ProbeEnvironment();
         return fmt::format("os: {}\nsandbox: {}\nnetwork: {}\ntools: {}", machine.os,
                            machine.sandbox, machine.network, Join(machine.tools, ", "));
       }},
      {"command", [shared](const Json& with,
                           const driver::SectionValues&) { return MakeCommand(*shared, with); }},
      {"memory", [shared](const Json& with, const driver::SectionValues& values) {
         return MakeMemory(*shared, with, values);
       }}};
}

}  // namespace dossier::app
