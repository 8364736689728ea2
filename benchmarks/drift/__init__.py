"""TEPA's drift experiments: what a memory is worth after the world changed in secret.

One seed is a stream of 160 tasks, 40 in each of four phases. *stable*: one regime. *light*: the
same regime with exceptions, each task 10 % likely (*) to fall under the other regime. *reversal*:
the other regime. *return*: the first one again. Nothing that the agent sees tells the phases apart.

The agent is simulated, as in the paper, and this page holds every assumption. Those marked (*)
are ours where the paper is silent. Those marked (f) were fitted: the paper does not give them, and
they were chosen so that the success of no memory and of append-only in the reversal comes out as
published. That TEPA's .950 is two failures in 40 tasks decided that one key changes in the first
two settings, since each changing key pays for its own adaptation. Every other figure is left to
the mechanism, and the sweeps show what hangs on the assumptions.

Settings
    controlled: key = task type / domain, input type; value = a pattern of tools. A deterministic
        executor accepts one pattern. One key changes under reversal (f; `changing keys` in the
        results sweeps it) and has 8 patterns (f); two keys never change and make 20 % of the
        tasks (f).
    executable: the value is a backend (csv.DictReader with one of 4 delimiters and 2 encodings,
        or json.load). A task is to add up a column of a real file in a temporary folder; it
        succeeds if the backend, really run, gives the right sum. Under reversal the CSV files are
        written in another dialect, so another of the 8 backends is right (f); JSON, 20 % of the
        tasks (f), is the control.
    preference: key = preference slot / profile context, 7 of them (f), equally likely, one of
        which never changes (f); value = one of 5 options (*). The right answer is what the user
        wants in this session. In 80 % of the sessions the user says so, and it stands in the
        prompt of every method (f).

The agent
    - Without a memory of the key, and with nothing said, it picks a candidate at random, or on the
      controls of the first two settings the right one, which is the only natural one there (f).
    - With a memory it follows it, always: no exploration (*). It has one attempt per task, and
      with the right value the attempt succeeds.
    - What stands in its prompt votes: the statement of this session and each line of memory have
      one vote each. A tie goes to the statement of this session, then to the value with more
      support, then to the newest (*).
    - A log has one line per experience: append-only, the sliding window (n = 5; as many lines as
      the value has supports, at most n), and temporal decay, whose lines weigh 0.5 ** (age / 10
      tasks). All others show one line per Active precedent (*).
    - Keys are given, except under wrong-key noise: then, for the share of tasks stated, both
      retrieval and evidence of the task go to another key of the setting.

The evidence (the assumption on which most hangs; `evidence` in the results sweeps it)
    - After a failure the environment names what would have been accepted (the executor's log, the
      user's correction). The lifecycle policies take it as evidence of that value, one piece of
      evidence per task, as in the paper's rule for (k, v). The other memories store experiences
      that *succeeded*, as the paper has it for last-write-wins, and are told of the failure alone
      ("lifecycle", the default). It is the only reading that we found under which TEPA can
      do better than an oracle reset, as published.
    - "everyone": the other memories store corrections too. "nobody": there are no corrections,
      and each memory is told only whether its own action worked.
    - What the user said or corrected is testimony; what an executor accepted, or a session without
      a complaint, is inferred. Only gcmem's own policy tells them apart.

Methods: no memory; `PrecedentLedger("sqlite://", policy)` under append_only, last_write_wins,
sliding_window(5), reactive, oracle_reset (with `reset` at every change of phase), no_revocation,
tepa_rev, tepa_full and gcmem's default policy; and temporal decay, which has no policy of its own:
it reads the append-only ledger and weighs by age. TEPA-Full's trials really run: a support and a
counterfactual task of the candidate's key, drawn from the present phase (counterfactual: the
candidate succeeds where the incumbent, or with none the unaided agent, fails), and a contamination
task of another key, negative if retrieval shows the candidate there.

All methods meet the same tasks and the same luck. Adaptation: tasks of the phase until 4 of 5 in a
row succeed (the window's first task is counted; 40 if never). MPI = (S_NoMem - S) / S_NoMem.
Intervals: percentile bootstrap over seeds, 95 %. Tests: paired, by random signs, one-tailed,
Holm-Bonferroni over the tests of a setting.
"""

from __future__ import annotations

from benchmarks.drift.command import main

__all__ = ["main"]
