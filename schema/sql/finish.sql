-- finish.sql - after the last row.
CREATE INDEX IF NOT EXISTS inline_of_frame ON inline_frame(frame, depth);
