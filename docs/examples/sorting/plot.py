# Draws working/metrics.json as bars, with the standard library alone: working/times.png.
import json
import struct
import zlib

WIDTH, HEIGHT, MARGIN = 640, 360, 30
COLOURS = [(51, 102, 170), (221, 119, 51), (68, 153, 102)]

metrics = json.load(open("working/metrics.json"))["metric_names"]
pixels = [[(255, 255, 255)] * WIDTH for _ in range(HEIGHT)]
values = [entry["value"] for metric in metrics for entry in metric["data"]]
groups = len(metrics[0]["data"])
bar = (WIDTH - 2 * MARGIN) // (groups * (len(metrics) + 1))
for m, metric in enumerate(metrics):
    for g, entry in enumerate(metric["data"]):
        left = MARGIN + bar * (g * (len(metrics) + 1) + m)
        top = HEIGHT - MARGIN - round((HEIGHT - 2 * MARGIN) * entry["value"] / max(values))
        for y in range(top, HEIGHT - MARGIN):
            pixels[y][left:left + bar - 1] = [COLOURS[m % len(COLOURS)]] * (bar - 1)
rows = b"".join(b"\0" + bytes(c for pixel in row for c in pixel) for row in pixels)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(
        ">I", zlib.crc32(kind + data))


with open("working/times.png", "wb") as out:
    out.write(b"\x89PNG\r\n\x1a\n")
    out.write(chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)))
    out.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
