#include "model/client/usage_sum.h"

namespace dossier::model {
namespace {

void AddKnown(const std::optional<std::int64_t>& part, std::optional<std::int64_t>* sum) {
  if (part && *sum) {
    **sum += *part;
  } else {
    sum->reset();
  }
}

void AddTokens(const Usage& more, Usage* sum) {
  sum->input += more.input;
  sum->output += more.output;
  sum->cached += more.cached;
  sum->cache_write += more.cache_write;
  sum->cache_write_long += more.cache_write_long;
  sum->estimated |= more.estimated;
  AddKnown(more.reasoning, &sum->reasoning);
  AddKnown(more.cost_nano_usd, &sum->cost_nano_usd);
}

}  // namespace

void UsageSum::Add(const Usage& usage) {
  ++calls;
  AddTokens(usage, &total);
}

void UsageSum::Add(const UsageSum& more) {
  calls += more.calls;
  AddTokens(more.total, &total);
}

}  // namespace dossier::model
