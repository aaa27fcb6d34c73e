// Claims all runs of a shared store's queue as fast as workers can, and prints claims a second.
//
//   dossier_queue_claims postgresql:///… THREADS
//
// Each thread is a worker with a connection of its own, opened before the clock starts.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "store/postgres/run_queue.h"

using dossier::store::RunQueue;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "use: %s ADDRESS THREADS\n", words[0]);
    return 2;
  }
  const int threads = std::atoi(words[2]);
  std::vector<std::unique_ptr<RunQueue>> queues;
  for (int i = 0; i < threads; ++i) {
    auto queue = RunQueue::Open(words[1]);
    if (!queue) {
      std::fprintf(stderr, "%s\n", queue.error().message.c_str());
      return 1;
    }
    queues.push_back(std::move(*queue));
  }
  std::vector<long> claimed(static_cast<std::size_t>(threads), 0);
  std::latch begin(threads + 1);
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    workers.emplace_back([&, i] {
      begin.arrive_and_wait();
      while (true) {
        const auto claim = queues[i]->Take("bench-" + std::to_string(i), {});
        if (!claim || !*claim) return;
        ++claimed[i];
      }
    });
  }
  begin.arrive_and_wait();
  const auto start = std::chrono::steady_clock::now();
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  long all = 0;
  for (const long one : claimed) all += one;
  std::printf("%ld %.3f %.0f\n", all, took.count(), static_cast<double>(all) / took.count());
  return 0;
}
