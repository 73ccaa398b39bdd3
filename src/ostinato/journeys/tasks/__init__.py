"""The task kinds, one module each; `standard` lists them."""
