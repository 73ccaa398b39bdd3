"""Provide `app.journeys`, the API of journeys."""
