"""`app.journeys`: the calls that users make, and the values they return."""
