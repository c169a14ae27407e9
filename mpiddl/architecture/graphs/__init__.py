"""Graphs for gossip, one a file: the text says the name, the file the mixing matrix W (n, n).

| text                   | heard by a rank       | weights          | n         | lam = |W - J|_2 |
|------------------------|-----------------------|------------------|-----------|-----------------|
| `complete`             | all                   | 1/n              | any       | 0               |
| `ring`                 | 2                     | 1/3              | any       | 1 - O(1/n^2)    |
| `path`                 | 2, at the ends 1      | Metropolis (1/3) | any       | 1 - O(1/n^2)    |
| `torus`                | 4                     | 1/5              | any [1]   | 1 - O(1/n)      |
| `hypercube`            | m = log2 n            | 1/(m+1)          | 2^m       | (m-1)/(m+1)     |
| `star`                 | all at rank 0, else 1 | Metropolis (1/n) | any       | 1 - 1/n         |
| `two_level:G`          | G + 1                 | Metropolis       | any [2]   | 1 - O(G/n^2)    |
| `random_regular:D`     | D                     | 1/(D+1)          | n D even  | [3]             |
| `erdos_renyi:P`        | about P n             | Metropolis       | any [4]   | < 1             |
| `exponential`          | m rounded up, one way | 1/(m+1)          | any       | <= (m-1)/(m+1)  |
| `one_peer_exponential` | 1 a clock, one way    | 1/2              | any       | 0 a turn [5]    |
| `directed_random:P`    | about P n, one way    | shares [6]       | any       | -               |
| `DIR/FILE`             | what the file says    | Metropolis, or W | what fits | < 1             |

[1] the ring for a prime n   [2] the last node may be smaller, G = 1 is the ring   [3] nearly
(1 + 2 sqrt(D-1)) / (1 + D)   [4] refused where so few links do not connect all   [5] if n = 2^m, a
turn of m clocks   [6] columns add up to 1, rows do not: for push_sum

Graphs that are drawn have a seed: `random_regular:4,seed=1`, and in the text of an architecture,
whose own options are told apart by commas, `gossip:random_regular:4;seed=1`. Neighbours that
coincide on few ranks count once. An architecture's `weights=` puts other weights on the links
(topology.py). `theory.mixing` has closed forms of lam.
"""
