"""What runs inside a worker process. Nothing here may import anything of ours but `frames` and `codes`."""
