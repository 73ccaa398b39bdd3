"""Read the schedules that code, files and crontabs declare, and apply their differences from the stored ones."""
