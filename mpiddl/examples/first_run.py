"""Train the same model four ways and see what each costs; one process, virtual 10 GbE.

python -m mpiddl.examples.first_run
"""

from __future__ import annotations

import mpiddl

LINES = (
    "bsp / allreduce / identity / whole / sgd:0.5",
    "local:4 / allreduce / identity / whole / sgd:0.5",
    "bsp / allreduce / ef+topk:0.1 / whole / sgd:0.5",
    "bsp / gossip:ring / identity / whole / sgd:0.5",
)


def main() -> None:
    """Print one line per variant: loss, bytes sent by all ranks, virtual seconds."""
    network = mpiddl.Network(alpha=20e-6, beta=0.8e-9)  # seconds a message, seconds a byte
    print(f"{'loss':>9} {'bytes':>9} {'seconds':>9}   variant")
    for line in LINES:
        variant = mpiddl.Variant.parse(line)
        problem = mpiddl.problem("breast_cancer", workers=8, seed=0)
        clocks = 200 // variant.sync.period  # the same number of gradients for all
        curve = mpiddl.simulate(mpiddl.Run(variant, problem, clocks), network)[0].curve
        assert curve is not None  # rank 0 has it
        last = {name: curve[name][-1] for name in ("loss", "bytes", "seconds")}
        print(f"{last['loss']:9.5f} {last['bytes']:9.0f} {last['seconds']:9.5f}   {line}")


if __name__ == "__main__":
    main()
