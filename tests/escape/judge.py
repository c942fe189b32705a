"""What an answer is worth: did the case run, did anything leak, does the error type fit."""

import json

# Our error types, and the limit where there is one, in the words of the manifest. A program that asks for
# a module it may not have is refused in one of two ways, by what it asked for; both are `module` there.
ERROR_TYPES = {
    ("syntax_error", None): "syntax",
    ("type_error", None): "runtime",
    ("runtime_error", None): "runtime",
    ("runtime_error", "signal"): "killed",
    ("timeout_error", None): "timeout",
    ("timeout_error", "wall_clock"): "timeout",
    ("timeout_error", "cpu"): "timeout",
    ("resource_error", "wall_clock"): "timeout",
    ("resource_error", "cpu"): "timeout",
    ("resource_error", "memory"): "memory",
    ("resource_error", "stack"): "runtime",
    ("resource_error", "output"): "output_limit",
    ("resource_error", "log_lines"): "output_limit",
    ("resource_error", "result"): "output_limit",
    ("resource_error", "json_depth"): "serialization",
    ("resource_error", "processes"): "process_limit",
    ("resource_error", "open_files"): "fd_limit",
    ("resource_error", "scratch_bytes"): "disk_limit",
    ("resource_error", "scratch_files"): "disk_limit",
    ("resource_error", "tool_calls"): "tool_limit",
    ("resource_error", "arguments"): "tool_limit",
    ("resource_error", "call_result"): "tool_limit",
    ("resource_error", "calls_at_once"): "tool_limit",
    ("resource_error", "tool"): "tool_limit",
    ("permission_error", None): "permission",
    ("permission_error", "import"): "module",
    ("permission_error", "protocol"): "protocol",
    ("permission_error", "tool"): "tool_denied",
    ("permission_error", "approval"): "approval_required",
    ("validation_error", None): "validation",
    ("validation_error", "result"): "serialization",
    ("upstream_error", None): "runtime",
}

LIMITS = {"timeout", "memory", "output_limit", "process_limit", "fd_limit", "disk_limit", "tool_limit"}
ENVELOPE_KEYS = {"id", "status", "execution_id", "session_id", "result", "logs", "stdout", "stderr",
                 "exit_status", "exit_signal", "calls", "artifacts", "error", "metrics", "risk", "privacy",
                 "provenance", "language", "limits", "output_bytes_cut"}


def error_type(envelope):
    """The manifest's word for the error, None if there is none, or the raw pair if the table lacks it."""
    error = envelope.get("error")
    if not error:
        return None
    kind, detail = error.get("type"), (error.get("limit") or {}).get("name")
    message = str(error.get("message", "")).lower()
    if detail is None and is_of_tool(error) and kind in ("permission_error", "resource_error"):
        detail = "approval" if kind == "permission_error" and "approv" in message else "tool"
    if detail is None and kind == "permission_error" and ("import" in message or "module" in message):
        detail = "import"
    if kind == "validation_error" and "half characters" in str(error.get("suggestion")):
        detail = "result"
    if detail is None and kind == "validation_error" and "result" in message:
        detail = "result"
    if detail is None and (error.get("name") == "WorkerKilled" or "was ended by signal" in message):
        detail = "signal"
    if detail is None and error.get("name") == "ProtocolError":
        detail = "protocol"
    return ERROR_TYPES.get((kind, detail), "%s/%s" % (kind, detail))


def is_of_tool(error):
    """Did a tool call raise it? Then the program ran that far."""
    return error.get("name") == "ToolError"


def ending(envelope):
    """How it ended, in a line."""
    error = envelope.get("error")
    if error:
        return "%s: %.200s" % (error_type(envelope), error.get("message"))
    if envelope.get("language") in ("python", "bash"):
        return "%s, printed %.200r" % (envelope.get("status"), envelope.get("stdout"))
    return "%s, returned %.200s" % (envelope.get("status"), json.dumps(envelope.get("result")))


def strings(value):
    """Every text in the answer, keys included: escapes in the JSON must not hide anything."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)


def leaks(expect, line, envelope, more=()):
    """Forbidden texts that the caller was given."""
    texts = [line.decode("utf-8", "replace"), *strings(envelope), *more]
    return sorted({bad for bad in expect.get("must_not_contain", ()) if any(bad in t for t in texts)})


def did_run(case, envelope):
    """None if the program demonstrably ran (or was refused as the case wants), else what is odd.

    A case passes by what it tried and was denied, never by not having started.
    """
    status, kind = envelope.get("status"), error_type(envelope)
    expect = case["expect"]
    if status not in ("completed", "failed", "denied"):
        return "status %r: %s" % (status, str(envelope)[:300])
    metrics = envelope.get("metrics") or {}
    if not isinstance(metrics.get("execution_time_ms"), (int, float)):
        return "the answer has no metrics.execution_time_ms"
    if kind in ("syntax", "module", "permission") and kind in expect["error_types"]:
        # Refused before it ran: only by its text, and then the position says so.
        if case["language"] == "typescript" and not envelope["error"].get("line"):
            return "refused without a position: %s" % envelope["error"].get("message")
        return None
    if kind in LIMITS and expect["outcome"] != "limited" and kind not in expect["error_types"]:
        return "was stopped by a limit (%s) before it had tried everything" % kind
    if kind in ("syntax", "validation") and not is_of_tool(envelope["error"]):
        return "never started: %s" % envelope["error"].get("message")
    if case["language"] == "typescript":
        if status == "completed" and envelope.get("result") is None and not envelope.get("logs"):
            return "completed without a result or a log line"
        return None
    return guest_did_run(expect, status, kind, envelope)


def guest_did_run(expect, status, kind, envelope):
    exit_status = envelope.get("exit_status")
    if status == "completed":
        if exit_status != 0:
            return "completed, but exit_status is %r" % (exit_status,)
        if not str(envelope.get("stdout", "")).strip():
            return "completed, but printed nothing"
        return None
    if kind in ("runtime", "permission") and expect["outcome"] != "limited":
        # These scripts end with status 0 on every path; an exception is a broken case, not a wall.
        return "the script itself failed (exit status %r): %s" % (
            exit_status, (envelope.get("stderr") or envelope["error"].get("message", ""))[-300:])
    return None


def result_is_data(envelope):
    """A returned object that looks like an envelope stays inside `result`."""
    odd = set(envelope) - ENVELOPE_KEYS
    if odd:
        return "unexpected keys in the envelope: %s" % ", ".join(sorted(odd))
    if envelope.get("status") != "completed":
        return "status is %r" % envelope.get("status")
    if not isinstance(envelope.get("result"), dict):
        return "the result is not the object that was returned"
    if str(envelope.get("session_id")) == "other" or (envelope.get("error") or None) is not None:
        return "the returned object changed the envelope"
    return None


def too_large(line, envelope, limit):
    """Sizes of what was given back, against the limits on output and result."""
    result = len(json.dumps(envelope.get("result"), ensure_ascii=False).encode("utf-8", "replace"))
    output = sum(len(str(l.get("text", "")).encode("utf-8", "replace")) for l in envelope.get("logs") or ())
    output += sum(len(str(envelope.get(k, "")).encode("utf-8", "replace")) for k in ("stdout", "stderr"))
    error = len(json.dumps(envelope.get("error")))
    slack = 4096
    for name, size, most in (("result", result, limit + slack), ("output", output, limit + slack),
                             ("error", error, limit // 4), ("answer", len(line), 3 * limit)):
        if size > most:
            return "%s is %d bytes, more than %d" % (name, size, most)
    return None
