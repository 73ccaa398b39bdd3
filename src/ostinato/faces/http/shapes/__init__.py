"""Define the request bodies and answers of the API as pydantic models."""
