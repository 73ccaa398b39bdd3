"""Send events to URLs. Users subscribe URLs with `app.webhooks`. A dispatcher creates deliveries of matching events."""

JOB = "webhook"  # the built-in job that delivers one event
