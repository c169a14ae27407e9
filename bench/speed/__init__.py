"""`speed`: how fast it is, as ratios that one run measures, against limits.

    mpirun -np 4 python -m mpiddl.bench speed

What is compared takes turns, so that other load on the machine meets both; shown are the median
and the middle half of the repetitions. Because such a machine is never quiet, all is measured up
to three times while a limit is exceeded, and the best counts.

Reading order: measure.py, collectives.py, simulator.py, command.py.
"""
