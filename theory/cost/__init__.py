"""What one vector costs on its way: messages, bytes and time of every exchange, for any n and b.

Model   A message of m bytes takes al + be m; adding m bytes takes ga m. A rank sends one message
        and receives one at a time, both at once (full duplex). A step always sends its message,
        also when its block is empty.
Letters n ranks | b entries of the vector | w bytes per entry | m = b w | al seconds per message |
        be seconds per byte sent | ga seconds per byte added; more in sums.py and exchanges.py
Totals  Messages and bytes are sums over all ranks; time until the last rank is done. All are
        closed forms, but for the time of a double tree, and that of payloads of different
        lengths: those are recurrences, evaluated exactly.
Buckets A cost is that of one vector; several buckets add.
Files   forms.py letters and evaluation | sums.py all-reduces | double_tree.py the recurrence of
        one of them | exchanges.py all-gathers, barrier, gossip, parameter server
Source  Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
        MPICH", 2005; Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication: theory,
        practice, and experience", 2007; block sizes and folds are counted here.
"""

from __future__ import annotations

from theory.cost.double_tree import double_tree_time
from theory.cost.exchanges import (
    ALLGATHER,
    BARRIER,
    backup_workers,
    dynamic,
    eager,
    gathered,
    parameter_server,
    served,
)
from theory.cost.forms import Cost, Evaluated, ceil_log2, floor_log2, square_side
from theory.cost.neighbours import gossip, gossip_by, pairwise
from theory.cost.sums import ALLREDUCE, allreduce

__all__ = ["ALLGATHER", "ALLREDUCE", "BARRIER", "Cost", "Evaluated", "allreduce", "ceil_log2"]
__all__ += ["double_tree_time", "floor_log2", "gathered", "gossip", "gossip_by"]
__all__ += ["backup_workers", "dynamic", "eager", "pairwise", "parameter_server", "served"]
__all__ += ["square_side"]
