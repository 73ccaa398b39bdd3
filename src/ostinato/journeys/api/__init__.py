"""The calls of `app.journeys`, and the values that they return."""
