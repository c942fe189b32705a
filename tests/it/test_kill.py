"""Killed at random moments, the daemon loses nothing that was answered, and durable executions finish once."""

from killing import Kills


def test_killed_under_load_nothing_is_lost_or_done_twice(t):
    kills = Kills(t, seed=7)
    problems = kills.run(12)
    t.log.append(str(dict(kills.count)))
    t.equal(problems[:10], [], "problems")
    t.true(kills.count["durable"] >= 3 and kills.count["resumed"] >= 1, "too little happened: %s" % dict(kills.count))
