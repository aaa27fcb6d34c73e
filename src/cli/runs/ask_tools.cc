#include "cli/runs/ask_tools.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/net/named_place.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {

namespace {

Result<std::vector<ask::Tool>> ReadToolsFile(const AskArguments& arguments) {
  if (arguments.tools.empty()) return std::vector<ask::Tool>();
  auto text = ReadRegularFile(arguments.tools, kMaxYamlBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return tl::unexpected(ExplainMissing(std::move(text.error()), arguments.tools));
  }
  if (!text) {
    return MakeError(ErrorCode::kConfig, "--tools {}: {}", arguments.tools, text.error().message);
  }
  return ask::ReadTools(*text, arguments.tools,
                        sources::CommandEnvironment(sources::CurrentEnvironment(), {}, {}));
}

}  // namespace

Result<std::vector<ask::Tool>> ReadAskTools(const AskArguments& arguments, WantedServers servers,
                                            const config::Config& config,
                                            const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<ask::Tool> tools, ReadToolsFile(arguments));
  servers.names = arguments.servers;
  DOSSIER_ASSIGN_OR_RETURN(auto more, ServerTools(servers, config, cancel));
  std::ranges::move(more, std::back_inserter(tools));
  DOSSIER_RETURN_IF_ERROR(ask::CheckToolNames(tools));
  if (servers.use == ServerUse::kCalled) return tools;
  for (ask::Tool& tool : tools) {  // diverging code may call a tool without a recorded reply
    tool.run = [](const JsonObject&, const CancelToken&) -> Result<Json> {
      return MakeError(ErrorCode::kUnavailable, "a comparison calls no tool");
    };
  }
  return tools;
}

Result<std::optional<std::vector<std::string>>> ChildToolsOf(const AskArguments& arguments,
                                                             const std::vector<ask::Tool>& tools) {
  std::optional<std::vector<std::string>> names;
  if (arguments.sub_tools == "inherit") return names;
  names.emplace();
  if (arguments.sub_tools == "none") return names;
  for (const std::string_view piece : Split(arguments.sub_tools, ',')) {
    const std::string name(TrimSpace(piece));
    if (std::ranges::find(tools, name, &ask::Tool::name) == tools.end()) {
      std::vector<std::string> known;
      for (const ask::Tool& tool : tools) known.push_back(tool.name);
      return MakeError(ErrorCode::kConfig,
                       "--sub-tools {}: {} has no tool \"{}\"; there are: {} (or say inherit, or "
                       "none)",
                       arguments.sub_tools,
                       arguments.tools.empty() ? Join(arguments.servers, ",") : arguments.tools,
                       name, Join(known, ", "));
    }
    names->push_back(name);
  }
  return names;
}

namespace {

Result<ask::Medium> ReadMedium(const std::string& given, Network network,
                               const CancelToken& cancel) {
  const std::size_t equals = given.find('=');
  const std::string place = equals == given.npos ? "" : given.substr(equals + 1);
  if (place.empty() || place == "-") {
    return MakeError(ErrorCode::kUsage, "--media {}: give NAME=PATH or NAME=URL", given);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string bytes,
                           ReadNamedPlace(place, ask::kMaxImage, network, cancel));
  auto medium = ask::MediumOf(given.substr(0, equals), place, bytes, cancel);
  if (medium) return medium;
  const Error& error = medium.error();
  std::string_view more;
  if (error.code == ErrorCode::kInvalidArgument) more = "; a text is a context: -c ";
  if (error.code == ErrorCode::kDamaged) more = "; more is said by dossier inspect ";
  return MakeError(error.code, "--media {}: {}{}{}", given, error.message, more,
                   more.empty() ? "" : place);
}

}  // namespace

Result<std::vector<ask::Medium>> ReadAskMedia(const AskArguments& arguments,
                                              const OpenedModel& model, Network network,
                                              const CancelToken& cancel) {
  std::vector<ask::Medium> media;
  for (const std::string& given : arguments.media) {
    DOSSIER_ASSIGN_OR_RETURN(ask::Medium medium, ReadMedium(given, network, cancel));
    media.push_back(std::move(medium));
    if (const Status differ = ask::CheckNamesDiffer(media); !differ) {
      return MakeError(ErrorCode::kUsage, "--media {}: {}", given, differ.error().message);
    }
  }
  if (media.empty()) return media;
  std::vector<const driver::BoundModel*> asked{&model.sub};
  if (model.child) asked.push_back(&*model.child);
  for (const auto& [name, named] : model.named) asked.push_back(&named);
  if (const Status takes = ask::CheckSomeTakesImages(asked); !takes) {
    return MakeError(ErrorCode::kConfig,
                     "--media {}: {}; choose one that does with --sub-model or --named-model",
                     arguments.media.front(), takes.error().message);
  }
  return media;
}

}  // namespace dossier::cli
