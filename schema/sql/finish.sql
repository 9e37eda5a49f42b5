-- finish.sql - the labels of folded stacks, made after the last row and after
-- each naming. They are stored because frame_label() and inline_label(), which
-- make them, are functions of the writing connection only.
DELETE FROM internal_label;
CREATE INDEX IF NOT EXISTS inline_of_frame ON inline_frame(frame, depth);
INSERT INTO internal_label
SELECT f.id, frame_label(s.name, i.path, i.kind)
	|| CASE WHEN f.id IN (SELECT frame FROM inline_frame) THEN (
		SELECT group_concat(';' || inline_label(x.name), '')
		FROM (SELECT name FROM inline_frame n WHERE n.frame = f.id
			ORDER BY n.depth DESC) x) ELSE '' END
FROM frame f
JOIN image i ON i.id = f.image
LEFT JOIN symbol s ON s.id = f.symbol;
