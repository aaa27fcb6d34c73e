// The data of the viewer page: every branch with everything it ever held, and the range of writes
// during which it was there.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ViewerData data, GatherViewer(*store, {}));
//   WriteFile(path, ViewerPage(data));
//
// Secrets are replaced, as in an export. Thread-safety: plain data; GatherViewer as the store.

#ifndef DOSSIER_MEMORY_RENDER_VIEWER_H_
#define DOSSIER_MEMORY_RENDER_VIEWER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/store/store.h"

namespace dossier::memory {

// The writes during which something was there: from `from` up to, but not including, `to`. A `to`
// of 0 means that it is still there.
struct SeqSpan {
  Seq from = 0;
  Seq to = 0;

  bool Holds(Seq seq) const { return from <= seq && (to == 0 || seq < to); }
  bool operator==(const SeqSpan&) const = default;
};

struct ViewerItem {
  std::string label;  // a key, "#12 turn"
  std::string text;
  std::string note;  // tags, time, branch; "": none
  std::vector<SeqSpan> spans;
};

struct ViewerBranch {
  std::string name, parent, node, time;
  int depth = 0;  // in the branch tree
  Seq fork_seq = 0;
  Seq seq = 0;  // the write that created it
  std::vector<ViewerItem> own_core, inherited_core, events, archival, summaries, exclusions;
};

struct ViewerPhase {
  std::string phase;  // "": unknown
  std::int64_t reads = 0, writes = 0, forks = 0;
};

struct ViewerWrite {
  Seq seq = 0;
  std::string time, branch, op;
};

struct ViewerNode {
  std::string name;
  double score = 0;
  std::string summary;
};

// Data that a run knows and the store does not; gathering it never writes to the store.
struct ViewerExtras {
  std::vector<ViewerNode> best_nodes;             // best first
  std::map<std::string, std::int64_t> reads;      // by phase
  std::map<std::string, std::string> node_names;  // by id: display names
};

struct ViewerData {
  std::string store_id;
  Seq newest = 0;
  // In tree order. Branches whose parent is missing are at the end, under a virtual parent that has
  // no data.
  std::vector<ViewerBranch> branches;
  std::vector<ViewerPhase> phases;
  std::vector<ViewerWrite> writes;
  std::vector<ViewerNode> best_nodes;
};

inline constexpr std::string_view kVirtualRoot = "(no parent)";

Result<ViewerData> GatherViewer(const Store& store, const ViewerExtras& extras);

// The viewer page: one HTML file for a browser that loads nothing else.
//
//   const std::string html = ViewerPage(data);
//
// Its content security policy allows, by hash, only its one script and one style, and no address.
// Stored text is escaped. Thread-safety: pure.

std::string ViewerPage(const ViewerData& data);

// Internal: viewer_assets.cc.
std::string_view ViewerStyle();
std::string_view ViewerScript();

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RENDER_VIEWER_H_
