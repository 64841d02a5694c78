"""Faults of a network, drawn from a seed: limits with and without a word, servers that fail, answers that break."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from crawler.made.x import Reply


@dataclass
class Faults:
    """Spoils a share of the replies."""

    seed: int
    share: float
    kinds: tuple[str, ...] = ("limited", "silent", "failed", "cut", "garbled")
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, reply: Reply) -> tuple[Reply, int | None]:
        if self._random.random() >= self.share:
            return reply, None
        kind = self._random.choice(self.kinds)
        self.done[kind] += 1
        moment = {"Date": reply.headers["Date"]}
        match kind:
            case "limited":
                reset = {"x-rate-limit-reset": reply.headers.get("x-rate-limit-reset", "0")}
                return Reply(429, b'{"title": "Too Many Requests"}', moment | reset), None
            case "silent":
                return Reply(429, b"", moment), None
            case "failed":
                return Reply(503, b"<html>over capacity</html>", moment), None
            case "cut":
                return reply, len(reply.body) // 2
            case _:
                return Reply(200, reply.body[: len(reply.body) // 2], reply.headers), None
