// The routes of the viewer's page, and for monitoring: /healthz and /metrics.

#include <utility>

#include "base/files/locations.h"
#include "server/http/routes.h"

namespace dossier::server {
namespace {

// Content policy: nothing from other hosts, no inline code, no framing.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Page {
  std::string_view address, file, type;
};
constexpr Page kPages[] = {
    {"/", "data/viewer/index.html", "text/html; charset=utf-8"},
    {"/viewer.js", "data/viewer/viewer.js", "text/javascript; charset=utf-8"},
    {"/viewer.css", "data/viewer/viewer.css", "text/css; charset=utf-8"}};

void SendPage(const std::shared_ptr<Call>& call, const Page& page) {
  call->ReplyText(200, std::string(page.type), std::string(BuiltInAsset(page.file).value_or("")),
                  {{"Content-Security-Policy", std::string(kPolicy)},
                   {"Referrer-Policy", "no-referrer"},
                   {"X-Frame-Options", "DENY"}});
}

void Health(const Shared& shared, const std::shared_ptr<Call>& call, Clock::Steady began) {
  const bool ends = shared.draining.cancelled();
  const auto up =
      std::chrono::duration_cast<std::chrono::seconds>(shared.front.clock().Now() - began);
  call->Reply(ends ? 503 : 200, JsonObject{{"status", ends ? "draining" : "ok"},
                                           {"version", shared.options.version},
                                           {"uptime_s", up.count()},
                                           {"store", shared.store ? "postgresql" : "local"},
                                           {"sandbox", shared.options.workspace.pool.mode ==
                                                               sandbox::IsolationMode::kStrict
                                                           ? "strict"
                                                           : "degraded"},
                                           {"running", shared.front.work().running()},
                                           {"queue", shared.front.work().waiting()}});
}

void SendMetrics(const Shared& shared, const std::shared_ptr<Call>& call) {
  Metrics& metrics = shared.front.metrics();
  metrics.Set("runs_running", {}, static_cast<double>(shared.front.work().running()));
  metrics.Set("queue_depth", {}, static_cast<double>(shared.front.work().waiting()));
  // Only an admin sees the usage and spending of others.
  std::optional<std::string> owner;
  if (!call->key().Has(Scope::kAdmin)) owner = call->key().owner();
  call->ReplyText(200, "text/plain; version=0.0.4; charset=utf-8", metrics.Text(owner));
}

}  // namespace

std::vector<Route> PageRoutes(Shared shared) {
  const auto began = shared.front.clock().Now();
  std::vector<Route> routes{
      {"GET",
       "/healthz",
       std::nullopt,
       [shared, began](std::shared_ptr<Call> call) { Health(shared, call, began); },
       {}},
      {"GET",
       "/metrics",
       Scope::kRead,
       [shared](std::shared_ptr<Call> call) { SendMetrics(shared, call); },
       {}}};
  if (shared.options.viewer == ServeOptions::Viewer::kNone) return routes;
  for (const Page& page : kPages) {
    routes.push_back({"GET",
                      std::string(page.address),
                      std::nullopt,
                      [&page](std::shared_ptr<Call> call) { SendPage(call, page); },
                      {}});
  }
  return routes;
}

}  // namespace dossier::server
