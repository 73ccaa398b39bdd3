"""Lay out graphs, and draw them and other pictures as SVG. The functions are pure."""
