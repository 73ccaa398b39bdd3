"""Schedule turns of agents, and campaigns.

An agent's schedule is an ordinary schedule whose action begins a turn or a campaign.

- `definition.py` reads what users write.
- `operations.py` has the transactions.
- `api.py` is `app.agents.schedules(agent)`.
- `occurrence.py` has the durable function that is started at each due time.
- `tools.py` has the tools with which an agent creates schedules for its user.
"""
