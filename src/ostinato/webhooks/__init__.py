"""Webhooks send events to URLs: subscriptions, the dispatcher, the delivery, and the API for users."""

JOB = "webhook"  # the built-in job that delivers one event
