#include "app/memory_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "app/open_chat_model.h"
#include "assembly/assemble.h"
#include "base/random.h"
#include "base/text/text.h"
#include "driver/caller.h"
#include "model/client/ledger.h"

namespace dossier::app {
namespace {

using memory::RatedItem;
using memory::SummaryRequest;

// What a call needs; the functions of a summarizer share one.
class MemoryModel {
 public:
  MemoryModel(driver::BoundModel model, assembly::AssetFolders folders, CancelToken cancel)
      : model_(std::move(model)),
        folders_(std::move(folders)),
        cancel_(std::move(cancel)),
        ledger_({}, SystemClock()),
        caller_(ledger_, SystemClock()) {}

  Result<std::string> Summarize(const SummaryRequest& request) {
    const std::string most = std::to_string(request.max_chars);
    if (request.purpose == SummaryRequest::Purpose::kConsolidate) {
      return Ask("memory.consolidate", {{.name = "events", .content = request.text}},
                 {{"kind", request.hint}, {"max_chars", most}}, request.max_chars);
    }
    std::vector<assembly::Section> sections = {{.name = "text", .content = request.text}};
    if (!request.context.empty()) {
      sections.push_back({.name = "context", .content = request.context});
    }
    return Ask("memory.compress", sections, {{"hint", request.hint}, {"max_chars", most}},
               request.max_chars);
  }

  Result<std::vector<int>> Rate(const std::vector<RatedItem>& items) {
    std::string facts;
    for (std::size_t i = 0; i < items.size(); ++i) {
      facts += fmt::format("{}. {}: {}\n", i + 1, items[i].key, items[i].value);
    }
    constexpr std::int64_t kTokensOfRating = 4;  // "3, "
    constexpr std::int64_t kTokensAround = 64;   // brackets, and a fence
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string reply,
        Ask("memory.rate", {{.name = "facts", .content = std::move(facts)}},
            {{"count", std::to_string(items.size())}},
            kTokensAround + kTokensOfRating * static_cast<std::int64_t>(items.size())));
    return ReadRatings(reply, items.size());
  }

 private:
  // `most_tokens`: a code point is at most one token in most texts, so characters will do.
  Result<std::string> Ask(std::string_view layout_name,
                          const std::vector<assembly::Section>& sections,
                          std::map<std::string, std::string> values, std::int64_t most_tokens) {
    const assembly::Capability& capability = model_.entry.capability;
    const std::int64_t output = std::min<std::int64_t>(most_tokens, capability.max_output);
    DOSSIER_ASSIGN_OR_RETURN(const assembly::Layout layout,
                             assembly::FindLayout(std::string(layout_name), folders_));
    DOSSIER_ASSIGN_OR_RETURN(
        const assembly::Assembled prompt,
        assembly::Assemble(layout, sections, {.reserve_output = output}, capability,
                           *model_.counter,
                           {.variables = std::move(values),
                            .boundary = assembly::MakeBoundary(SystemEntropy()),
                            .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel}));
    model::Request request = driver::RequestTo(model_, prompt, model::Purpose::kCompact);
    request.sampling = {.max_output = output};
    const driver::Called called = caller_.Ask(model_, std::move(request), {}, cancel_);
    if (!called.reply) return tl::unexpected(called.reply.error());
    const std::string_view text = TrimSpace(called.reply->text);
    if (text.empty()) {
      return MakeError(ErrorCode::kNetwork, "the model returned no text (finish reason {})",
                       model::FinishName(called.reply->finish));
    }
    return std::string(text);
  }

  const driver::BoundModel model_;
  const assembly::AssetFolders folders_;
  const CancelToken cancel_;
  model::Ledger ledger_;
  driver::Caller caller_;
};

}  // namespace

Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindFolders& folders,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel) {
  const bool by_config = settings.model.empty() && memory_config.use_llm_compression.value_or(true);
  if (by_config) settings.model = memory_config.model;
  if (settings.model.empty()) return memory::Summarizer();
  DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model,
                           OpenChatModel(std::move(settings), config, say, cancel));
  DOSSIER_ASSIGN_OR_RETURN(assembly::AssetFolders found, folders());
  memory::Summarizer summarizer{.model = model.stored,
                                // Half the window: the rest is for the instruction and the reply.
                                .window_chars = model.entry.capability.window / 2};
  const auto shared = std::make_shared<MemoryModel>(std::move(model), std::move(found), cancel);
  summarizer.summarize = [shared](const SummaryRequest& request) {
    return shared->Summarize(request);
  };
  summarizer.rate = [shared](const std::vector<RatedItem>& items) { return shared->Rate(items); };
  return summarizer;
}

Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count) {
  const auto wrong = [&] {
    return MakeError(ErrorCode::kProtocol, "the reply is no list of {} whole numbers from 1 to 5",
                     count);
  };
  const std::size_t begin = reply.find('['), end = reply.rfind(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return wrong();
  }
  const auto list = ParseJson(reply.substr(begin, end - begin + 1));
  if (!list || !list->is_array() || list->as_array().size() != count) return wrong();
  std::vector<int> ratings;
  for (const Json& item : list->as_array()) {
    if (!item.is_int64() || item.as_int64() < 1 || item.as_int64() > 5) return wrong();
    ratings.push_back(static_cast<int>(item.as_int64()));
  }
  return ratings;
}

}  // namespace dossier::app
