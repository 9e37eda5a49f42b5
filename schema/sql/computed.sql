-- computed.sql - the tables that the program computes when a statement of `query`
-- reads them. They are not in the database, and views cannot use them. Times are
-- as in event; tid 0 is the idle thread of a CPU.

CREATE TABLE stay(
-- A time of a thread on a CPU, without a loss in between.
	tid INTEGER, comm TEXT,	-- the thread, and its last name
	cpu INTEGER,
	t0 INTEGER, t1 INTEGER,
	exact0 INTEGER, exact1 INTEGER, -- 1: a switch was recorded at that time
	state TEXT,		-- in which it left; NULL: no switch was
				-- recorded at the end
	event INTEGER		-- event.id of that switch
);

CREATE TABLE state_interval(
-- What a thread did; the intervals of a thread cover all times.
	tid INTEGER, comm TEXT,
	t0 INTEGER, t1 INTEGER,	-- NULL: it has no begin, or no end
	ns INTEGER,		-- its length; NULL without a begin or an end
	state TEXT,		-- run, ready, throttled, not run, blocked, off
				-- (blocked or ready), unborn, dead, unknown
	cpu INTEGER,		-- run: on which it ran; ready, throttled, not
				-- run: to which it came; otherwise NULL
	proof TEXT,		-- of the state: proved, proved with premise,
				-- consistent, unknown
	behind INTEGER,		-- ready: tid of who was on that CPU for most of
				-- the time
	wake INTEGER,		-- wake.id of what ended it
	event INTEGER,		-- event.id of the switch with which the wait
				-- began
	loss INTEGER,		-- loss.id of the first loss that hides more
	premise TEXT		-- ready: on what it rests that nothing held it:
				-- quota, affinity, real time; otherwise NULL
);

CREATE TABLE wake(
-- What ended a wait.
	id INTEGER,
	time_ns INTEGER,
	tid INTEGER, comm TEXT,	-- the thread that was woken
	by_tid INTEGER, by_comm TEXT, -- the thread that woke it; NULL: an
				-- interrupt, or an idle CPU
	current INTEGER,	-- tid of the thread that was on the CPU
	context TEXT,		-- task, softirq-inline, softirq, hardirq, nmi,
				-- signal, unknown
	what TEXT,		-- timer, irq:NAME, softirq:VECTOR,
				-- disk:MAJOR,MINOR; NULL: not known
	kind TEXT,		-- wake, fork, deduced (no record tells it, but
				-- who was on the CPU does)
	cpu INTEGER,
	t0 INTEGER, t1 INTEGER,	-- it was in between
	event INTEGER,		-- event.id of the record
	function TEXT,		-- of the waker
	proof TEXT		-- that it ended the wait
);

CREATE TABLE wait(
-- The time from one stay of a thread on a CPU to the next.
	id INTEGER,
	tid INTEGER, comm TEXT,
	t0 INTEGER, t1 INTEGER, ns INTEGER,
	state TEXT,		-- in which it left the CPU
	event INTEGER,		-- event.id of that switch
	function TEXT,		-- in which it waited
	cause TEXT,		-- what it waited for: futex, poll, read, ...
	blocked_ns INTEGER, ready_ns INTEGER, off_ns INTEGER, -- what is proved
				-- of the states in it
	unknown_ns INTEGER,	-- the rest
	wake INTEGER,		-- wake.id of what ended it; NULL: nothing is
				-- known
	proved_ns INTEGER,	-- how much of its chain is proved; this column
				-- and those below make the chain of the row,
				-- which takes time
	by_tid INTEGER, by_comm TEXT, by_state TEXT, by_ns INTEGER, -- whom and
				-- what the largest part is put down to
	throttled_ns INTEGER, not_run_ns INTEGER -- as ready_ns
);

CREATE TABLE blame(
-- What the waits of a thread are put down to, over all their chains.
	tid INTEGER, comm TEXT,	-- the thread that waited
	by_tid INTEGER, by_comm TEXT, -- for whom
	by_state TEXT,		-- what that one did: run, ready, throttled,
				-- not run, timer, hardirq, softirq, idle,
				-- signal, blocked, off, unborn, dead, unknown
	proof TEXT,
	ns INTEGER,
	waits INTEGER		-- in how many waits
);

CREATE TABLE interval(
-- The time between two events that belong together: a system call, an
-- interrupt, a request of a disk. Waits of threads are in wait, and the time
-- from a wake-up on in state_interval.
	id INTEGER,
	kind TEXT,		-- syscall, irq, softirq, ...: see
				-- backstitch-latency(1)
	name TEXT,		-- of the call, the device, the function
	key INTEGER,		-- first field that both events have in common;
				-- 0: none; NULL: a text
	thread INTEGER, tid INTEGER, comm TEXT, -- of the begin, or else of the
				-- end: thread.id, and its last name
	cpu INTEGER,		-- likewise
	t0 INTEGER, t1 INTEGER,	-- NULL: no record tells it
	ns INTEGER,		-- proved, consistent and ambiguous: from t0 to
				-- t1
	ret INTEGER,		-- what a system call returned
	event INTEGER, end_event INTEGER, -- event.id of both
	verdict TEXT,		-- proved, consistent, began before, unfinished,
				-- begin lost, end lost, unexplained, cancelled,
				-- ambiguous
	reason TEXT,		-- why it is not proved: loss, silent (records
				-- are missing without a loss), start, restart,
				-- cancel, exec, sigreturn, merged; NULL: none
	loss INTEGER,		-- loss.id of the first loss that hides more
	least_ns INTEGER,	-- how long it took at least,
	most_ns INTEGER,	-- and at most; NULL: any time
	premise TEXT		-- what a proved one rests on: idle, alone, not
				-- cancelled, started, probed, returned; NULL:
				-- on no more than all do
);

CREATE TABLE call(
-- The intervals of the kinds call, user-call, probe and slice: a function from its begin to its
-- end, or what a program marks, and which one it is inside of.
	id INTEGER,		-- interval.id
	kind TEXT,		-- call, user-call, probe, slice
	name TEXT,		-- of the function, or the slice
	thread INTEGER, tid INTEGER, comm TEXT, -- as in interval
	cpu INTEGER,
	t0 INTEGER, t1 INTEGER,	-- its records; without that of the begin, t0 is
				-- ns before t1; NULL: no time is known
	ns INTEGER,		-- that it took by the clock of the recorder;
				-- NULL: it has no end
	self_ns INTEGER,	-- of these, in no call inside of it; NULL: calls
				-- may be missing
	depth INTEGER,		-- 0: nothing that was traced called it; of a
				-- slice, as far as its begins are known
	parent INTEGER,		-- call.id of the one that it is inside of; NULL
				-- with a depth above 0: nothing proves which
	ret INTEGER,		-- what it returned, if that was recorded
	event INTEGER, end_event INTEGER, -- as in interval
	verdict TEXT,		-- as in interval
	reason TEXT,		-- why it is not proved, or has no event: loss,
				-- silent, start
	loss INTEGER		-- loss.id of the first loss that hides more
);

CREATE TABLE counter(
-- The values of counters that programs write to trace_marker: "C|PID|NAME|VALUE".
	time_ns INTEGER,
	pid INTEGER,		-- of the process that it is of
	name TEXT, value INTEGER,
	tid INTEGER, comm TEXT,	-- the thread that wrote it
	event INTEGER		-- event.id
);
