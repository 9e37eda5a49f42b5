-- compat.sql - the view that those for perf and for Perfetto are made of.

CREATE VIEW switch_out(id, capture, type, time_ns, cpu, thread, comm, state,
	prio) AS
-- What left a CPU, in time order: by the event sched_switch or, in a capture
-- without it, by records of switches. state: as ps shows it, 'R+' for one that
-- could have gone on; NULL: not known.
SELECT e.id, t.capture, e.type, e.time_ns, e.cpu, e.thread, e.comm, s.state,
	s.prio
FROM event e
JOIN event_type t ON t.id = e.type AND t.name LIKE '%sched:sched_switch'
LEFT JOIN switch_state s ON s.event = e.id
UNION ALL
SELECT e.id, t.capture, e.type, e.time_ns, e.cpu, e.thread, e.comm,
	CASE WHEN EXISTS (SELECT 1 FROM sample_extra y WHERE y.event = e.id
		AND y.name = 'preempt') THEN 'R+' END, NULL
FROM event e
JOIN event_type t ON t.id = e.type AND t.name = 'switch' AND t.kind = 'record'
JOIN sample_extra x ON x.event = e.id AND x.name = 'out' AND x.value
WHERE t.capture NOT IN (SELECT capture FROM event_type
	WHERE name LIKE '%sched:sched_switch');
