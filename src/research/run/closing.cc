#include "research/run/closing.h"

#include <utility>

#include "research/paper/aggregation.h"
#include "research/paper/citations.h"
#include "research/paper/final_memory.h"
#include "research/paper/review.h"
#include "research/paper/writeup.h"

namespace dossier::research {
namespace {

using Skip = RunOrder::Skip;

// The parts of the end, one after another; each leaves to the next what it found.
class Closing {
 public:
  Closing(const Driver& driver, const RunResults& results, const ReportFacts& facts,
          const CancelToken& cancel)
      : driver_(driver), results_(results), facts_(facts), cancel_(cancel) {}

  Result<Closed> Run() {
    DOSSIER_RETURN_IF_ERROR(Remember());
    if (Asks()) DOSSIER_RETURN_IF_ERROR(Draw());
    DOSSIER_RETURN_IF_ERROR(Report());
    if (!Asks()) return closed_;
    if (driver_.order->until == Step::kPlots) return Stopped();
    DOSSIER_RETURN_IF_ERROR(Write());
    if (closed_.state == Closed::State::kFailed) return closed_;
    if (driver_.order->until == Step::kPaper) return Stopped();
    DOSSIER_RETURN_IF_ERROR(Review());
    return closed_;
  }

 private:
  bool Asks() const { return results_.models == Models::kAsk && facts_.end == RunEnd::kDone; }
  bool Skips(Skip what) const { return research::Skips(*driver_.order, what); }
  Status Keep(std::span<const std::string> warnings) {
    return KeepWarnings(driver_, "run", warnings);
  }
  Closed Stopped() {
    closed_.state = Closed::State::kStopped;
    return closed_;
  }

  Status Remember() {
    if (!driver_.config().final_memory_enabled) return {};
    DOSSIER_ASSIGN_OR_RETURN(const FinalMemory memory,
                             MakeFinalMemory(driver_.services, results_, cancel_));
    parts_.final_memory = memory.text;
    return Keep(memory.warnings);
  }

  Status Draw() {
    if (Skips(Skip::kPlots)) return {};
    DOSSIER_ASSIGN_OR_RETURN(Aggregation made, AggregatePlots(driver_.services, results_, cancel_));
    parts_.figures = std::move(made.figures);
    parts_.aggregator = std::move(made.script);
    return Keep(made.warnings);
  }

  Status Report() {
    if (!driver_.config().generate_report && facts_.end == RunEnd::kDone) return {};
    DOSSIER_ASSIGN_OR_RETURN(closed_.report_path, WriteReport(driver_, results_, facts_, cancel_));
    return {};
  }

  Status Write() {
    if (Skips(Skip::kWriteup)) return {};
    if (!Skips(Skip::kCitations)) {
      DOSSIER_ASSIGN_OR_RETURN(Citations found,
                               GatherCitations(driver_.services, results_, cancel_));
      parts_.citations = std::move(found.entries);
      DOSSIER_RETURN_IF_ERROR(Keep(found.warnings));
    }
    parts_.attempt = driver_.retries;
    DOSSIER_ASSIGN_OR_RETURN(const Paper paper,
                             MakePaper(driver_.services, results_, parts_, cancel_));
    DOSSIER_RETURN_IF_ERROR(Keep(paper.warnings));
    if (!paper.failure.empty()) {
      closed_.state = Closed::State::kFailed;
      closed_.reason = paper.failure;
      return {};
    }
    if (paper.pdf.empty() && !paper.message.empty()) {
      return KeepWarning(driver_, "run", paper.message);
    }
    return {};
  }

  Status Review() {
    if (Skips(Skip::kWriteup) || Skips(Skip::kReview)) return {};
    DOSSIER_ASSIGN_OR_RETURN(const Reviewed done, ReviewPaper(driver_.services, results_, cancel_));
    return Keep(done.warnings);
  }

  const Driver& driver_;
  const RunResults& results_;
  const ReportFacts& facts_;
  const CancelToken& cancel_;
  PaperParts parts_;
  Closed closed_;
};

}  // namespace

Result<Closed> CloseRun(const Driver& driver, const RunResults& results, const ReportFacts& facts,
                        const CancelToken& cancel) {
  return Closing(driver, results, facts, cancel).Run();
}

}  // namespace dossier::research
