"""bench: where a bound meets a curve.

It runs the claims of `theory` with `mpiddl`, on any MPI, and says which hold. Start it with
`mpirun -np 32 python -m mpiddl.bench`; rank 0 alone imports what draws and derives.
"""
