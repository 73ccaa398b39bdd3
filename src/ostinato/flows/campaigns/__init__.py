"""Send campaigns. In a campaign, an agent begins one turn with each user of a segment.

The API is `app.agents.campaigns(agent)` (`api.py`). A campaign is a run of the durable function `agent-campaign`
(`run.py`). The run stores the audience (`audience.py`), begins turns (`sends.py`) and collects their outcomes
(`outcomes.py`). `skips.py` decides which recipients get no message, and why. `changes.py` begins, pauses, stops and
ends campaigns. `definition.py` and `options.py` check the arguments of callers. `agent_settings.py` checks the setting
`campaigns` of an agent.

All of a campaign's state is in its row and in the rows of its recipients. So every transaction can be repeated after a
crash. A transaction locks the campaign first, then users in the order of their ids, and then runs.
"""
