"""`app.schedules`: the calls that users make."""
