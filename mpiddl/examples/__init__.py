"""One page each: run them with ``python -m mpiddl.examples.NAME``; no options, real output."""
