// Numbers as texts: the one place that says how a measured number, a price or a run time is
// written.
//
//   NumberText(1e-6);      // "1e-06": prompts, files, memory; reads back as the same number
//   RoundedText(0.123456); // "0.1235": pages, and run times for a person
//   UsdText(0.00002);      // "0.00002"
//
// A value that is not 0 is never written as 0. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_NUMBER_TEXT_H_
#define DOSSIER_RESEARCH_FILES_NUMBER_TEXT_H_

#include <string>

namespace dossier::research {

// The shortest text that reads back as the same number; "N/A": it is not finite.
std::string NumberText(double value);

// Four significant digits, more of a large number's whole part; never longer than NumberText.
std::string RoundedText(double value);

// "41.2 s"
std::string SecondsText(double seconds);

// Four decimals, as money is written; more where these would hide the amount.
std::string UsdText(double usd);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_NUMBER_TEXT_H_
