#!/usr/bin/env python3
"""10,000 chat completions, 64 in flight, by a client of Python; CPU seconds of one.

usage: model_peers.py httpx|aiohttp URL      (run by the interpreter of the private environment)

Prints one line of JSON, as dossier_bench does.
"""

import asyncio
import json
import os
import statistics
import sys

REQUESTS, IN_FLIGHT, ROUNDS = 10_000, 64, 3
BODY = {"model": "instant", "messages": [{"role": "user", "content": "x" * 500}], "max_tokens": 10}


async def all_requests(send) -> None:
    """So many workers as may be in flight; each takes the next request."""
    left = REQUESTS

    async def worker() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            assert (await send())["choices"][0]["message"]["content"] == "yes"

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


async def by_httpx(url: str) -> None:
    import httpx
    limits = httpx.Limits(max_connections=IN_FLIGHT, max_keepalive_connections=IN_FLIGHT)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:
        async def send():
            return (await client.post(url, json=BODY)).json()
        await all_requests(send)


async def by_aiohttp(url: str) -> None:
    import aiohttp
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        async def send():
            async with session.post(url, json=BODY) as reply:
                return await reply.json()
        await all_requests(send)


def main() -> None:
    name, url = sys.argv[1:]
    run = {"httpx": by_httpx, "aiohttp": by_aiohttp}[name]
    times = []
    for _ in range(ROUNDS):
        before = sum(os.times()[:2])
        asyncio.run(run(url))
        times.append((sum(os.times()[:2]) - before) / REQUESTS)
    print(json.dumps({"name": f"peer.{name}", "median": statistics.median(times),
                      "min": min(times), "runs": ROUNDS}))


if __name__ == "__main__":
    main()
