"""Figures, made in one run: `make bench`. Each bench prints its machine, its versions and its method."""
