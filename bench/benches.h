// The groups of figures that dossier_bench can measure.

#ifndef DOSSIER_BENCH_BENCHES_H_
#define DOSSIER_BENCH_BENCHES_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::bench {

// cell.first, python.start, cell.round_trip, bridge.round_trip, bridge.llm_query,
// socketpair.round_trip.
Status RunSandboxBench();

// jail.true, jail.true_without_namespaces, jail.spawn and, if bubblewrap is installed, jail.bwrap.
Status RunJailBench();

// "completions": engine.completion, engine.completion_with_load; "batch": engine.batch;
// "children": engine.children_N_MS, runs whose code starts N children with replies after MS. Keeps
// its journal in `folder`.
Status RunEngineBench(const std::string& folder, std::string_view part);

// CPU seconds, for cl100k_base and o200k_base: tokens.NAME.mixed of `file`; a, space, han, base64
// of a million bytes; first_mb of `file`, and append of 100 bytes behind it.
Status RunTokensBench(const std::string& file);

// CPU seconds, with o200k_base: assembly.many of 1,000 sections and a million bytes of `file` into
// 100,000 tokens; assembly.forty of 40 sections that fit, with assembly.copy_and_hash of their
// bytes; and assembly.peak, bytes of memory that the first one added.
Status RunAssemblyBench(const std::string& file);

// Context commands. CPU seconds of starting 50 of them, and as many plain ones: commands.start_cpu,
// spawn.start_cpu. Wall seconds of 1, 10, 50 that sleep 0.5 s: commands.sleep_N. Bytes by which
// memory grows for 8 times 50 MB of output: commands.memory.
Status RunCommandsBench();

// A turn added to a stored conversation of 50 MB in `folder`, beside a copy of its file that is
// synced: CPU and wall seconds conversation.append_cpu, append_wall, copy_cpu, copy_wall; and
// conversation.memory, bytes by which memory grows for loading it and adding to it.
Status RunConversationBench(const std::string& folder);

// 10,000 requests of 600 bytes, 64 in flight, to a server that answers at once; seconds of a
// request: model.gate_cpu, model.gate_wall, model.curl_cpu, model.curl_wall. model.held_bytes:
// resident bytes of each of 10,000 requests in flight.
Status RunModelBench();

// CPU seconds over the inputs of repository.py in `folder`: repository.edn of 10,000 tasks,
// repository.notes of 10,000 notes, repository.emit of one header and repository.emit_yaml_cpp of
// the same data; repository.git_starts of 100 headers; repository.next_header of a large
// repository, after the first header of a run.
Status RunRepositoryBench(const std::string& folder);

// Ranked search over FOLDER/texts.jsonl and queries.jsonl. The first run in a folder makes the
// store: CPU seconds memory.load. Later ones: CPU seconds of a query, the 50 best, in a batch of
// all, memory.search, and of the first search of a view, memory.first; bytes by which memory grows
// for that one, memory.peak. The `ref`s found are in FOLDER/hits.jsonl, a list a query.
// `embedding`, unless it is "", is a folder with weights.safetensors and tokenizer.json of a model
// for vectors.
Status RunMemoryBench(const std::string& folder, const std::string& embedding);

// A memory store beside a bare FTS5 table in the same journal mode. CPU seconds of 100,000 texts of
// 74 bytes: memory.load, memory.fts5_load. Wall seconds of 8 processes that write 250 texts each,
// one a transaction: memory.single, memory.fts5_single. CPU seconds of a fork and a look at it:
// memory.fork_empty, memory.fork_full (under 100,000 events).
Status RunMemoryStoreBench();

// CPU seconds of a new view of 10,000 rows, rendered into 24,000 code points: memory.render.
Status RunRenderBench();

// A staged run. CPU seconds: research.prompt of the longest prompt over a memory of 10,000 rows,
// research.memory of that memory alone, research.run of a run of at least 50 nodes whose calls and
// commands take no time; research.calls: how many calls to models it made. `true` in the local
// sandbox, start to stop, and behind unshare: research.sandbox, research.unshare, and with _cpu.
// Wall seconds of a run of 24 nodes whose calls take 50 ms: research.slots_1, research.slots_4, by
// slots at once, and research.slots_1_calls. Of a run ended at its 500th node: CPU seconds
// research.resume to its first new event and research.plain of reading its journal by SQL; bytes
// research.memory_of_100_nodes.
Status RunResearchBench();

// The public library, for bench/engines: asks what each line of stdin says, {url, context,
// question, turns, depth}, and prints {"answer": TEXT} or {"error": TEXT}. Runs are recorded in
// `folder`.
Status RunLibraryBench(const std::string& folder);

// That server for others: prints its port, and ends with its stdin.
Status RunInstantServer();

}  // namespace dossier::bench

#endif  // DOSSIER_BENCH_BENCHES_H_
