-- event_type.sql - inserts an event type's row, or updates it.
INSERT INTO event_type(id, capture, name, kind, type, config, sample_type,
	period, freq, has_chain, has_cpu, has_time, defer, defer_output,
	format, buffer, how, unit)
VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
	?16, ?17, ?18)
ON CONFLICT(id) DO UPDATE SET name = ?3, config = ?6, sample_type = ?7,
	period = ?8, freq = ?9, has_chain = ?10, has_cpu = ?11,
	has_time = ?12, defer = ?13, defer_output = ?14, format = ?15, buffer = ?16,
	how = ?17, unit = ?18
