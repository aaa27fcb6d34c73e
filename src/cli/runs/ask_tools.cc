#include "cli/runs/ask_tools.h"

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "inspect/describe/describe.h"
#include "sources/commands/context_command.h"

namespace dossier::cli {

Result<std::vector<ask::Tool>> ReadAskTools(const AskArguments& arguments, ToolCallRule calls) {
  if (arguments.tools.empty()) return std::vector<ask::Tool>();
  auto text = ReadRegularFile(arguments.tools, kMaxYamlBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return tl::unexpected(ExplainMissing(std::move(text.error()), arguments.tools));
  }
  if (!text) {
    return MakeError(ErrorCode::kConfig, "--tools {}: {}", arguments.tools, text.error().message);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      std::vector<ask::Tool> tools,
      ask::ReadTools(*text, arguments.tools,
                     sources::CommandEnvironment(sources::CurrentEnvironment(), {}, {})));
  if (calls == ToolCallRule::kMade) return tools;
  for (ask::Tool& tool : tools) {  // code that diverged may call one that has no recorded reply
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
                       arguments.sub_tools, arguments.tools, name, Join(known, ", "));
    }
    names->push_back(name);
  }
  return names;
}

namespace {

// A file that begins as an image may have been cut off: a provider would refuse it late, or a
// model make something up.
Status CheckHasSize(const std::string& given, const std::string& place,
                    const assembly::Block& image, const CancelToken& cancel) {
  std::string bytes;
  AppendBase64(image.text, &bytes);
  DOSSIER_ASSIGN_OR_RETURN(const inspect::Description about,
                           inspect::Describe(*inspect::MemorySource(bytes, place), {}, cancel));
  const bool sized =
      std::ranges::any_of(about.details, [](const auto& detail) { return detail.name == "width"; });
  if (sized) return {};
  return MakeError(ErrorCode::kDamaged,
                   "--media {}: {} is damaged: its width and height cannot be read; `dossier "
                   "inspect {}` says more",
                   given, place, place);
}

Result<ask::Medium> ReadMedium(const std::string& given, Network network,
                               const CancelToken& cancel) {
  const std::size_t equals = given.find('=');
  const std::string place = equals == given.npos ? "" : given.substr(equals + 1);
  if (place.empty() || place == "-") {
    return MakeError(ErrorCode::kUsage, "--media {}: give NAME=PATH or NAME=URL", given);
  }
  DOSSIER_ASSIGN_OR_RETURN(Attachments read, ReadAttachments({place}, network, cancel));
  if (read.images.size() != 1) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "--media {}: {} is no image (PNG, JPEG, GIF, WebP); a text is a context: "
                     "-c {}",
                     given, place, place);
  }
  DOSSIER_RETURN_IF_ERROR(CheckHasSize(given, place, read.images.front(), cancel));
  return ask::MakeMedium(given.substr(0, equals), place, std::move(read.images.front()));
}

}  // namespace

Result<std::vector<ask::Medium>> ReadAskMedia(const AskArguments& arguments,
                                              const OpenedModel& model, Network network,
                                              store::ContentStore& content,
                                              const CancelToken& cancel) {
  std::vector<ask::Medium> media;
  for (const std::string& given : arguments.media) {
    DOSSIER_ASSIGN_OR_RETURN(ask::Medium medium, ReadMedium(given, network, cancel));
    if (std::ranges::find(media, medium.name, &ask::Medium::name) != media.end()) {
      return MakeError(ErrorCode::kUsage, "--media {}: there are two images of this name", given);
    }
    media.push_back(std::move(medium));
  }
  if (media.empty()) return media;
  const auto takes = [](const driver::BoundModel& one) {
    return one.entry.capability.image_tokens.has_value();
  };
  const bool any =
      takes(model.sub) || (model.child && takes(*model.child)) ||
      std::ranges::any_of(model.named, [&](const auto& named) { return takes(named.second); });
  if (!any) {
    return MakeError(ErrorCode::kConfig,
                     "--media {}: {}; choose one that does with --sub-model or --named-model",
                     arguments.media.front(), ask::CheckTakesImages(model.sub).error().message);
  }
  DOSSIER_RETURN_IF_ERROR(ask::StoreMedia(media, content));
  return media;
}

}  // namespace dossier::cli
