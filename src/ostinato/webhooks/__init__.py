"""Send events to the URLs of webhooks. Users subscribe a URL to events with `app.webhooks`. A dispatcher creates a
delivery for each matching event."""

JOB = "webhook"  # the built-in job that delivers one event
