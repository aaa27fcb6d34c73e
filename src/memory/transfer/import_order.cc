#include "memory/transfer/import_order.h"

#include <algorithm>
#include <iterator>

namespace dossier::memory {

Seq ImportOrder::PeakUpTo(const Peaks& peaks, Seq at) {
  const auto after = peaks.upper_bound(at);
  return after == peaks.begin() ? 0 : std::prev(after)->second;
}

Seq ImportOrder::PeakUpTo(const std::map<std::int64_t, Peaks>& peaks, std::int64_t branch, Seq at) {
  const auto of_branch = peaks.find(branch);
  return of_branch == peaks.end() ? 0 : PeakUpTo(of_branch->second, at);
}

void ImportOrder::Raise(Peaks& peaks, Seq at, Seq value) {
  peaks[at] = std::max(value, PeakUpTo(peaks, at));
}

void ImportOrder::AddWrite(Seq here, std::int64_t branch, Seq there) {
  Raise(writes_[branch], here, there);
}

void ImportOrder::AddItem(const ImportedItem& item, Seq there) { items_[item].insert(there); }

bool ImportOrder::IsReplaced(const ImportedItem& item, Seq there) {
  const auto rows = items_.find(item);
  if (rows == items_.end()) return false;
  const auto next = rows->second.upper_bound(there);
  if (next == rows->second.end()) return false;
  Raise(left_out_[item.branch], there, *next);
  return true;
}

void ImportOrder::SetHere(Seq there, Seq here) { Raise(here_, there, here); }

Seq ImportOrder::HereUpTo(Seq there) const { return PeakUpTo(here_, there); }

bool ImportOrder::HoldsStateAt(std::int64_t branch, Seq there) const {
  return PeakUpTo(left_out_, branch, there) <= there &&
         PeakUpTo(writes_, branch, HereUpTo(there)) <= there;
}

}  // namespace dossier::memory
