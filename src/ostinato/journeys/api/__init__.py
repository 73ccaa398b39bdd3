"""Provide `app.journeys`, the API of journeys. Its calls are in `changes` and `queries`, and the values that they
return are in `views`."""
