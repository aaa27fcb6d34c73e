#include "sandbox/walls/session_filters.h"

#include <algorithm>

namespace dossier::sandbox {
namespace {

// Above every process id and descriptor, and no flag or command that a rule compares with.
constexpr std::uint32_t kFirstMarker = 0x7055'1e00;
constexpr std::size_t kPidMarker = 0;
constexpr std::size_t kFirstFdMarker = 1;
constexpr std::size_t kMarkers = kFirstFdMarker + SessionFilters::kMostPrivateFds;

constexpr int MarkerValue(std::size_t marker) { return static_cast<int>(kFirstMarker + marker); }

}  // namespace

void SessionFilters::Form::Set(std::size_t marker, std::uint32_t value) {
  for (const std::size_t at : places[marker]) program[at].k = value;
}

SessionFilters::Form SessionFilters::MakeForm(FilterProgram program) {
  Form form{.program = std::move(program),
            .places = std::vector<std::vector<std::size_t>>(kMarkers)};
  for (std::size_t at = 0; at < form.program.size(); ++at) {
    const sock_filter& instruction = form.program[at];
    const std::uint32_t marker = instruction.k - kFirstMarker;
    const bool compares = instruction.code == (BPF_JMP | BPF_JEQ | BPF_K);
    if (compares && marker < kMarkers) form.places[marker].push_back(at);
  }
  return form;
}

SessionFilters SessionFilters::Assemble() {
  const auto common = [](FileAccess files) {
    return MakeForm(AssembleFilter(CommonRules({.pid = MarkerValue(kPidMarker), .files = files}),
                                   FilterAction::Kill()));
  };
  std::vector<int> fds;
  for (std::size_t i = 0; i < kMostPrivateFds; ++i) fds.push_back(MarkerValue(kFirstFdMarker + i));
  SessionFilters filters;
  filters.walled_ = common(FileAccess::kReadWrite);
  filters.read_only_ = common(FileAccess::kReadOnly);
  filters.threads_ = MakeForm(AssembleFilter(ThreadRules(fds), FilterAction::Allow()));
  return filters;
}

Status SessionFilters::Fill(const Session& session) {
  std::vector<int> fds = session.private_fds;
  std::erase_if(fds, [](int fd) { return fd < 0; });
  if (fds.size() > kMostPrivateFds) {
    return MakeError(ErrorCode::kInternal, "{} private descriptors; the filter has places for {}",
                     fds.size(), kMostPrivateFds);
  }
  for (Form* form : {&walled_, &read_only_}) {
    form->Set(kPidMarker, static_cast<std::uint32_t>(session.pid));
  }
  // A place that is not needed repeats a descriptor, or names one that cannot be.
  fds.resize(kMostPrivateFds, fds.empty() ? -1 : fds.front());
  for (std::size_t i = 0; i < kMostPrivateFds; ++i) {
    threads_.Set(kFirstFdMarker + i, static_cast<std::uint32_t>(fds[i]));
  }
  return {};
}

}  // namespace dossier::sandbox
