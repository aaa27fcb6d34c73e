// The offer of `dossier mcp`: the operations of a workspace as tools, its contexts, runs and packs
// as resources, and three prompts.
//
//   WorkspaceCatalog catalog(*workspace, {.tools = {"open", "search", "read"}});
//   DOSSIER_RETURN_IF_ERROR(ServeStdio(catalog, {}, cancel));
//
// Text of files, code and models is put into a data fence whose id is random per process. A result
// above the workspace's token limit is cut at a line, with a note. Errors: kUsage for an unknown
// tool, with the nearest. Thread-safety: all methods from any thread. Ownership: the workspace must
// outlive it.

#ifndef DOSSIER_SERVER_MCP_WORKSPACE_CATALOG_H_
#define DOSSIER_SERVER_MCP_WORKSPACE_CATALOG_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "server/mcp/catalog.h"
#include "server/workspace.h"

namespace dossier::mcp {

class WorkspaceCatalog final : public ServerOffer {
 public:
  // `tools`: the offered names; empty: all.
  static Result<std::unique_ptr<WorkspaceCatalog>> Make(server::Workspace& workspace,
                                                        std::vector<std::string> tools);

  std::string Instructions() const override;
  JsonArray Tools() const override;
  RpcResult CallTool(std::string_view name, const Json& arguments,
                     const CallContext& call) override;
  JsonArray Resources(const CallContext& call) const override;
  JsonArray ResourceTemplates() const override;
  RpcResult ReadResource(std::string_view uri, const CallContext& call) override;
  JsonArray Prompts() const override;
  RpcResult GetPrompt(std::string_view name, const JsonObject& arguments) override;
  std::vector<std::string> Complete(const JsonObject& ref, std::string_view argument,
                                    std::string_view value, const CallContext& call) const override;
  std::uint64_t Watch(Changed changed) override;
  void Forget(std::uint64_t watch) override;

 private:
  WorkspaceCatalog(server::Workspace& workspace, std::vector<std::string> tools);

  bool Offers(std::string_view tool) const;
  // Joins the parts to one text: fenced, and cut if it is too long.
  std::string Render(const server::Output& output, std::string_view whole) const;
  std::string Fenced(std::string_view text) const;
  Result<std::string> ResourceText(std::string_view path, std::string_view query,
                                   const CallContext& call);

  // Shared with the runs, which may outlive this object.
  struct Watchers {
    std::mutex mutex;
    std::map<std::uint64_t, Changed> all;
    std::uint64_t last = 0;
  };

  server::Workspace& workspace_;
  const std::vector<std::string> tools_;
  const std::string boundary_;
  const std::shared_ptr<Watchers> watchers_;
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_WORKSPACE_CATALOG_H_
