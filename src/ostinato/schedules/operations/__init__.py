"""Read and write schedules. An operation is a generator that runs as one transaction (see `store.contract`)."""
