#include "research/call/caller.h"

#include "research/call/call_parts.h"
#include "research/call/call_run.h"

namespace dossier::research {
namespace {

Result<const CallSite*> SiteOf(const CallRequest& request) {
  if (const CallSite* site = FindCallSite(request.site)) return site;
  return MakeError(ErrorCode::kInternal, "no call site {}", request.site);
}

class LayoutCaller final : public RoleCaller {
 public:
  explicit LayoutCaller(std::unique_ptr<CallParts> parts) : parts_(std::move(parts)) {}

  Result<CallOutcome> Call(const CallRequest& request, const CancelToken& cancel) override {
    DOSSIER_ASSIGN_OR_RETURN(const CallSite* const site, SiteOf(request));
    return CallRun(*parts_, *site, request, cancel).Run();
  }

  Result<JsonObject> Preview(const CallRequest& request) override {
    DOSSIER_ASSIGN_OR_RETURN(const CallSite* const site, SiteOf(request));
    return CallRun(*parts_, *site, request, CancelToken()).Preview();
  }

 private:
  const std::unique_ptr<CallParts> parts_;
};

}  // namespace

Result<std::unique_ptr<RoleCaller>> RoleCaller::Open(CallerOptions options) {
  if (!options.clock) options.clock = SystemClock();
  DOSSIER_ASSIGN_OR_RETURN(auto parts, CallParts::Load(std::move(options)));
  return std::make_unique<LayoutCaller>(std::move(parts));
}

}  // namespace dossier::research
