"""Draw pictures as SVG: lay out the boxes of a graph, and draw shapes. The functions are pure."""
