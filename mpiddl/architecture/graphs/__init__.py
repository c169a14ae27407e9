"""Graphs for gossip, one a file: the text says the name, the file the mixing matrix W (n, n).

| text          | neighbours heard by a rank | weights          | n              | lam = |W - J|_2 |
|---------------|----------------------------|------------------|----------------|-----------------|
| `complete`    | all                        | 1/n              | any            | 0               |
| `ring`        | 2                          | 1/3              | any            | 1 - O(1/n^2)    |
| `path`        | 2, at the ends 1           | Metropolis (1/3) | any            | 1 - O(1/n^2)    |
| `torus`       | 4                          | 1/5              | prime: a ring  | 1 - O(1/n)      |
| `hypercube`   | m = log2 n                 | 1/(m+1)          | 2^m            | (m-1)/(m+1)     |
| `exponential` | m = ceil(log2 n), one way  | 1/(m+1)          | any            | <= (m-1)/(m+1)  |
| `star`        | all in the middle, else 1  | Metropolis (1/n) | any            | 1 - 1/n         |
| `DIR/FILE`    | what the file says         | Metropolis, or W | what fits      | < 1             |

Neighbours that coincide on few ranks count once. `theory.mixing` has the closed forms of lam.
"""
