// How much of the context some model has been shown (REC-39).
//
//   Coverage coverage(views);
//   coverage.AddSlice(0, 1000, 500);          // bytes of document 0
//   coverage.AddText(prompt);                 // lines of 20 and more characters, matched by hash
//   double share = coverage.Share();          // 0 to 1, of bytes
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_RECURSION_COVERAGE_H_
#define DOSSIER_RECURSION_COVERAGE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dossier::recursion {

class Coverage {
 public:
  // The views must outlive the object.
  explicit Coverage(std::vector<std::string_view> documents);

  void AddSlice(std::size_t document, std::uint64_t at, std::uint64_t length);
  void AddText(std::string_view text);
  double Share() const;
  // True once anything was added: models took part at all.
  bool used() const;

 private:
  struct Place {
    std::uint32_t document;
    std::uint64_t at, length;
  };
  void BuildIndex();
  void Insert(std::size_t document, std::uint64_t begin, std::uint64_t end);

  const std::vector<std::string_view> documents_;
  mutable std::mutex mutex_;
  bool used_ = false, indexed_ = false;
  std::vector<std::map<std::uint64_t, std::uint64_t>> shown_;  // begin -> end, disjoint
  std::unordered_multimap<std::uint64_t, Place> lines_;        // hash of a line -> where it stands
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_COVERAGE_H_
