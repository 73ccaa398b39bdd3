"""Operations: everything that reads and writes schedules in a transaction."""
