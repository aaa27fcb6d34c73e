#include "sources/pack/pack_fit.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace dossier::sources {
namespace {

class Fitter {
 public:
  Fitter(std::int64_t tokens, std::vector<PackedFile>* files) : left_(tokens), files_(*files) {
    for (const PackedFile& file : files_) left_ -= TokensOf(file, file.form);
  }

  void Run() {
    if (left_ >= 0) return;
    const std::vector<std::size_t> order = LeastFirst();
    for (std::size_t begin = 0; begin < order.size() && left_ < 0;) {
      std::size_t end = begin;
      while (end < order.size() && files_[order[end]].priority == files_[order[begin]].priority)
        ++end;
      for (const Form form : {Form::kOutline, Form::kNames}) {
        for (std::size_t i = begin; i < end && left_ < 0; ++i) Change(order[i], form);
      }
      begin = end;
    }
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const Form form : {Form::kFull, Form::kOutline}) BringBack(*i, form);
    }
  }

 private:
  // Lowest priority, then most tokens, then latest.
  std::vector<std::size_t> LeastFirst() const {
    std::vector<std::size_t> order(files_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(files_[a].priority, -files_[a].full_tokens) <
             std::make_tuple(files_[b].priority, -files_[b].full_tokens);
    });
    return order;
  }

  void Change(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (form <= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    left_ += TokensOf(file, file.form) - TokensOf(file, form);
    file.form = form;
    // A file that had another reason to be left out keeps it.
    if (file.why == LeftOut::kNothing || form == Form::kNames) file.why = LeftOut::kBudget;
  }

  void BringBack(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (file.why != LeftOut::kBudget || form >= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    const std::int64_t more = TokensOf(file, form) - TokensOf(file, file.form);
    if (more > left_) return;
    left_ -= more;
    file.form = form;
    if (form == Form::kFull) file.why = LeftOut::kNothing;
  }

  std::int64_t left_;
  std::vector<PackedFile>& files_;
};

}  // namespace

std::int64_t TokensOf(const PackedFile& file, Form form) {
  switch (form) {
    case Form::kFull:
      return file.full_tokens;
    case Form::kOutline:
      return file.outline.empty() ? 0 : file.outline_tokens;
    case Form::kNames:
      break;
  }
  return 0;
}

void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files) { Fitter(tokens, files).Run(); }

}  // namespace dossier::sources
