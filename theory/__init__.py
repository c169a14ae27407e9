"""What convergence theory says about distributed SGD, as data that a program can check.

Reading order: `symbols` (the alphabet), `statement` and `theorem` (what a theorem is), `catalogue`
(the theorems), then how they are verified: `forms`, `axioms`, `derivation`, `moves`, `lemmas` (the
proof), `positivity` and `algebra` (signs and zeros), `tuning`, `limits`, `mutants`, and `check`,
which asks for all of it. How runs are held against them: `testbed`, `trials`, `recursions`,
`moments`, `measured`, `descents`, `stages`, `slopes`, `worst_cases`, and `report`. What messages
cost: `cost`, `wire`; how graphs mix and what compressors keep: `mixing`, `compressors`.
"""

__mpiddl__ = True  # another package may be called theory: this one belongs to mpiddl
