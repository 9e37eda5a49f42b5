-- queries_weight.sql - the queries of expressions on samples: see
-- analyze/samples/weight.c. They can use the columns of weight_rows and the fields of
-- the event.

-- name: weight_rows
-- fields, ev_table and of_type are empty, empty and 1 if no field is used
-- columns: type comm cpu kraw uraw verdict flags weight time key
SELECT "#type", "#comm", "#cpu", "#kraw", "#uraw", "#verdict", "#flags",
	({expression}
	) AS weight, "#time", ({key}) AS "#key"
FROM (SELECT e.type AS "#type", e.comm AS "#comm", e.cpu AS "#cpu",
	e.kraw AS "#kraw", coalesce(r.uraw, e.uraw) AS "#uraw",
	r.verdict AS "#verdict", r.flags AS "#flags", e.time_ns AS "#time",
	e.id AS event_id, e.time_ns AS time_ns, e.cpu AS cpu, p.pid AS pid,
	h.tid AS tid, c.name AS comm, t.name AS event, e.weight AS weight,
	w.name AS verdict, r.latency_ns AS latency_ns,
	g.cgroup AS cgroup {fields}
	FROM event e
	JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
	LEFT JOIN thread h ON h.id = e.thread
	LEFT JOIN process p ON p.id = h.process
	LEFT JOIN comm c ON c.id = e.comm
	LEFT JOIN request r ON r.event = e.id
	LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
	{ev_table}
	LEFT JOIN ({event_cgroup}) g ON g.event_id = e.id
	WHERE {of_type} AND {wanted})
WHERE ({condition}
)

-- name: weight_ev_table
LEFT JOIN "{name}" f ON f.event_id = e.id

-- name: weight_of_type
t.fields = (SELECT fields FROM event_type WHERE id = {type})

-- name: weight_tables
SELECT min(id) AS id, min(name) AS name, fields FROM event_type
WHERE kind = 'sample' AND events > 0 AND fields NOT NULL
GROUP BY fields ORDER BY sum(events) DESC, fields

-- name: weight_columns
SELECT name FROM pragma_table_info(?1) WHERE name <> 'event_id'
