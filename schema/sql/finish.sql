-- finish.sql - before the labels of folded stacks are made: after the last row,
-- and after each naming.
DELETE FROM internal_label;
CREATE INDEX IF NOT EXISTS inline_of_frame ON inline_frame(frame, depth);
