"""Which server holds what: every bucket is cut into as many shards as there are servers.

Idea    Entries are dealt like cards. A bucket of b = q s + r entries gives each of s servers q
        consecutive ones and r of them one more; the next bucket goes on dealing where this one
        ended. So over any number of buckets, however small, no server holds more than one entry
        more than another.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Shard", "shards"]


@dataclass(frozen=True)
class Shard:
    """The part of a bucket that one server holds.

    Parameters
    ----------
    server : int
        Number of the server, from 0.
    rank : int
        Its rank; the servers are the last ranks.
    part : slice
        The entries, counted from the start of the bucket; never empty.
    """

    server: int
    rank: int
    part: slice


def shards(span: slice, servers: int, size: int) -> tuple[Shard, ...]:
    """Return the shards of the bucket that holds `span` of the flat vector, by server.

    They are cut as blocks of ceil(b/s), then of floor(b/s) entries, beginning at server
    span.start mod s; of b < s entries only b servers have one.

    Parameters
    ----------
    span : slice
        Where the bucket lies.
    servers : int
        Number s of servers, at least 1.
    size : int
        Number of ranks, at least s.
    """
    floor, longer = divmod(span.stop - span.start, servers)
    found = []
    for server in range(servers):
        block = (server - span.start) % servers
        start = block * floor + min(block, longer)
        part = slice(start, start + floor + (block < longer))
        if part.stop > part.start:
            found.append(Shard(server, size - servers + server, part))
    return tuple(found)
