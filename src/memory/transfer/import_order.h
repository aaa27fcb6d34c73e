// Compares the order of an import's writes in the store that it comes from ("there") with the order
// in which they were stored here. Branches and writes here are ids and numbers of this store.
//
//   ImportOrder order;
//   order.AddWrite(/*here=*/7, branch, /*there=*/3);
//   order.AddItem({branch, "key a"}, /*there=*/3);
//   order.IsReplaced({branch, "key a"}, /*there=*/1);   // true: it would be the newest here
//   order.HoldsStateAt(branch, /*there=*/2);            // false: what write 1 set is left out
//
// Thread-safety: one owner.

#ifndef DOSSIER_MEMORY_TRANSFER_IMPORT_ORDER_H_
#define DOSSIER_MEMORY_TRANSFER_IMPORT_ORDER_H_

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "memory/records/types.h"

namespace dossier::memory {

// Something of which the newest row of a branch counts: a key of core, or the hiding of a record.
struct ImportedItem {
  std::int64_t branch = 0;
  std::string name;
  std::strong_ordering operator<=>(const ImportedItem&) const = default;
};

class ImportOrder {
 public:
  // A write that is here, in the order of `here`.
  void AddWrite(Seq here, std::int64_t branch, Seq there);
  void AddItem(const ImportedItem& item, Seq there);
  // Whether a newer row of the item is here. Notes that the row is left out if so.
  bool IsReplaced(const ImportedItem& item, Seq there);

  // Sets the write here that represents `there`.
  void SetHere(Seq there, Seq here);
  // Returns the newest write here among those that represent the writes there up to `there`.
  Seq HereUpTo(Seq there) const;
  // Whether a fork of the branch at HereUpTo(there) shows what it showed there: no row is left out
  // in favour of a later one, and no later write was stored before.
  bool HoldsStateAt(std::int64_t branch, Seq there) const;

 private:
  // For each number, the largest value up to it.
  using Peaks = std::map<Seq, Seq>;
  static Seq PeakUpTo(const Peaks& peaks, Seq at);
  static Seq PeakUpTo(const std::map<std::int64_t, Peaks>& peaks, std::int64_t branch, Seq at);
  static void Raise(Peaks& peaks, Seq at, Seq value);

  std::map<ImportedItem, std::set<Seq>> items_;  // numbers there
  std::map<std::int64_t, Peaks> writes_;         // by branch: here -> newest there
  std::map<std::int64_t, Peaks> left_out_;       // by branch: there -> what replaces it there
  Peaks here_;                                   // there -> here
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_TRANSFER_IMPORT_ORDER_H_
