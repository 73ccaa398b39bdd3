"""What goes over the wire, both ways: named, typed, with examples."""
