// The viewer page: one HTML file for a browser, which loads nothing.
//
//   const std::string html = ViewerPage(data);       // viewer_data.h
//
// Its policy allows the one script and the one style in it, by their hashes, and no address at all;
// stored text stands escaped. Thread-safety: pure.

#ifndef DOSSIER_MEMORY_RENDER_VIEWER_PAGE_H_
#define DOSSIER_MEMORY_RENDER_VIEWER_PAGE_H_

#include <string>
#include <string_view>

#include "memory/render/viewer_data.h"

namespace dossier::memory {

std::string ViewerPage(const ViewerData& data);

// `&`, `<`, `>` and quotes as entities; control characters but line ends and tabs as U+FFFD.
std::string EscapeHtml(std::string_view text);
// JSON that may stand in a script element: `<`, `>` and `&` as \u escapes.
std::string EscapeForScript(std::string_view json);

// What a content security policy calls a script or style of exactly this text: 'sha256-…'.
std::string HashSource(std::string_view text);

// Internal: viewer_assets.cc.
std::string_view ViewerStyle();
std::string_view ViewerScript();

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RENDER_VIEWER_PAGE_H_
