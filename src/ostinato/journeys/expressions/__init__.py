"""The expression languages of journeys, and the worker processes that evaluate them."""
