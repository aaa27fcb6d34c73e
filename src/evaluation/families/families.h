// The families, one function each; family.cc has the table of them.
//
//   const Family& family = AggregateFamily();
//
// Thread-safety: immutable objects and pure functions.

#ifndef DOSSIER_EVALUATION_FAMILIES_FAMILIES_H_
#define DOSSIER_EVALUATION_FAMILIES_FAMILIES_H_

#include "evaluation/family.h"

namespace dossier::evaluation {

const Family& AggregateFamily();
const Family& CodeFamily();
const Family& HopsFamily();
const Family& InjectFamily();
const Family& LogsFamily();
const Family& LongFamily();
const Family& NeedleFamily();
const Family& PairsFamily();
const Family& RulerFamily();
const Family& TablesFamily();

// The second gold path of aggregate: SQL over the labelled file, one text per kind of question.
Result<std::unique_ptr<Prover>> ProveAggregate(const Task& task, const TaskSet& set,
                                               const Relabel& relabel);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILIES_FAMILIES_H_
