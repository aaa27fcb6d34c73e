// The Model Context Protocol over two descriptors: one message per line in both directions.
//
//   DOSSIER_RETURN_IF_ERROR(ServeStdio(catalog, {.in = 0, .out = 1}, cancel));
//
// Returns when the input ends or `cancel` is requested, after cancelling running requests. Only
// messages are written to `out`; the caller keeps other output away from it. A line above the limit
// is refused and skipped. Errors: kIo if reading or writing fails. Thread-safety: one call per pair
// of descriptors.

#ifndef DOSSIER_SERVER_MCP_STDIO_SERVER_H_
#define DOSSIER_SERVER_MCP_STDIO_SERVER_H_

#include <cstddef>

#include "base/cancel.h"
#include "base/result.h"
#include "server/mcp/catalog.h"
#include "server/mcp/connection.h"

namespace dossier::mcp {

struct StdioOptions {
  int in = 0, out = 1;                // stay the caller's
  std::size_t most_line = 64u << 20;  // bytes
  ServerInfo info;
};

Status ServeStdio(ServerOffer& catalog, const StdioOptions& options, const CancelToken& cancel);

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_STDIO_SERVER_H_
