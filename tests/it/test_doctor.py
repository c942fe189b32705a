"""`caisson doctor`: what holds on this machine, what does not, and what to do."""

WALLS = ("user-namespace", "mount-namespace", "pid-namespace", "network-namespace", "ipc-namespace", "uts-namespace", "cgroup-namespace", "seccomp",
         "no-new-privileges", "landlock", "memory-limit", "cpu-limit", "process-limit", "engine")


def walls(t):
    data = t.caisson("doctor", "-o", "json").json()
    rows = data["walls"]
    return {w["name"]: w for w in rows} if isinstance(rows, list) else rows


def test_doctor_names_every_wall(t):
    done = t.caisson("doctor")
    t.true(done.status in (0, 3), "status %d" % done.status)
    for wall in WALLS:
        t.has(done.out, wall, "doctor")


def test_doctor_speaks_json(t):
    rows = walls(t)
    for wall in WALLS:
        t.true(wall in rows, "no %s in %r" % (wall, sorted(rows)))
        t.true(isinstance(rows[wall]["holds"], bool), "%r" % rows[wall])
        if not rows[wall]["holds"]:
            t.true(rows[wall].get("remedy"), "%s does not hold, and nothing says what to do" % wall)


def test_doctor_tries_a_jailed_server(t):
    rows = walls(t)
    needed = [w for w in WALLS[:9] if w != "landlock"]
    data = t.caisson("doctor", "-o", "json").json()
    t.equal(data["jailed_servers"], all(rows[w]["holds"] for w in needed), "jailed_servers")
    t.matches(t.caisson("doctor").out, r"(there|absent) +jailed servers ", "doctor")


def test_the_status_of_doctor_follows_from_the_walls(t):
    rows = walls(t)
    all_required = all(w["holds"] for w in rows.values() if w.get("required", True))
    t.equal(t.caisson("doctor").status, 0 if all_required else 3, "status")


def test_doctor_says_how_limits_are_kept(t):
    rows = walls(t)
    for wall in ("memory-limit", "cpu-limit", "process-limit"):
        t.matches(str(rows[wall]), "control group|polling|watching|rlimit", wall)


def test_doctor_takes_no_argument(t):
    t.status(t.caisson("doctor", "what"), 2)
