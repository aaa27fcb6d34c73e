"""A run of bench/run as one HTML page, as JSON and as a picture: three files that need nothing else."""

import dataclasses
import html
import json
import math
import pathlib
import shutil
import subprocess

from figure import Figure

_WIDTH, _LEFT, _LINE = 900, 430, 18   # of the picture, in its units
_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse } td, th { padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: left;
vertical-align: top } .met { color: #1a7f37 } .MISSED { color: #b42318; font-weight: 600 } .why { color: #666 }
svg { max-width: 100%; height: auto }
"""


def write(figures: list[Figure], machine: dict, folder: pathlib.Path) -> None:
    """page.json, page.md, report.html and ratios.svg (.png, where rsvg-convert is) below `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = picture(figures)
    (folder / "page.json").write_text(as_json(figures, machine), encoding="utf-8")
    (folder / "page.md").write_text(markdown(figures, machine), encoding="utf-8")
    (folder / "ratios.svg").write_text(shown, encoding="utf-8")
    (folder / "report.html").write_text(page(figures, machine, shown), encoding="utf-8")
    if converter := shutil.which("rsvg-convert"):
        subprocess.run([converter, "-o", str(folder / "ratios.png"), str(folder / "ratios.svg")], check=False)


def as_json(figures: list[Figure], machine: dict) -> str:
    rows = []
    for figure in figures:
        row = dataclasses.asdict(figure) | {"metric": figure.metric, "verdict": figure.verdict, "raw": figure.rounds}
        rows.append(row | {"rounds": len(figure.rounds)})
    missing = [{"peer": figure.peer or figure.what, "why": figure.problem} for figure in figures if figure.problem]
    return json.dumps({"schema": "dossier.bench/1", "machine": machine, "rows": rows, "missing": missing},
                      ensure_ascii=False, indent=1) + "\n"


def markdown(figures: list[Figure], machine: dict) -> str:
    """The same table for a page of text."""
    lines = ["# Dossier beside other engines", "", "; ".join(f"{name}: {value}" for name, value in machine.items()), "",
             "| group | what | ours | beside | ratio | goal | |", "|" + " --- |" * 7]
    for figure in figures:
        cells = (figure.group, figure.what, figure.ours, f"not measured: {figure.problem}" if figure.problem else figure.peer,
                 figure.ratio_text, figure.goal, figure.verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def ratios_of(figures: list[Figure]) -> dict[str, float]:
    """What may be kept and compared with other days: ratios, no seconds."""
    return {figure.metric: figure.ratio for figure in figures if figure.ratio and not figure.problem}


def picture(figures: list[Figure]) -> str:
    """Every ratio as a dot with its interval, on a logarithmic axis; what is wanted as a tick."""
    drawn = [figure for figure in figures if figure.ratio > 0 and not figure.problem]
    numbers = [number for figure in drawn for number in (figure.ratio, figure.low, figure.high, _goal(figure)) if number > 0]
    low = math.floor(math.log10(min(numbers, default=0.1)))
    high = max(math.ceil(math.log10(max(numbers, default=10.0))), low + 1)
    height = _LINE * (len(drawn) + 2)

    def across(value: float) -> float:
        return _LEFT + (math.log10(value) - low) / (high - low) * (_WIDTH - _LEFT - 20)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="11">',
             f'<title>ratios of ours to others</title><rect width="{_WIDTH}" height="{height}" fill="#fff"/>']
    for power in range(low, high + 1):
        x = across(10.0 ** power)
        color = "#888" if power == 0 else "#ddd"
        parts.append(f'<line x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{height - _LINE}" stroke="{color}"/>'
                     f'<text x="{x:.1f}" y="{height - 4}" text-anchor="middle">{10.0 ** power:g}</text>')
    for number, figure in enumerate(drawn):
        parts += _drawn(figure, _LINE * (number + 1), across)
    return "\n".join(parts) + "\n</svg>\n"


def _drawn(figure: Figure, y: float, across) -> list[str]:
    color = {"met": "#1a7f37", "MISSED": "#b42318"}.get(figure.verdict, "#335")
    name = figure.metric if len(figure.metric) < 76 else figure.metric[:75] + "…"
    parts = [f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>']
    if figure.high > 0:
        parts.append(f'<line x1="{across(figure.low):.1f}" y1="{y}" x2="{across(figure.high):.1f}" y2="{y}" '
                     f'stroke="{color}" stroke-width="2"/>')
    if _goal(figure) > 0:
        x = across(_goal(figure))
        parts.append(f'<line x1="{x:.1f}" y1="{y - 6}" x2="{x:.1f}" y2="{y + 6}" stroke="#000"/>')
    parts.append(f'<circle cx="{across(figure.ratio):.1f}" cy="{y}" r="3.5" fill="{color}"/>')
    return parts


def _goal(figure: Figure) -> float:
    """The number in "<= 0.02 x"; 0: none."""
    for word in figure.goal.split():
        try:
            return float(word)
        except ValueError:
            continue
    return 0.0


def page(figures: list[Figure], machine: dict, shown: str) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("group", "what", "ours", "beside", "ratio", "goal", ""))
    facts = "; ".join(f"{html.escape(str(name))}: {html.escape(str(value))}" for name, value in machine.items())
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Dossier beside other engines</title>'
            f"<style>{_STYLE}</style></head><body>\n<h1>Dossier beside other engines</h1>\n<p>{facts}</p>\n"
            f"<p>Each ratio is ours by theirs, the median of rounds with the middle 95 % of its resamples. Seconds are of "
            f"this run alone.</p>\n{shown}\n<table><thead><tr>{head}</tr></thead><tbody>\n"
            + "\n".join(_row(figure) for figure in figures) + "\n</tbody></table>\n</body></html>\n")


def _row(figure: Figure) -> str:
    beside = html.escape(figure.peer)
    if figure.problem:
        beside = f'<span class="why">not measured: {html.escape(figure.problem)}</span>'
    off = sum(bool(kept["off"]) for kept in figure.rounds)
    rounds = f"<br><small>{len(figure.rounds)} rounds, {off} off</small>" if figure.rounds else ""
    cells = [html.escape(figure.group), html.escape(figure.what), html.escape(figure.ours), beside,
             html.escape(figure.ratio_text) + rounds, html.escape(figure.goal),
             f'<span class="{figure.verdict}">{figure.verdict}</span>']
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
