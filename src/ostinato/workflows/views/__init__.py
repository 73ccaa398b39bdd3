"""Build the views of workflows that users see, from rows that are already loaded."""
