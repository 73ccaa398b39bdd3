"""Build the views of workflows that users see. The views are built from data that is already loaded, without a
store."""
