"""Read and write schedules in transactions. An operation is a generator that runs as one transaction (see
`store.contract`)."""
