#!/usr/bin/env python3
"""`dossier research` on real ground: an MPI program in C++ through all stages, the paper and its review; jobs
of a real Slurm of two nodes, all on this machine. The model is a script.

research_ground_test.py --dossier PATH [unittest arguments]

Needs Debian's openmpi-bin and libopenmpi-dev; for the second also slurmctld, slurmd, munge, root and PID
namespaces; it loads a module where environment-modules is installed (scripts/setup --research installs all
of them). What is missing is skipped, and said.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import unittest

import harness
from research_test import BLOCK, EXAMPLE, fenced

ASSETS = EXAMPLE.parents[2] / "data" / "research"
TOOLS = ("mpirun", "mpicxx")
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "unshare")

# The area below 4 / (1 + x * x), by all processes together; the first one writes what came out.
PI = r"""
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* seed = std::getenv("DOSSIER_SEED");
  const long steps = STEPS + (seed ? std::atol(seed) : 0);
  const double begin = MPI_Wtime();
  double part = 0, sum = 0;
  for (long i = rank; i < steps; i += size) {
    const double x = (i + 0.5) / steps;
    part += 4 / (1 + x * x) / steps;
  }
  MPI_Reduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  std::printf("rank %d of %d\n", rank, size);
  if (rank == 0) {
    std::FILE* out = std::fopen("working/metrics.json", "w");
    std::fprintf(out, "{\"metric_names\": ["
        "{\"metric_name\": \"error\", \"lower_is_better\": true, \"description\": \"\", "
        "\"data\": [{\"dataset_name\": \"area\", \"value\": %.17g}]},"
        "{\"metric_name\": \"seconds\", \"lower_is_better\": true, \"description\": \"\", "
        "\"data\": [{\"dataset_name\": \"area\", \"value\": %.17g}]},"
        "{\"metric_name\": \"processes\", \"lower_is_better\": false, \"description\": \"\", "
        "\"data\": [{\"dataset_name\": \"area\", \"value\": %d}]}]}",
        std::fabs(sum - M_PI), seconds, size);
    std::fclose(out);
  }
  MPI_Finalize();
}
"""
IDEA = """# How exactly do four processes find pi?
## Abstract
The area below a curve is summed by processes of MPI.
## Short Hypothesis
More steps give a smaller error.
## Experiments
Sum with 1,000 to 1,000,000 steps.
## Risk Factors and Limitations
One machine.
"""
REVIEW = {"Summary": "Pi by MPI.", "Strengths": ["it runs"], "Weaknesses": ["small"], "Originality": 1,
          "Quality": 2, "Clarity": 3, "Significance": 1, "Questions": ["none"], "Limitations": ["one machine"],
          "Ethical Concerns": False, "Soundness": 3, "Presentation": 3, "Contribution": 1, "Overall": 4,
          "Confidence": 4, "Decision": "Reject"}
PLOT = (EXAMPLE / "plot.py").read_text("utf-8")
FIGURE = PLOT.replace('open("working/metrics.json")', 'open(sorted(__import__("glob").glob('
                      '"nodes/*/workspace/working/metrics.json"))[0])').replace(
    '"working/times.png"', '"figures/times.png"')


def program(steps: int, run: str) -> str:
    code = PI.replace("STEPS", str(steps))
    return fenced({"phase_artifacts": {
        "coding": {"workspace": {"files": [{"path": "src/pi.cpp", "content": code}]}},
        "compile": {"build_plan": {"language": "cpp", "compiler_selected": "mpicxx", "cflags": ["-O2"],
                                   "output": "bin/pi"},
                    "commands": ["mkdir -p /workspace/bin && {compiler_selected} {cflags} src/pi.cpp -o {output}"]},
        "run": {"commands": [run], "expected_outputs": ["working/metrics.json"]}}})


def paper() -> str:
    lines = (ASSETS / "paper.tex").read_text("utf-8").replace("@TITLE@", "Pi by four processes").split("\n")
    text = "\n".join("Four processes sum the area." if line.startswith("To be written:") else line
                     for line in lines)
    figure = "\\begin{figure}\\includegraphics[width=4cm]{times.png}\\caption{Error.}\\label{f}\\end{figure}"
    return text.replace("\\section{Discussion}", f"Figure~\\ref{{f}}.\n{figure}\n\\section{{Discussion}}")


def rules(run: str) -> list:
    replies = [
        ("block and nothing else", ""),
        ("Say how the results of all programs", "- error: absolute, lower is better"),
        ("Plan the work on this idea", fenced({"plan": {
            "goal_summary": "sum an area", "implementation_strategy": ["write", "measure"]}})),
        ("Install what the program will need", fenced({"command": "", "done": True})),
        ("Write the first program", program(1000, run)),
        ("The previous program has a fault", program(1000, run)),
        ("The previous program works. Make one change", program(100_000, run)),
        ("Tune the hyperparameter of the tuning idea", program(10_000, run)),
        ("Do the ablation of the ablation idea", program(10, run)),
        ("Choose one hyperparameter to tune", "HYPERPARAM NAME: steps\nDESCRIPTION: ten times as many"),
        ("Choose one part of it to take away", "ABLATION NAME: steps\nABLATION DESCRIPTION: only ten steps"),
        ("A program ran. Decide", fenced({"is_bug": False, "summary": "it sums"})),
        ("Sum up what was learned", fenced({"findings": "the error falls", "significance": "more steps"})),
        ("Write a Python script that draws the results", f"Bars.\n```python\n{PLOT}```"),
        ("ran several times with different random seeds", f"Bars.\n```python\n{PLOT}```"),
        ("Change this program so that its randomness", fenced({"files": [
            {"path": "src/pi.cpp", "content": PI.replace("STEPS", "100000")}]})),
        ("Decide whether the goals of this stage", fenced({
            "is_complete": True, "reasoning": "done", "missing_criteria": []})),
        ("Summarise the experiments of this stage", "More steps help."),
        ("Write the notes that the next stage", "Try more steps."),
        ("draws the figures of the paper", f"```python\n{FIGURE}```"),
        ("Sum up what the nodes of one stage", fenced({
            "Experiment_description": "an area", "Significance": "small", "Description": "MPI",
            "Key_results": ["the error falls"], "Failures": []})),
        ("The paper needs references", fenced({"Query": ""})),
        ("Write the paper about this run", f"```latex\n{paper()}```"),
        ("Look at your paper again", "I am done"),
        ("Review this paper for a conference", "It is short.\n" + fenced(REVIEW)),
        ("Write the report of this run", "# Pi\n\nMore steps give a smaller error."),
    ]
    return [*({"when": said, "reply": BLOCK + reply} for said, reply in replies),
            {"when": "", "reply": BLOCK + "nothing to say"}]


class Ground(harness.Case):
    def research(self, run: str, *more: str, before=(), **options) -> pathlib.Path:
        script = self.write("script.json", json.dumps(rules(run)))
        words = ["research", "run", self.write("idea.md", IDEA), "--run-config", str(EXAMPLE / "config.yaml"),
                 "--model", "code=scripted", "--script", script, "--set", "exec.language=cpp",
                 "--set", "exec.network=never", *more]
        process = subprocess.run([*before, harness.DOSSIER, *words], env=self.env, cwd=self.home,
                                 capture_output=True, text=True, timeout=500, **options)
        self.assertEqual(process.returncode, 0, process.stderr[-4000:])
        return pathlib.Path(process.stdout.strip().splitlines()[-1])

    def nodes(self, folder: pathlib.Path) -> list:
        return [json.loads(path.read_text("utf-8")) for path in folder.glob("nodes/*/node.json")]

    def values(self, node: dict) -> dict:
        return {series["metric_name"]: series["data"][0]["value"] for series in node["metric"] or []}

    def check(self, folder: pathlib.Path) -> None:
        """All stages made good nodes of four processes; there are a paper and its review."""
        nodes = self.nodes(folder)
        good = [node for node in nodes if node["kind"] != "copy" and node["metric"]]
        self.assertEqual({node["kind"] for node in good} & {"draft", "improve", "tuning", "ablation"},
                         {"draft", "improve", "tuning", "ablation"}, [node["kind"] for node in nodes])
        for node in good:
            self.assertEqual(self.values(node)["processes"], 4)
        self.assertLess(min(self.values(node)["error"] for node in good), 1e-9)
        self.assertIn("Pi by four processes", (folder / "paper" / "paper.tex").read_text("utf-8"))
        self.assertTrue((folder / "paper" / "figures" / "times.png").read_bytes().startswith(b"\x89PNG"))
        if shutil.which("latexmk") or shutil.which("pdflatex"):
            self.assertTrue((folder / "paper" / "paper.pdf").read_bytes().startswith(b"%PDF"))
        reviews = [path for path in folder.rglob("*.json") if "review" in path.name]
        self.assertTrue(any('"Reject"' in path.read_text("utf-8") for path in reviews), reviews)


@unittest.skipUnless(all(map(shutil.which, TOOLS)), f"needs {', '.join(TOOLS)}")
class MpiTest(Ground):
    def test_an_mpi_program_goes_through_all_stages_to_a_reviewed_paper(self):  # FLT-64
        self.check(self.research("mpirun -n 4 ./bin/pi"))


CLUSTER = r"""#!/bin/bash
# CLUSTER FOLDER COMMAND…: runs the command beside a Slurm of two nodes, both on this machine, in the PID
# namespace that it is started in, which ends the daemons.
D=$1; shift
export SLURM_CONF=$D/slurm.conf
mkdir -p "$D/munge" "$D/state" "$D/log"
dd if=/dev/urandom of="$D/munge/key" bs=1024 count=1 2>/dev/null && chmod 400 "$D/munge/key"
munged --force --key-file="$D/munge/key" --socket="$D/munge/socket" --pid-file="$D/munge/pid" \
  --log-file="$D/munge/log" --seed-file="$D/munge/seed" || exit 90
slurmctld -c && slurmd -N n1 && slurmd -N n2 || exit 91
timeout 60 sh -c 'until [ "$(sinfo -h -o %T)" = idle ]; do sleep 0.1; done' || { cat "$D"/log/* >&2; exit 92; }
"$@"
"""


@unittest.skipUnless(all(map(shutil.which, (*TOOLS, *DAEMONS))) and os.geteuid() == 0,
                     f"needs root, {', '.join(DAEMONS)}")
class SlurmTest(Ground):
    def cluster(self) -> list:
        """The words that run a command beside a Slurm of its own."""
        ports = []
        for _ in range(3):
            with socket.create_server(("127.0.0.1", 0)) as server:
                ports.append(server.getsockname()[1])
        place, host = self.home / "cluster", socket.gethostname()
        place.mkdir()
        node = "NodeName=n{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=2 State=UNKNOWN"
        (place / "slurm.conf").write_text("\n".join([
            "ClusterName=trial", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
            "AuthType=auth/munge", f"AuthInfo=socket={place}/munge/socket", "CredType=cred/munge",
            "SlurmUser=root", "SlurmdUser=root", f"StateSaveLocation={place}/state",
            f"SlurmdSpoolDir={place}/spool-%n", f"SlurmctldPidFile={place}/ctld.pid",
            f"SlurmdPidFile={place}/slurmd-%n.pid", f"SlurmctldLogFile={place}/log/ctld",
            f"SlurmdLogFile={place}/log/slurmd-%n", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "ReturnToService=2", "MpiDefault=none", "JobAcctGatherType=jobacct_gather/none",
            "AccountingStorageType=accounting_storage/none", node.format(1, host, ports[1]),
            node.format(2, host, ports[2]),
            "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP", ""]))
        script = self.write("cluster.sh", CLUSTER)
        return ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child",
                "bash", script, str(place)]

    def test_jobs_without_a_container_on_two_nodes(self):  # FLT-65
        # By TCP: the two nodes are one machine, whose shared memory MPI would take for each one's own.
        module = pathlib.Path("/etc/profile.d/modules.sh").exists()
        (self.home / "modulefiles").mkdir()
        (self.home / "modulefiles" / "area").write_text("#%Module\nsetenv AREA_LOADED yes\n")
        run = ("srun --mpi=none sh -c 'echo node $SLURM_NODEID $AREA_LOADED' | sort -u > working/nodes.txt && "
               "mpirun --mca btl tcp,self --allow-run-as-root --oversubscribe -n 4 ./bin/pi")
        folder = self.research(
            run, "--backend", "slurm-plain",
            *(["--set", f"exec.modules=[use {self.home}/modulefiles, load area]"] if module else []),
            "--set", "exec.slurm={nodes: '2', ntasks: '2'}", "--set", "agent.multi_seed_eval.num_seeds=1",
            before=self.cluster())
        self.check(folder)
        best = [node for node in self.nodes(folder) if node["kind"] == "draft" and node["metric"]]
        self.assertEqual(len(best), 1, self.nodes(folder))
        nodes = (folder / "nodes" / best[0]["id"] / "workspace" / "working" / "nodes.txt").read_text("utf-8")
        loaded = " yes" if module else " "
        self.assertEqual(nodes, f"node 0{loaded}\nnode 1{loaded}\n")
        self.assertTrue(list(folder.glob("workers/*/jobs/*/script")))


if __name__ == "__main__":
    harness.main()
