#include "sandbox/walls/overlay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

namespace dossier::sandbox {
namespace {

tl::unexpected<Error> NoOverlay(std::string_view place, std::string_view what, int reason) {
  return MakeError(ErrorCode::kUnavailable, "sandbox: no overlay of {} ({}: {})", place, what,
                   std::strerror(reason));
}

UniqueFd OpenLayer(const std::string& path) {
  return UniqueFd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// Paths may hold the commas and colons that divide options.
std::string Name(const UniqueFd& fd) { return fmt::format("/proc/self/fd/{}", fd.get()); }

}  // namespace

Result<OpenedOverlay> OpenOverlay(const OverlayLayers& layers) {
  OpenedOverlay opened{.place = layers.place};
  for (const std::string& path : layers.lower) {
    UniqueFd fd = OpenLayer(path);
    if (fd.valid()) {
      opened.lower.push_back(std::move(fd));
    } else if (errno != ENOENT) {
      return NoOverlay(layers.place, path, errno);
    }
  }
  if (opened.lower.empty()) return NoOverlay(layers.place, "its layers", ENOENT);
  if (layers.upper.empty()) return opened;
  opened.upper = OpenLayer(layers.upper);
  if (!opened.upper.valid()) return NoOverlay(layers.place, layers.upper, errno);
  opened.work = OpenLayer(layers.work);
  if (!opened.work.valid()) return NoOverlay(layers.place, layers.work, errno);
  return opened;
}

Status MountOverlay(const OpenedOverlay& overlay, const std::string& place) {
  unsigned long flags = MS_NOSUID | MS_NODEV;
  if (!overlay.upper.valid() && overlay.lower.size() == 1) {  // nothing to lay over another
    if (mount(Name(overlay.lower[0]).c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0) {
      return {};
    }
    return NoOverlay(overlay.place, "mount", errno);
  }
  std::string options = "userxattr,index=off,lowerdir=";
  for (const UniqueFd& lower : overlay.lower) {
    if (!options.ends_with('=')) options.push_back(':');
    options += Name(lower);
  }
  if (overlay.upper.valid()) {
    // volatile: the end of the mount would else wait until the whole file system is on its disk.
    options +=
        fmt::format(",volatile,upperdir={},workdir={}", Name(overlay.upper), Name(overlay.work));
  } else {
    flags |= MS_RDONLY;
  }
  if (mount("overlay", place.c_str(), "overlay", flags, options.c_str()) == 0) return {};
  return NoOverlay(overlay.place, "mount", errno);
}

}  // namespace dossier::sandbox
