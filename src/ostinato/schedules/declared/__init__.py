"""Read the schedules that code, files and crontabs declare. Compare them with the stored schedules, and apply the
differences."""
