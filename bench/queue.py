#!/usr/bin/env python3
"""The queue of the shared store, in one run on a PostgreSQL of its own (its disk synced as usual).

    bench/queue.py --bin build/release/bin [--claims 4000] [--runs 40]

Claims a second with 1, 8 and 32 workers beside pgbench with the same statement, over the same rows, in
turns; two workers against one, a model that takes half a second; and how long after the death of a
worker another one has its run, beyond the lease.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/acceptance/scripts"))
import harness          # noqa: E402
import postgres_case    # noqa: E402

CLAIM = """\\set w random(1, 1000000)
UPDATE runs SET state='running', epoch=epoch+1, worker='w'||:w, lease_until=now()+interval '60 s' \
WHERE id=(SELECT id FROM runs WHERE state='queued' AND not_before<=now() \
ORDER BY priority DESC, created_at, id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING *;
"""


class Bench(postgres_case.PostgresCase):
    SETTINGS = ()

    def runTest(self):
        pass


def fill(cluster, count: int):
    cluster.sql(f"TRUNCATE runs; INSERT INTO runs(id, owner, state, request) SELECT "
                f"'20260101-000000-'||lpad(to_hex(n), 8, '0'), 'ann', 'queued', '{{}}' FROM generate_series(1, {count}) n")
    cluster.sql("VACUUM ANALYZE runs")


def ours(bench, program, workers: int, claims: int) -> float:
    fill(bench.cluster, claims)
    out = subprocess.run([program, bench.cluster.url, str(workers)], check=True,
                         capture_output=True, text=True).stdout.split()
    assert int(out[0]) == claims, out
    return float(out[2])


def theirs(bench, workers: int, claims: int) -> float:
    fill(bench.cluster, claims)
    script = bench.write("claim.sql", CLAIM)
    out = subprocess.run([str(postgres_case.PROGRAMS / "pgbench"), "-n", "-M", "prepared", "-f", script,
                          "-c", str(workers), "-j", str(min(workers, 2)), "-t",
                          str(claims // workers), "-h", str(bench.cluster.folder), "-U", "postgres",
                          "postgres"], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([\d.]+) \(without", out)[1])


def throughput(bench, workers: int, runs: int) -> float:
    bench.cluster.sql("TRUNCATE runs, events")
    queued = [bench.put(number) for number in range(1, runs + 1)]
    started = [bench.start(*bench.worker_words("--slots", "2", cache=f"cache-{n}"),
                           stderr=subprocess.DEVNULL) for n in range(workers)]
    begin = time.monotonic()
    bench.wait_until_ended(queued, 600)
    took = time.monotonic() - begin
    for one in started:
        bench.end(one)
    return runs / took


def takeover(bench, lease: int) -> float:
    """Seconds from the death of a worker to the claim of the next."""
    bench.cluster.sql("TRUNCATE runs, events")
    bench.model.hold.clear()
    bench.model.held.clear()
    run = bench.put(9)
    first = bench.start(*bench.worker_words("--lease", f"{lease}s"), stderr=subprocess.DEVNULL)
    assert bench.model.held.wait(60)
    second = bench.start(*bench.worker_words("--lease", f"{lease}s", cache="cache-2"),
                         stderr=subprocess.DEVNULL)
    time.sleep(1)   # it is at its wait
    first.kill()
    died = time.monotonic()
    while bench.cluster.sql(f"SELECT epoch FROM runs WHERE id='{run}'") != [["2"]]:
        time.sleep(0.05)
    took = time.monotonic() - died
    bench.model.hold.set()
    bench.wait_until_ended([run], 60)
    bench.end(second)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--claims", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    harness.DOSSIER = str(pathlib.Path(given.bin).resolve() / "dossier")
    program = str(pathlib.Path(given.bin).resolve() / "dossier_queue_claims")
    bench = Bench()
    bench.setUp()
    try:
        code, _, err = bench.run_to_end("runs", "list", "--store", bench.cluster.url)
        assert code == 0, err
        for workers in (1, 8, 32):
            claims = given.claims if workers > 1 else given.claims // 4
            claims -= claims % workers
            pairs = [(ours(bench, program, workers, claims), theirs(bench, workers, claims))
                     for _ in range(3)]
            mine, peer = (statistics.median(side) for side in zip(*pairs))
            print(f"claims/s, {workers:2} workers: {mine:7.0f}, pgbench {peer:7.0f}: "
                  f"{mine / peer:.2f}", flush=True)
        bench.model.delay = 0.5
        one, two = throughput(bench, 1, given.runs), throughput(bench, 2, given.runs)
        print(f"runs/s: one worker {one:.2f}, two {two:.2f}: {two / one:.2f}", flush=True)
        bench.model.delay = 0
        lease = 5
        print(f"takeover: {takeover(bench, lease):.1f} s with a lease of {lease} s")
    finally:
        bench.doCleanups()


if __name__ == "__main__":
    main()
