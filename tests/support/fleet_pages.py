# SPDX-License-Identifier: Apache-2.0
"""Pages of /metrics of many nodes, made of two recorded pages of one: counters go on at the pace at which they went from the
first to the second, and each node has its own name and ranks."""

import re
import time

NODE, FIRST_RANK = "\x01", 2  # placeholders: the node, and rank 0 to 7
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$")


class Fleet:
    """`nodes` nodes like the one of the pages, which has `ranks` ranks. On the node in the middle, each sample whose name
    and labels have all of `slow` in them goes twice as fast."""

    def __init__(self, pages, seconds, nodes, ranks, slow):
        self._nodes, self._ranks, self.slow_node = nodes, ranks, nodes // 2
        self._begin = time.monotonic()
        self._bodies = {}  # whether it is the slow one -> (second, body)
        first, second = (dict(_samples(page)) for page in pages)
        counters = {name for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", pages[1], re.M)
                    if kind in ("counter", "histogram")}
        self._lines = []
        for key, value in second.items():
            family = re.sub(r"_(bucket|sum|count)$", "", key.split("{")[0])
            counts = key.split("{")[0] in counters or family in counters
            pace = (value - first.get(key, value)) / seconds if counts else 0
            self._lines.append((self._placed(key), value, pace, all(part in key for part in slow)))
        self.samples = len(self._lines)

    def page(self, node):
        second, is_slow = int(time.monotonic() - self._begin), node == self.slow_node
        known = self._bodies.get(is_slow)
        if known is None or known[0] != second:
            known = self._bodies[is_slow] = (second, self._body(second, is_slow).encode())
        body = known[1].replace(NODE.encode(), b"node-%d" % node)
        for rank in range(self._ranks):
            body = body.replace(bytes([FIRST_RANK + rank]), b"%d" % (node * self._ranks + rank))
        return body

    def targets(self, address):
        """For file_sd_configs: one server stands for all nodes."""
        return [{"targets": [address], "labels": {"__metrics_path__": "/%d" % node, "instance": "node-%d:9797" % node}}
                for node in range(self._nodes)]

    def _placed(self, key):
        key = re.sub(r'node="[^"]*"', 'node="%s"' % NODE, key)
        return re.sub(r'rank="(\d)"', lambda found: 'rank="%s"' % chr(FIRST_RANK + int(found.group(1))), key)

    def _body(self, second, is_slow):
        # Not rounded: sums and counts go on alike, so means are the same between any two scrapes.
        return "\n".join(["%s %r" % (key, value + pace * second * (2 if is_slow and slow else 1))
                          for key, value, pace, slow in self._lines]) + "\n"

    async def serve(self, reader, writer):
        """A connection of HTTP/1.1; the path is the number of the node."""
        try:
            while request := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                body = self.page(int(request.split()[1][1:]))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"
                             % len(body))
                writer.write(body)
                await writer.drain()
        except ConnectionError:  # Prometheus ends
            pass
        finally:
            writer.close()


def _samples(page):
    for line in page.splitlines():
        sample = _SAMPLE.match(line)
        if sample:
            yield sample.group(1) + (sample.group(2) or ""), float(sample.group(3))
